// What is done to the chosen fields, however it was asked for.

import { t } from "../words.js";
import { say, short, toast } from "./dom.js";
import { canvas, focusField, inView, sheets } from "./canvas.js";
import {
  TYPES, arm, chosen, commit, fitted, get, hold, identified, inOrder, made, model, nameOf, person, redo as again, select, undo as back, update, where,
} from "./model.js";

const APART = 2;                 // percent between a field and its copy
let copied = [];

const room = (wanted) => {
  if (model.fields.length + wanted <= model.most) return true;
  toast(t("too_many", { n: model.most }));
  return false;
};

export function undo() {
  if (back()) say(t("undone"));
}
export function redo() {
  if (again()) say(t("redone"));
}

/** Places a new field around a point. */
export function add(type, page, x, y) {
  if (!model.holder || !room(1)) return arm(null);
  const field = made(type, page, x, y);
  arm(null);
  commit([...model.fields, field]);
  select([field.id]);
  focusField(field.id);
  say(t("placed", { type: TYPES[type].name, name: person(field.holder).name, where: where(field) }));
}

/** Places one on the page in view, below what is there. */
export function addInView(type) {
  const on = inView(), box = on.getBoundingClientRect(), seen = canvas.getBoundingClientRect(), page = Number(on.dataset.page);
  const { width, height } = TYPES[type];
  let y = Math.min(Math.max((seen.top + seen.height / 2 - box.top) / box.height * 100, height), 100 - height);
  const taken = () => model.fields.some((f) => f.page === page && Math.abs(f.x + f.width / 2 - 50) < (f.width + width) / 2 && Math.abs(f.y + f.height / 2 - y) < (f.height + height) / 2);
  while (taken() && y < 96) y += height + 1;
  add(type, page, 50, y);
}

/** Puts many in at once, all chosen. */
export function put(fields, text) {
  if (!fields.length || !room(fields.length)) return false;
  const next = fields.map((field) => fitted(identified(field)));
  commit([...model.fields, ...next]);
  select(next.map((field) => field.id));
  focusField(next[0].id);
  say(text);
  return true;
}

const unkeyed = ({ key, ...field }) => field; // keys are unique in a document
const moved = (field, by, page = field.page) => ({ ...unkeyed(field), page, x: field.x + by, y: field.y + by });

export function duplicate() {
  const fields = chosen();
  if (fields.length) put(fields.map((field) => moved(field, APART)), t("duplicated", { n: fields.length }));
}

export function copy() {
  copied = chosen();
  if (copied.length) say(t("copied", { n: copied.length }));
}

export function paste() {
  const page = Number(inView().dataset.page);
  if (copied.length) put(copied.map((field) => moved(field, copied[0].page === page ? APART : 0, page)), t("pasted", { n: copied.length, page }));
}

export function remove() {
  const gone = chosen();
  if (!gone.length) return;
  const last = gone.toSorted(inOrder).at(-1);
  const next = model.fields.toSorted(inOrder).find((field) => inOrder(field, last) > 0 && !model.selected.has(field.id));
  commit(model.fields.filter((field) => !model.selected.has(field.id)));
  toast(gone.length > 1 ? t("deleted_several", { n: gone.length }) : t("deleted", { name: nameOf(gone[0]) }), undo);
  focusField(next?.id);
}

/** The chosen ones at the same place of every page that has none there yet. */
export function repeat() {
  const near = (one, other) => one.type === other.type && one.holder === other.holder && Math.abs(one.x - other.x) < 1 && Math.abs(one.y - other.y) < 1;
  const fields = chosen(), kept = [...model.selected], next = [];
  for (const on of sheets) {
    const page = Number(on.dataset.page), here = model.fields.filter((field) => field.page === page);
    for (const field of fields) if (!here.some((one) => near(one, field))) next.push(fitted(identified({ ...unkeyed(field), page })));
  }
  if (!next.length) return toast(t("everywhere"));
  if (!room(next.length)) return;
  commit([...model.fields, ...next]);
  select(kept);
  toast(t("repeated", { n: new Set(next.map((field) => field.page)).size }), undo);
}

// ---------- several at once

const most = (of) => Math.max(...chosen().map(of)), least = (of) => Math.min(...chosen().map(of));
const each = (change) => update([...model.selected], change);
function spread(start, size) {
  const fields = chosen().toSorted((a, b) => a[start] - b[start]), first = fields[0][start], last = fields.at(-1);
  const free = last[start] + last[size] - first - fields.reduce((sum, field) => sum + field[size], 0), gap = free / Math.max(1, fields.length - 1);
  const at = new Map();
  let next = first;
  for (const field of fields) { at.set(field.id, next); next += field[size] + gap; }
  each((field) => ({ [start]: at.get(field.id) }));
}

/** By the name of its drawing: what each button of "Arrange" does. */
export const ARRANGE = {
  al: () => { const x = least((f) => f.x); each(() => ({ x })); },
  ac: () => { const x = (least((f) => f.x) + most((f) => f.x + f.width)) / 2; each((f) => ({ x: x - f.width / 2 })); },
  ar: () => { const x = most((f) => f.x + f.width); each((f) => ({ x: x - f.width })); },
  at: () => { const y = least((f) => f.y); each(() => ({ y })); },
  am: () => { const y = (least((f) => f.y) + most((f) => f.y + f.height)) / 2; each((f) => ({ y: y - f.height / 2 })); },
  ab: () => { const y = most((f) => f.y + f.height); each((f) => ({ y: y - f.height })); },
  dist: () => spread("y", "height"),
  across: () => spread("x", "width"),
  size: () => { const { width, height } = chosen().toSorted(inOrder)[0]; each(() => ({ width, height })); },
};

export const require = (required) => each(() => ({ required }));

/** Whose the chosen ones are, and the next one. */
export function give(holder) {
  model.holder = holder;
  if (model.selected.size) each(() => ({ holder }));
  else hold(holder);
  say(t(model.selected.size ? "given" : "giving", { name: person(holder).name }));
}

/** Moves or resizes the chosen ones by steps. */
export function nudge(across, down, sizing) {
  each((f) => (sizing
    ? { width: Math.min(Math.max(f.width + across, 1.2), 100 - f.x), height: Math.min(Math.max(f.height + down, 1.2), 100 - f.y) }
    : { x: f.x + across, y: f.y + down }));
  const [first] = chosen();
  say(sizing ? t("sized", { width: short(first.width), height: short(first.height) }) : where(get(first.id)));
}
