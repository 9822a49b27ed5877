// The pages and the fields on them: elements are kept as long as their field, so that focus survives.

import { t } from "../words.js";
import { $, $$, body, clamp, h, icon } from "./dom.js";
import { TYPES, colour, get, inOrder, model, nameOf, person, where } from "./model.js";

export const canvas = $("#main");
export const sheets = $$(".sheet");
export const sheet = (page) => sheets[page - 1];
const column = $("#sheets"), elements = new Map();
const HANDLES = ["nw", "ne", "se", "sw", "e", "w"];
export const element = (id) => elements.get(id)?.el;

// ---------- where something is

/** Where a pointer is on a sheet, in percent. */
export function percent(event, on) {
  const box = on.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width * 100, (event.clientY - box.top) / box.height * 100];
}

/** The first sheet that ends below a height of the window; they stand below each other. */
function after(y) {
  let from = 0, to = sheets.length - 1;
  while (from < to) {
    const half = (from + to) >> 1;
    if (sheets[half].getBoundingClientRect().bottom > y) to = half; else from = half + 1;
  }
  return sheets[from];
}

/** The sheet under a pointer. */
export function under({ clientX, clientY }) {
  const found = after(clientY), box = found.getBoundingClientRect();
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom ? found : null;
}

export function inside({ clientX, clientY }) {
  const box = canvas.getBoundingClientRect();
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
}

/** The sheet in the middle of what is seen. */
export function inView() {
  const box = canvas.getBoundingClientRect();
  return after(box.top + box.height / 2);
}

// ---------- drawing

export function place(el, { x, y, width, height }) {
  Object.assign(el.style, { left: `${x}%`, top: `${y}%`, width: `${width}%`, height: `${height}%` });
}

function element_of(field) {
  const el = h("div", { class: "fld", role: "button", tabIndex: 0, "data-id": field.id }, icon(field.type), h("span", { class: "t", dir: "auto" }));
  return { el, field: null, look: "" };
}

/** Which parts fit: a field of a few dots shows neither word nor drawing. */
function room(field, width, tall) {
  const w = field.width / 100 * width, high = field.height / 100 * tall;
  return `${w < 46 ? " tiny" : ""}${Math.min(w, high) < 17 ? " micro" : ""}${high < 26 ? " low" : ""}`;
}

function paint(known, field, look) {
  const { el } = known, bad = model.problems.has(field.id), chosen = model.selected.has(field.id);
  if (known.look !== look) el.className = `fld${look}`;
  el.tabIndex = small() && look.includes(" micro") ? -1 : 0; // too small to be pressed for sure: the list of fields leads there
  const handles = chosen && model.selected.size === 1;
  if (handles !== !!$(".h", el)) handles ? el.append(...HANDLES.map((side) => h("span", { class: `h ${side}`, "data-h": side }))) : $$(".h", el).forEach((one) => one.remove());
  el.dataset.r = colour(field.holder);
  el.setAttribute("aria-pressed", chosen);
  el.setAttribute("aria-label", t(bad ? "described_bad" : "described", { field: nameOf(field), name: person(field.holder).name, need: t(field.required ? "required" : "optional"), where: where(field) }));
  $(".t", el).textContent = nameOf(field);
  place(el, field);
  Object.assign(known, { field, look });
}

/** Draws what has changed; elements stand in reading order, which Tab follows. */
export function draw({ fields: moved, all } = {}) {
  const focused = document.activeElement?.dataset?.id;
  const width = column.clientWidth, tall = new Map();
  const height = (page) => tall.get(page) ?? tall.set(page, sheet(page).clientHeight).get(page);
  const ids = new Set(model.fields.map((field) => field.id));
  for (const [id, { el }] of elements) if (!ids.has(id)) { el.remove(); elements.delete(id); }
  const last = new Map();
  for (const field of [...model.fields].sort(inOrder)) {
    if (!elements.has(field.id)) elements.set(field.id, element_of(field));
    const known = elements.get(field.id), chosen = model.selected.has(field.id), on = sheet(field.page);
    const look = `${chosen ? " sel" : ""}${chosen && model.selected.size === 1 ? " one" : ""}${field.required ? "" : " opt"}${model.problems.has(field.id) ? " bad" : ""}${room(field, width, height(field.page))}`;
    if (known.field !== field || known.look !== look || all) paint(known, field, look);
    const before = last.get(on) ?? $("img", on);
    if (moved || all || known.el.parentNode !== on) if (before.nextElementSibling !== known.el) before.after(known.el);
    last.set(on, known.el);
  }
  if (focused && document.activeElement?.dataset?.id !== focused) element(focused)?.focus({ preventScroll: true });
  body.classList.toggle("has-sel", model.selected.size > 0);
  body.classList.toggle("armed", !!model.armed);
}

export function focusField(id) {
  const el = element(id);
  if (!el) return canvas.focus({ preventScroll: true });
  el.scrollIntoView({ block: "nearest", inline: "nearest" });
  el.focus({ preventScroll: true });
}

export const ghostOf = (type) => h("div", { class: "fld ghost on-paper", "data-r": colour(model.holder) }, icon(type), h("span", { class: "t" }, TYPES[type].name));
export const fieldAt = (event) => get(event.target.closest?.(".fld")?.dataset.id);

// ---------- how large

let zoom = 1;
const USUAL = 760;
const room_for = () => canvas.clientWidth - 48;
export const small = () => matchMedia("(max-width: 860px)").matches;

export function setZoom(to) {
  zoom = clamp(to, 0.5, 3);
  column.style.setProperty("--zoom", zoom);
  $("#zpc").textContent = t("percent", { n: Math.round(zoom * 100) });
  draw({ all: true });
  dispatchEvent(new Event("zoomed"));
}
export const zoomBy = (step) => setZoom(Math.round((zoom + step) * 4) / 4);
export const fit = () => setZoom(small() ? 1 : room_for() / USUAL);

new ResizeObserver(() => {
  if (small()) return setZoom(1);
  const most = room_for() / USUAL;
  setZoom(zoom > most || most < 1 ? Math.min(1, most) : zoom);
}).observe(canvas);
