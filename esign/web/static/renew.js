// Asking for a new link: the button of the page only opens the question, so that no machine asks by pressing it.

import { $, $$, open, post, reload, t, tell } from "./dom.js";

const box = $("#renew"), error = $("#renew-error");

$("[data-action='renew']").addEventListener("click", () => open(box));
for (const button of $$("[data-close]", box)) button.addEventListener("click", () => box.close());
box.addEventListener("click", ({ target }) => { if (target === box) box.close(); });

$("#renew-done").addEventListener("click", async ({ currentTarget: button }) => {
  if (button.ariaBusy === "true") return;
  const before = button.textContent;
  button.ariaBusy = "true"; button.disabled = true; button.textContent = t("asking");
  tell(error);
  const answer = await post("renewal", {});
  if (answer.ok || answer.stale) return reload();
  button.ariaBusy = null; button.disabled = false; button.textContent = before;
  tell(error, answer.message);
  button.focus();
});
