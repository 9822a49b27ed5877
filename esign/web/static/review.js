// The review of a draft: the email of another recipient is shown in place, without loading the page again.
import { t } from "./words.js";

const choice = document.querySelector("#reader"), letter = document.querySelector("#letter");

choice?.addEventListener("change", () => {
  const { value, dataset } = choice.selectedOptions[0];
  letter.src = `${choice.dataset.at}${value}`;
  letter.title = t("letter", { name: dataset.name });
  document.querySelector("#mail-to").textContent = dataset.to;
  document.querySelector("#mail-subject").textContent = dataset.subject;
});
