// The right side: nothing chosen shows checks and all fields, one its properties, several what they share.

import { t } from "../words.js";
import { $, body, clamp, h, icon } from "./dom.js";
import { canvas, focusField } from "./canvas.js";
import { TYPES, chosen, colour, holders, inOrder, model, nameOf, person, select, update, watch } from "./model.js";
import { ARRANGE, duplicate, give, remove, repeat, require } from "./actions.js";
import { KEY, PROPERTIES, sentence } from "./properties.js";
import { control, read } from "./inputs.js";
import { children } from "./morph.js";
import { checks } from "./checks.js";

const panel = $("#panel"), side = $("#props"), mini = $("#mini");
const PLACE = ["x", "y", "width", "height"];
let shown = "", unfolded = false;

const button = (name, text, act, more = "", look = "btn quiet icon sm") => h("button", { class: `${look} ${more}`, type: "button", "aria-label": text, title: text, on: { click: act } }, icon(name));

function head(text, field) {
  return h("div", { class: "p-head", "data-r": field ? colour(field.holder) : null }, field ? icon(field.type) : null, h("h2", { tabIndex: -1 }, text),
    button("copy", t("editor_duplicate"), duplicate), button("trash", t("editor_delete"), remove, "danger"));
}

function whose(fields) {
  const all = new Set(fields.map((field) => field.holder)), one = all.size === 1 ? fields[0].holder : "";
  return h("div", { class: "row" }, h("label", { htmlFor: "p-holder" }, t("whose")),
    h("select", { class: "in", id: "p-holder", name: "holder" }, one ? null : h("option", { value: "", selected: true }, t("several_people")),
      ...holders().map(({ id, name }) => h("option", { value: id, selected: id === one }, name))));
}

// ---------- nothing chosen

function overview() {
  const out = [h("section", { class: "stack-s" }, h("h2", {}, t("checks")), h("ul", { class: "checks" }, ...checks().map(check)))];
  const pages = Map.groupBy ? Map.groupBy(model.fields.toSorted(inOrder), (field) => field.page) : grouped(model.fields.toSorted(inOrder));
  const list = [...pages].flatMap(([page, fields]) => [h("h3", { class: "sub" }, t("panel_page", { n: page })), h("ul", { class: "outline" }, ...fields.map((field) => h("li", {}, go(field))))]);
  const empty = t(holders().length ? "panel_hint" : `panel_no_${body.dataset.list}`);
  out.push(h("section", { class: "sect" }, h("h2", {}, model.fields.length ? t("field_count", { n: model.fields.length }) : t("panel_none")), ...(list.length ? list : [h("p", { class: "hint" }, empty)])));
  return out;
}

function grouped(fields) {
  const found = new Map();
  for (const field of fields) found.set(field.page, [...(found.get(field.page) ?? []), field]);
  return found;
}

const go = (field) => h("button", { type: "button", "data-go": field.id, "data-r": colour(field.holder) }, icon(field.type),
  h("span", { class: "clip", dir: "auto" }, nameOf(field)), h("span", { class: "sub clip", dir: "auto" }, person(field.holder).name));

function check({ kind, text, field }) {
  const look = { good: ["ok", "good"], warn: ["warn", "warn"], bad: ["warn", "bad"], info: ["info", "acc"] }[kind];
  const words = field ? h("button", { class: "linklike", type: "button", "data-go": field.id }, text) : h("span", {}, text);
  return h("li", {}, icon(...look), words);
}

// ---------- one

const wrongs = (field) => model.problems.get(field.id) ?? {};
const rows = (field) => [["label", t("label"), "text", { max: 100, optional: true }], ...PROPERTIES[field.type].rows, ...PROPERTIES[field.type].more, KEY,
  ["required", t("is_required"), "tick"], ...PLACE.map((name) => [name, "", "place"])];

function properties(field) {
  const { rows: first, more } = PROPERTIES[field.type], wrong = wrongs(field);
  const say = (name) => (wrong[name] ? sentence(wrong[name]) : null);
  const made = (row) => control(field, row, say(row[0]));
  const label = made(["label", t("label"), "text", { max: 100, optional: true }]);
  $("input", label).placeholder = TYPES[field.type].name;
  const fold = [...more, KEY], open = unfolded || fold.some(([name]) => wrong[name]);
  const rest = Object.entries(wrong).filter(([name]) => !rows(field).some((row) => row[0] === name && (!row[3]?.when || row[3].when(field))));
  return [
    head(TYPES[field.type].name, field),
    ...rest.map(([, found]) => h("p", { class: "err" }, icon("warn"), h("span", {}, sentence(found)))),
    whose([field]), label, made(["required", t("is_required"), "tick"]), ...first.map(made),
    h("details", { class: "more", open }, h("summary", {}, t("more_properties")), h("div", { class: "stack" }, ...fold.map(made).filter(Boolean))),
    h("div", { class: "sect" }, h("div", { class: "xywh", role: "group", "aria-label": t("position") },
      ...PLACE.map((name) => h("label", {}, t(`place_${name}`), h("input", { class: "in", type: "number", step: 0.25, min: 0, max: 100, name, value: field[name], inputMode: "decimal" })))),
    h("button", { class: "btn sm", type: "button", on: { click: repeat } }, icon("copy"), t("repeat"))),
  ].filter(Boolean);
}

