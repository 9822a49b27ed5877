// Comfort in the list of documents: how many are ticked, ticking a range, a key for the search.
import { t } from "./words.js";

const search = document.querySelector("[data-slash]");
document.addEventListener("keydown", (event) => {
  const writing = event.target.closest?.("input:not([type=checkbox]), textarea, select");
  const off = document.documentElement.dataset.keys === "off";
  if (event.key === "/" && search && !writing && !off && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
document.querySelector("[data-go]")?.addEventListener("change", (event) => event.target.form.requestSubmit());

const form = document.querySelector(".picked");
if (form) {
  const boxes = [...form.querySelectorAll("tbody .ck input")];
  const all = form.querySelector("[data-all]");
  const whole = form.querySelector("[data-whole]");
  const every = whole?.querySelector("input");
  const words = new Map([...form.querySelectorAll("[data-deed]")].map((b) => [b, b.querySelector("span").textContent]));
  let last = null;
  all.hidden = false;

  function show() {
    const ticked = boxes.filter((box) => box.checked);
    all.checked = ticked.length === boxes.length;
    if (whole) {
      whole.hidden = !all.checked; // it is offered once everything on this page is selected
      every.checked &&= all.checked;
    }
    form.querySelector("[data-count]").textContent = every?.checked ? "" : t("selected", { n: ticked.length });
    all.indeterminate = ticked.length > 0 && !all.checked;
    for (const [button, word] of words) {
      const able = ticked.filter((box) => box.dataset.can.split(" ").includes(button.dataset.deed)).length;
      button.hidden = able === 0 && !every?.checked;
      button.querySelector("span").textContent = able < ticked.length && !every?.checked ? t(`some_${button.dataset.deed}`, { n: able }) : word;
    }
  }

  form.addEventListener("click", (event) => {
    const at = boxes.indexOf(event.target);
    if (at < 0) return;
    if (event.shiftKey && last !== null) {
      const [from, to] = [at, last].sort((one, other) => one - other);
      for (const box of boxes.slice(from, to + 1)) box.checked = event.target.checked;
    }
    last = at;
    show();
  });
  form.addEventListener("change", (event) => {
    if (event.target === all) for (const box of boxes) box.checked = all.checked;
    show();
  });
  form.addEventListener("reset", () => {
    last = null;
    setTimeout(() => {
      show();
      all.focus();
    });
  });
  show();
}
