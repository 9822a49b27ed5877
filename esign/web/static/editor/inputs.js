// One control of the properties: made of a row of the table, and read back.

import { t } from "../words.js";
import { h, icon } from "./dom.js";

const id = (name) => `p-${name}`;
const given = (field, name, { usual = null }) => field[name] ?? usual;

const KINDS = {
  text: (field, name, more) => input(field, name, more, { type: "text", maxLength: more.max }),
  number: (field, name, more) => input(field, name, more, { type: "number", min: more.min, max: more.max, step: more.step ?? "any", inputMode: "decimal" }),
  date: (field, name, more) => input(field, name, more, { type: "date" }),
  select: (field, name, more) => {
    const of = typeof more.of === "function" ? more.of(field) : more.of, now = String(given(field, name, more) ?? "");
    return h("select", { class: "in", id: id(name), name }, ...Object.entries(of).map(([value, text]) => h("option", { value, selected: value === now }, text)));
  },
  lines: (field, name) => h("textarea", { class: "in", id: id(name), name, rows: 4, dir: "auto", value: (field[name] ?? []).join("\n") }),
};
const input = (field, name, more, members) => h("input", { class: "in", id: id(name), name, dir: members.type === "text" ? "auto" : null, autocomplete: "off", value: given(field, name, more) ?? "", ...members });

function tick(name, text, checked, { hint, value } = {}) {
  return h("label", { class: "tick" }, h("input", { type: "checkbox", name, checked, value: value ?? "on" }), h("span", {}, text, hint ? h("small", {}, hint) : null));
}

/** A row of the panel; `wrong` is the sentence about it, if there is one. */
export function control(field, [name, label, kind, more = {}], wrong) {
  if (more.when && !more.when(field)) return null;
  const said = wrong ? h("p", { class: "err", id: `${id(name)}-error` }, icon("warn"), h("span", {}, wrong)) : null;
  if (kind === "tick") return h("div", { class: "stack-s" }, tick(name, label, Boolean(given(field, name, more)), more), said);
  if (kind === "ticks") {
    const now = field[name] ?? Object.keys(more.of);
    return h("fieldset", { class: "stack-s" }, h("legend", { class: "lab" }, label),
      ...Object.entries(more.of).map(([value, text]) => tick(name, text, now.includes(value), { value })), said);
  }
  const made = KINDS[kind](field, name, more);
  const about = [more.hint ? `${id(name)}-hint` : "", wrong ? `${id(name)}-error` : ""].filter(Boolean).join(" ");
  if (about) made.setAttribute("aria-describedby", about);
  if (wrong) made.setAttribute("aria-invalid", "true");
  return h("div", { class: "row" }, h("label", { htmlFor: id(name) }, label, more.optional ? h("span", { class: "opt" }, ` ${t("optional_label")}`) : null), made,
    more.hint ? h("p", { class: "hint", id: `${id(name)}-hint` }, more.hint) : null, said);
}

/** What a control says; null for nothing. */
export function read(target, [name, , kind, more = {}]) {
  if (kind === "tick") return target.checked ? true : more.usual ? false : null;
  if (kind === "ticks") {
    const all = [...target.closest("fieldset").querySelectorAll(`[name="${name}"]`)], on = all.filter((one) => one.checked).map((one) => one.value);
    if (!on.length) { target.checked = true; return [target.value]; } // one of them must stay
    return on.length === all.length ? null : on;
  }
  if (kind === "lines") return [...new Set(target.value.split("\n").map((line) => line.trim()).filter(Boolean))];
  if (kind === "number") return target.value === "" || Number.isNaN(target.valueAsNumber) ? null : target.valueAsNumber;
  return target.value === "" || target.value === more.usual ? null : target.value;
}