// ---------- several

const several = (fields) => [
  head(t("field_count", { n: fields.length })), whose(fields),
  h("div", { class: "row" }, h("span", { class: "lab", id: "p-al" }, t("arrange")), h("div", { class: "align", role: "group", "aria-labelledby": "p-al" },
    ...Object.entries(ARRANGE).map(([name, act]) => button(name, t(`align_${name}`), act, "", "btn icon sm")))),
  h("div", { class: "bar" }, h("button", { class: "btn sm", type: "button", on: { click: () => require(true) } }, t("all_required")), h("button", { class: "btn sm", type: "button", on: { click: () => require(false) } }, t("all_optional"))),
  h("button", { class: "btn sm", type: "button", on: { click: repeat } }, icon("copy"), t("repeat")),
];

// ---------- drawing

const about = (fields) => (fields.length === 1 ? fields[0].id : fields.length ? "several" : "none");

function draw() {
  const fields = chosen(), now = about(fields);
  $("#undo").disabled = !draw.can.undo();
  $("#redo").disabled = !draw.can.redo();
  $("#mini-t").textContent = fields.length === 1 ? t("mini", { field: nameOf(fields[0]), name: person(fields[0].holder).name }) : t("field_count", { n: fields.length });
  mini.hidden = !fields.length;
  if (now !== shown) unfolded = false;
  const fresh = fields.length === 1 ? properties(fields[0]) : fields.length ? several(fields) : overview();
  if (now === shown) children(panel, h("div", {}, ...fresh));
  else {
    panel.replaceChildren(...fresh);
    side.scrollTop = 0;
  }
  shown = now;
  if (!fields.length) side.removeAttribute("data-open");
}

// ---------- what is typed

function changed(target) {
  const fields = chosen(), { name } = target;
  if (!name || !fields.length) return;
  if (name === "holder") return target.value && give(target.value);
  const [field] = fields, row = rows(field).find(([one]) => one === name), under = `${field.id} ${name}`;
  if (row[2] === "place") {
    if (target.value !== "") update([field.id], () => ({ [name]: clamp(target.valueAsNumber || 0, 0, 100) }), under);
    return;
  }
  const value = read(target, row), more = row[3] ?? {};
  if (more.shared) {
    const group = model.fields.filter((one) => one.type === "checkbox" && one.holder === field.holder && one.group === field.group);
    return update(group.map((one) => one.id), () => ({ [name]: value }), under);
  }
  update([field.id], (now) => consequences(now, name, value), under);
}

/** What one property means for others. */
function consequences(now, name, value) {
  if (name === "required") return { required: value === true };
  if (name === "group" && !value) return { group: null, minChecked: null, maxChecked: null };
  if (name === "group") {
    const mate = model.fields.find((one) => one.id !== now.id && one.holder === now.holder && one.group === value);
    return { group: value, ...(mate ? { minChecked: mate.minChecked ?? null, maxChecked: mate.maxChecked ?? null } : {}) };
  }
  if (now.type === "checkbox" && name === "readOnly") return { readOnly: value, value: now.value ?? (value ? false : null) };
  if (now.type === "checkbox" && name === "value") return { value: value ?? (now.readOnly ? false : null) };
  if (name === "value" && value === null) return { value: null, readOnly: null };
  if (name === "options") return { options: value, ...(now.value && !value.includes(now.value) ? { value: null, readOnly: null } : {}) };
  return { [name]: value };
}

panel.addEventListener("input", ({ target }) => { if (target.type !== "checkbox" && target.tagName !== "SELECT") changed(target); });
panel.addEventListener("change", ({ target }) => {
  if (target.type === "checkbox" || target.tagName === "SELECT") changed(target);
});
panel.addEventListener("focusout", () => setTimeout(draw)); // what was typed, as it is stored
panel.addEventListener("toggle", ({ target }) => { unfolded = target.open; }, true);
panel.addEventListener("click", (event) => {
  const to = event.target.closest("[data-go]")?.dataset.go;
  if (!to) return;
  select([to]);
  focusField(to);
});
side.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  closeSheet();
});

// ---------- the sheet of small screens

export function openSheet() {
  side.setAttribute("data-open", "");
  ($("input, select", panel) ?? canvas).focus();
}
export function closeSheet() {
  side.removeAttribute("data-open");
  const [id] = model.selected;
  focusField(id);
}
$("#m-prop").addEventListener("click", () => (side.hasAttribute("data-open") ? closeSheet() : openSheet()));
$("#m-dup").addEventListener("click", duplicate);
$("#m-del").addEventListener("click", remove);
$("#p-close").addEventListener("click", closeSheet);
document.addEventListener("pointerdown", (event) => {
  if (side.hasAttribute("data-open") && !event.target.closest("#props, #mini")) side.removeAttribute("data-open");
});
addEventListener("properties", openSheet);

export function begin(can) {
  draw.can = can;
  watch(draw);
}
