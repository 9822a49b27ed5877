// The form of a template: rows come, go and move without a new page. Nothing is sent before somebody saves.
import * as rows from "./recipients.js";

const form = document.querySelector("#template");
const SENT = new Set(["save", "fields"]);
let unsaved = false;

const changed = () => {
  unsaved = true;
};
rows.begin(changed);
form.addEventListener("input", changed);
form.addEventListener("submit", (event) => {
  const act = event.submitter?.value ?? "save";
  if (SENT.has(act)) {
    unsaved = false;
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  rows.act(act);
});
addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault();
});
