// The command palette (Ctrl or Cmd K), the keyboard shortcuts of the page (?), and whether single keys do anything.
import { fill } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const root = document.documentElement, box = $("#commands"), keys = $("#keys"), input = $("#commands-q"), list = $("#commands-list");
const { icons } = box.dataset, words = JSON.parse(box.dataset.words);
const QUIET = 120; // ms without a key before the server is asked
const OFF = "esign-single-keys"; // where this browser keeps that they are off

let options = [], at = -1, timer = 0, asking = null, hasty = false, first = null;

function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children.filter(Boolean));
  return made;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), use = document.createElementNS(svg.namespaceURI, "use");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `${icons}#${name}`);
  svg.append(use);
  return svg;
}

// ---------- what is shown

/** The line below a title: `Waiting · Ada Lovelace, Bo Weber and 2 others`. */
const under = ({ sub, people }) => h("span", { class: "cmd-sub" }, h("bdi", {}, sub), people ? " · " : "", people ? h("bdi", {}, people) : "");

function option(item, n) {
  const words = h("span", { class: "cmd-words" }, h("span", { class: "cmd-title", dir: "auto" }, item.title), under(item));
  const made = h(item.form || item.to === "#keys" ? "div" : "a", {
    class: "cmd-option", role: "option", id: `command-${n}`, "aria-selected": "false", tabindex: "-1", href: item.form || item.to === "#keys" ? undefined : item.to,
  }, icon(item.icon), words);
  made.addEventListener("click", (event) => act(item, event));
  made.addEventListener("pointermove", () => mark(n, false));
  return made;
}

function show({ groups }) {
  let n = 0;
  options = [];
  list.replaceChildren(...groups.map(({ name, items }, g) => {
    const made = items.map((item) => option(item, n++));
    options.push(...made);
    return h("div", { role: "group", "aria-labelledby": `commands-${g}` }, h("p", { class: "cmd-group", id: `commands-${g}`, role: "presentation" }, name), ...made);
  }));
  list.scrollTop = 0;
  tell(n ? "" : fill(words.none, { q: input.value.trim() }));
  $("#commands-say").textContent = n ? fill(words.found, { n }) : "";
  mark(n ? 0 : -1);
}

function mark(next, scroll = true) {
  if (next === at && options[at]?.ariaSelected === "true") return;
  options[at]?.setAttribute("aria-selected", "false");
  at = next;
  if (at < 0) return input.removeAttribute("aria-activedescendant");
  options[at].setAttribute("aria-selected", "true");
  input.setAttribute("aria-activedescendant", options[at].id);
  if (scroll) options[at].scrollIntoView({ block: "nearest" });
}

function tell(text) {
  const line = $("#commands-none");
  line.hidden = !text;
  line.textContent = text;
}

function fail(text) {
  [options, at, hasty] = [[], -1, false];
  list.replaceChildren();
  input.removeAttribute("aria-activedescendant");
  $("#commands-say").textContent = text;
  tell(text);
}

// ---------- asking

/** Asks for what was typed. An older question is given up: its answer would come too late. */
async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController()), q = input.value.trim();
  try {
    const answer = await fetch(`/palette?${new URLSearchParams({ q })}`, { headers: { Accept: "application/json" }, redirect: "manual", cache: "no-store", signal: mine.signal });
    if (answer.type === "opaqueredirect") return fail(words.out);
    const found = answer.ok ? await answer.json() : null;
    if (mine !== asking) return;
    asking = null;
    if (!found) return fail(words.lost);
    if (!q) first = found;
    show(found);
    if (hasty) options[at]?.click();
    hasty = false;
  } catch (error) {
    if (error.name !== "AbortError") fail(words.lost);
  } finally {
    if (mine === asking) asking = null;
  }
}

/** Forgets what was typed, and the answer that is on its way. */
function forget() {
  clearTimeout(timer);
  asking?.abort();
  [asking, hasty] = [null, false];
  input.value = "";
}

function open() {
  if ($("dialog[open]")) return;
  forget();
  if (first) show(first); // what was shown the last time, until it is asked for anew
  box.showModal();
  input.focus();
  ask();
}

// ---------- what people do

function act(item, event) {
  if (item.to === "#keys") {
    box.close();
    return keys.showModal();
  }
  if (!item.form) return event.ctrlKey || event.metaKey || event.shiftKey ? undefined : box.close(); // the link leads there
  const form = $("#commands-post");
  form.action = item.to;
  for (const [name, value] of Object.entries(item.form)) form.append(h("input", { type: "hidden", name, value }));
  form.requestSubmit();
}

input.addEventListener("input", () => {
  clearTimeout(timer);
  asking?.abort();
  asking = new AbortController(); // from now on an answer is awaited
  timer = setTimeout(ask, QUIET);
});
input.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && options.length) mark((at + step + options.length) % options.length);
  else if (event.key === "Enter" && asking) hasty = true; // the answer is on its way: its first result is meant
  else if (event.key === "Enter") options[at]?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
  else return;
  event.preventDefault();
});
box.addEventListener("close", () => {
  if (!box.open) forget(); // the event comes late: the palette may be open again, with the first letters in it
});

for (const dialog of [box, keys]) {
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) dialog.close(); // beside it, or its cross
  });
}
document.addEventListener("click", ({ target }) => {
  if (target.closest?.("[data-commands]")) open();
  if (target.closest?.("[data-keys]")) {
    box.close();
    keys.showModal();
  }
});

const single = () => root.dataset.keys !== "off";
const typing = ({ target }) => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
document.addEventListener("keydown", (event) => {
  const ctrl = event.ctrlKey || event.metaKey;
  if (ctrl && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return box.open ? box.close() : open();
  }
  if (ctrl || event.altKey || event.isComposing || !single() || typing(event) || $("dialog[open]")) return;
  if (event.key === "?") keys.showModal();
  else if (event.key === "/" && !$("[data-slash]")) open();
  else return;
  event.preventDefault();
});

// ---------- single keys can be turned off (WCAG 2.1.4)

const choice = $("#single-keys");
try {
  if (localStorage.getItem(OFF)) root.dataset.keys = "off";
} catch { /* the browser keeps nothing for this page: they are on */ }
choice.defaultChecked = single(); // pages that look whether something was typed shall find nothing here
choice.addEventListener("change", () => {
  choice.defaultChecked = choice.checked;
  root.dataset.keys = choice.checked ? "on" : "off";
  try {
    if (choice.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, "yes");
  } catch { /* then it counts until the page is left */ }
});
if (/Mac|iPhone|iPad/.test(navigator.platform)) for (const hint of document.querySelectorAll("[data-mod]")) hint.textContent = "⌘K";
