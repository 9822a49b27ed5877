// What is edited: fields that never change but are replaced, who is chosen, and the way back.
//
// A field has the members of the API (percent of the page as displayed, from its top left corner), an `id` of this page
// and the id of its `holder`. Every change is a `commit`, which tells everybody who watches.

import { t } from "../words.js";
import { $, $$, clamp, r2 } from "./dom.js";

const STEPS = 200;
export const LEAST = 1.2;        // percent: the smallest side that resizing leaves
const SMALLEST = 0.2;

/** By its name: what it is called, its usual size, the key that takes it. */
export const TYPES = Object.fromEntries($$("#palette [data-type]").map((button) => [button.dataset.type, {
  name: button.dataset.name, width: Number(button.dataset.width), height: Number(button.dataset.height), key: button.dataset.key.toLowerCase(),
}]));
const OPTIONAL = new Set(["checkbox"]), CHOSEN = new Set(["radio", "dropdown"]);

export const model = { fields: [], people: [], revision: 0, most: 500, selected: new Set(), holder: null, armed: null, problems: new Map() };
const past = [], future = [], watchers = [];
let count = 0, kept = null;

export const watch = (act) => watchers.push(act);
/** `what` changed: fields, or only what is chosen. */
export const tell = (what = {}) => watchers.forEach((act) => act(what));

export const holders = () => model.people.filter((person) => person.number);
export const person = (id) => model.people.find((one) => one.id === id) ?? { name: t("no_one"), number: 1, role: "signer" };
export const colour = (id) => ((person(id).number ?? 1) - 1) % 8 + 1;
export const get = (id) => model.fields.find((field) => field.id === id);
export const chosen = () => model.fields.filter((field) => model.selected.has(field.id));
export const inOrder = (a, b) => a.page - b.page || a.y - b.y || a.x - b.x;
export const nameOf = (field) => field.label || TYPES[field.type].name;
export const where = (field) => t("where", { page: field.page, x: Math.round(field.x), y: Math.round(field.y) });
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

/** With an id of this page. */
export const identified = (field) => Object.freeze({ ...field, id: `f${++count}` });

/** On its page, in two decimals. */
export function fitted(field) {
  const width = r2(clamp(field.width, SMALLEST, 100)), height = r2(clamp(field.height, SMALLEST, 100));
  return Object.freeze({ ...field, width, height, x: r2(clamp(field.x, 0, 100 - width)), y: r2(clamp(field.y, 0, 100 - height)) });
}

/** A new field of its usual size around a point. */
export function made(type, page, x, y, holder = model.holder, more = {}) {
  const { width, height } = TYPES[type];
  return fitted(identified({
    type, page, width, height, x: x - width / 2, y: y - height / 2, holder, required: !OPTIONAL.has(type), label: null,
    ...(CHOSEN.has(type) ? { options: [t("option_yes"), t("option_no")] } : {}), ...more,
  }));
}

/**
 * Takes `next` as the fields. Steps that follow each other `under` the same name, as letters typed into one place, are
 * one step back.
 */
export function commit(next, under = null) {
  if (next.length === model.fields.length && next.every((field, n) => field === model.fields[n])) return tell();
  if (under === null || under !== kept) {
    past.push(model.fields);
    if (past.length > STEPS) past.shift();
  }
  kept = under;
  future.length = 0;
  settle(next);
}

function settle(next) {
  model.fields = Object.freeze(next);
  for (const id of model.selected) if (!get(id)) model.selected.delete(id);
  tell({ fields: true });
}

/** Replaces those of these ids by what `change` makes of each. */
export function update(ids, change, under = null) {
  const these = new Set(ids);
  commit(model.fields.map((field) => {
    if (!these.has(field.id)) return field;
    const next = fitted({ ...field, ...change(field) });
    return same(field, next) ? field : next;
  }), under);
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function travel(from, to) {
  if (!from.length) return false;
  to.push(model.fields);
  kept = null;
  settle(from.pop());
  return true;
}
export const undo = () => travel(past, future);
export const redo = () => travel(future, past);

export function select(ids, add = false) {
  const next = add ? new Set(model.selected) : new Set();
  for (const id of ids) if (add && next.has(id)) next.delete(id); else next.add(id);
  model.selected = next;
  const one = next.size === 1 && get([...next][0]);
  if (one) model.holder = one.holder;
  kept = null;
  tell();
}

export function arm(type) {
  model.armed = type;
  if (type) model.selected = new Set();
  tell();
}

export function hold(id) {
  model.holder = id;
  tell();
}

/** Begins with what is stored. */
export function start(stored) {
  take(stored);
  model.fields = Object.freeze(stored.fields.map(identified));
}

/** Who is there, and at which revision; fields stay as they are. */
export function take({ revision, people, most }) {
  Object.assign(model, { revision, people, most });
  if (!holders().some((one) => one.id === model.holder)) model.holder = holders()[0]?.id ?? null;
}

// What need not be said: the server puts it in.
const USUAL = { readOnly: false, autofill: true, multiline: false, pattern: "none", format: "YYYY-MM-DD", layout: "vertical" };
const INKS = 3;
const said = ([name, value]) => value !== null && value !== undefined && value !== "" && value !== USUAL[name] && !(name === "allowed" && value.length === INKS);

/** What of a field is stored, in the fewest words: of two that are alike it is the same. */
export function plain({ id, holder, ...members }) {
  return Object.fromEntries(Object.entries(members).filter(said).sort());
}

export const text = (fields) => JSON.stringify(fields.map((field) => [field.holder, Object.entries(plain(field))]).sort());
export const stored = () => JSON.parse($("#state").content.textContent);
