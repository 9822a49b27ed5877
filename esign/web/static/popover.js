// Menus where the browser knows no popovers, as phones before 2023 do not: the same methods and the same event.

import { $, $$ } from "./dom.js";

const tell = (menu, newState) => menu.dispatchEvent(Object.assign(new Event("toggle"), { newState }));
const show = (menu) => { menu.classList.add("shown"); tell(menu, "open"); };
const hide = (menu) => { if (menu.classList.contains("shown")) { menu.classList.remove("shown"); tell(menu, "closed"); } };

for (const menu of $$("[popover]")) menu.hidePopover = () => hide(menu);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[popovertarget]"), shown = $$("[popover].shown");
  if (button) {
    event.preventDefault();
    const menu = $(`#${button.getAttribute("popovertarget")}`);
    if (!shown.includes(menu)) show(menu);
    shown.forEach(hide);
  } else shown.filter((menu) => !menu.contains(event.target)).forEach(hide);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of $$("[popover].shown")) { hide(menu); $(`[popovertarget="${menu.id}"]`)?.focus(); }
});
