// What the manual gains with scripts: buttons that copy, `/` for the search, and the chosen page within the contents.

import { t } from "./words.js";

for (const code of navigator.clipboard ? document.querySelectorAll(".prose .code") : []) { // there is none without TLS
  const block = Object.assign(document.createElement("div"), { className: "code-block" });
  const button = Object.assign(document.createElement("button"), { className: "btn sm copy", type: "button", textContent: t("copy") });
  button.lang = document.documentElement.lang;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = t("copied");
    setTimeout(() => { button.textContent = t("copy"); }, 2000);
  });
  code.replaceWith(block);
  block.append(button, code);
}

let single = true; // whether single keys do anything, as chosen in the office (WCAG 2.1.4)
try {
  single = !localStorage.getItem("esign-single-keys");
} catch { /* the browser keeps nothing for this page */ }
document.addEventListener("keydown", (event) => {
  if (!single || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
  event.preventDefault();
  const find = document.getElementById("find");
  find.focus();
  find.select();
});

document.querySelector(".wide-nav [aria-current]")?.scrollIntoView({ block: "nearest" });
