// Small things that every part of the editor uses.

import { write } from "../numbers.js";
import { t } from "../words.js";

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
export const body = document.body;

export const clamp = (n, least, most) => Math.min(Math.max(n, least), most);
/** Percent as they are stored: two decimals. */
export const r2 = (n) => Math.round(n * 100) / 100;
/** The same as people read it. */
export const short = (n) => write(n, 1);

/** An element: members that are no attributes are set as properties, `on` are listeners. */
export function h(tag, members = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "on") for (const [type, act] of Object.entries(value)) made.addEventListener(type, act);
    else if (name in made && !name.startsWith("aria") && name !== "list") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
const SHARED = new Set(["copy", "trash", "ok", "warn", "info"]);
export function icon(name, more = "") {
  const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", `i ${more}`);
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `${SHARED.has(name) ? body.dataset.icons : body.dataset.drawings}#${name}`);
  svg.append(use);
  return svg;
}

let spoken = 0;
/** Tells those who cannot see it. */
export function say(text) {
  clearTimeout(spoken);
  $("#say").textContent = "";
  spoken = setTimeout(() => { $("#say").textContent = text; }, 40);
}

/** What was just done, for a while, with a way back. */
export function toast(text, undo) {
  for (const old of $$(".toast")) old.remove();
  const made = h("div", { class: "toast" }, h("span", {}, text));
  if (undo) made.append(h("button", { type: "button", on: { click: () => { made.remove(); undo(); } } }, t("editor_undo")));
  $(".toasts").append(made);
  setTimeout(() => made.remove(), undo ? 9000 : 5000);
}

/** Opens a dialog; what is asked of its buttons is in their `value`, "" where it was closed otherwise. */
export function ask(box) {
  box.returnValue = "";
  delete $("form", box).dataset.sent; // other forms are sent once
  box.showModal();
  return new Promise((answer) => { box.addEventListener("close", () => answer(box.returnValue), { once: true }); });
}
