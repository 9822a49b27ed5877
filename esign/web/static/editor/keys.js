// The keyboard: letters and undo everywhere but where one types; arrows, Space and Enter while the pages have the focus.

import { t } from "../words.js";
import { body, say } from "./dom.js";
import { canvas, element, fieldAt, inView } from "./canvas.js";
import { TYPES, holders, model, select } from "./model.js";
import { addInView, copy, duplicate, give, nudge, paste, redo, remove, undo } from "./actions.js";
import { openSheet } from "./panel.js";
import { take } from "./palette.js";

const ARROWS = { arrowleft: [-1, 0], arrowright: [1, 0], arrowup: [0, -1], arrowdown: [0, 1] };
const STEP = 0.25, LARGE = 2;
const LETTERS = Object.fromEntries(Object.entries(TYPES).map(([type, { key }]) => [key, type]));

const WITH_CTRL = {
  a: (field) => {
    const page = field?.page ?? Number(inView().dataset.page), here = model.fields.filter((one) => one.page === page);
    select(here.map((one) => one.id));
    say(t("selected", { n: here.length }));
  },
  d: duplicate,
  c: copy,
  v: paste,
};

const PLAIN = {
  delete: (field) => { if (field && !model.selected.has(field.id)) select([field.id]); remove(); },
  " ": (field, event) => {
    if (!field) return false;
    select([field.id], event.shiftKey);
    say(model.selected.has(field.id) ? t("chosen") : t("unchosen"));
    return true;
  },
  enter: (field) => {
    if (model.armed) addInView(model.armed);
    else if (field) { select([field.id]); openSheet(); } else return false;
    return true;
  },
};
PLAIN.backspace = PLAIN.delete;

function escape() {
  if (model.armed) take(null);
  else if (model.selected.size) {
    select([]);
    say(t("none_chosen"));
  }
}

/** Whether the key did something. */
function onPages(event, key) {
  const field = fieldAt(event), ctrl = event.ctrlKey || event.metaKey, arrow = ARROWS[key];
  if (arrow && field) {
    if (!model.selected.has(field.id)) select([field.id]);
    const step = event.shiftKey ? LARGE : STEP;
    nudge(arrow[0] * step, arrow[1] * step, event.altKey || ctrl);
    element(field.id).scrollIntoView({ block: "nearest", inline: "nearest" });
    return true;
  }
  if (ctrl) {
    if (event.altKey || event.shiftKey || !WITH_CTRL[key] || (key === "c" && (!model.selected.size || String(getSelection())))) return false;
    WITH_CTRL[key](field);
    return true;
  }
  if (event.altKey) return false;
  if (PLAIN[key]) return PLAIN[key](field, event) !== false;
  return letter(key);
}

/** Takes a type of field, or chooses for whom; people can turn such keys off (WCAG 2.1.4). Whether the key did something. */
function letter(key) {
  if (document.documentElement.dataset.keys === "off") return false;
  const who = /^[1-8]$/.test(key) && holders()[Number(key) - 1];
  if (who) give(who.id);
  else if (LETTERS[key]) take(LETTERS[key]);
  return Boolean(who || LETTERS[key]);
}

/** The same where something beside the pages has the focus: then Enter on the pages places what was taken. */
function elsewhere(event, key) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([name=holder])") || !letter(key)) return false;
  if (model.armed) canvas.focus({ preventScroll: true });
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.target.closest?.("input:not([type=radio], [type=checkbox]), select, textarea, dialog")) return;
  const key = event.key.toLowerCase(), ctrl = event.ctrlKey || event.metaKey;
  if (ctrl && !event.altKey && (key === "z" || key === "y")) {
    event.preventDefault();
    if (key === "y" || event.shiftKey) redo(); else undo();
  } else if (key === "escape") escape();
  else if (canvas.contains(event.target) || event.target === body ? onPages(event, key) : elsewhere(event, key)) event.preventDefault();
});

