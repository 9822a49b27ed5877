// What can be set of each type, as a table: the rules of the fields are the server's, which says what it does not take.
//
// A row is [member, label, kind, more]: `hint` stands below, `of` are the choices, `shared` means all checkboxes of the
// group, `when` says of which fields it is shown.

import { t } from "../words.js";

const FORMATS = { "YYYY-MM-DD": "2026-11-21", "DD/MM/YYYY": "21/11/2026", "MM/DD/YYYY": "11/21/2026", "D MMM YYYY": "21 Nov 2026" };
const PATTERNS = Object.fromEntries(["none", "digits", "letters", "alphanumeric", "phone", "postal"].map((one) => [one, t(`pattern_${one}`)]));
const ALIGN = { "": t("align_start"), center: t("align_center"), right: t("align_end") };
const INKS = { drawn: t("ink_drawn"), typed: t("ink_typed"), uploaded: t("ink_uploaded") };

const number = (least, most, step = 1) => ({ min: least, max: most, step });
const HINT = ["placeholder", t("placeholder"), "text", { max: 100 }];
const LOOK = [
  ["fontSize", t("font_size"), "number", { ...number(6, 72, 0.5), hint: t("font_size_hint") }],
  ["align", t("alignment"), "select", { of: ALIGN }],
];
const value = (kind, more = {}) => ["value", t("default_value"), kind, { ...more, optional: true }];
const LOCKED = ["readOnly", t("read_only"), "tick", { when: (field) => field.value !== null && field.value !== undefined && field.value !== "" }];
const FILLED = [value("text", { max: 2000 }), LOCKED];
const OPTIONS = ["options", t("options"), "lines"];
const chosenOf = (field) => Object.fromEntries([["", t("no_default")], ...(field.options ?? []).map((one) => [one, one])]);
const grouped = (field) => Boolean(field.group);

/** By type: what stands above the fold, and what under "More". */
export const PROPERTIES = {
  signature: { rows: [["allowed", t("inks"), "ticks", { of: INKS }]], more: [] },
  initials: { rows: [["allowed", t("inks"), "ticks", { of: INKS }]], more: [] },
  date: {
    rows: [
      ["autofill", t("autofill_date"), "tick", { hint: t("autofill_date_hint"), usual: true }],
      ["format", t("date_format"), "select", { of: FORMATS, usual: "YYYY-MM-DD" }],
    ],
    more: [["min", t("min_date"), "date"], ["max", t("max_date"), "date"], value("date"), LOCKED, HINT, ...LOOK],
  },
  name: { rows: [["autofill", t("autofill_name"), "tick", { hint: t("autofill_name_hint"), usual: true }]], more: [...FILLED, HINT, ...LOOK] },
  email: { rows: [["autofill", t("autofill_email"), "tick", { usual: true }]], more: [...FILLED, HINT, ...LOOK] },
  text: {
    rows: [["multiline", t("multiline"), "tick"], HINT, ["pattern", t("pattern"), "select", { of: PATTERNS, usual: "none" }]],
    more: [["minLength", t("min_length"), "number", number(0, 2000)], ["maxLength", t("max_length"), "number", number(1, 2000)], ...FILLED, ...LOOK],
  },
  number: {
    rows: [["min", t("min_number"), "number", { step: "any" }], ["max", t("max_number"), "number", { step: "any" }], ["decimals", t("decimals"), "number", number(0, 6)]],
    more: [...FILLED, HINT, ...LOOK],
  },
  checkbox: {
    rows: [
      ["group", t("group"), "text", { max: 40, optional: true, hint: t("group_hint") }],
      ["minChecked", t("min_checked"), "number", { ...number(0, 500), shared: true, when: grouped }],
      ["maxChecked", t("max_checked"), "number", { ...number(1, 500), shared: true, when: grouped, hint: t("max_checked_hint") }],
    ],
    more: [["value", t("checked_default"), "tick"], ["readOnly", t("read_only"), "tick"]],
  },
  radio: {
    rows: [OPTIONS, ["layout", t("layout"), "select", { of: { vertical: t("layout_vertical"), horizontal: t("layout_horizontal") }, usual: "vertical" }]],
    more: [value("select", { of: chosenOf }), LOCKED, ["fontSize", ...LOOK[0].slice(1)]],
  },
  dropdown: { rows: [OPTIONS], more: [value("select", { of: chosenOf }), LOCKED, HINT, ...LOOK] },
};

export const KEY = ["key", t("api_name"), "text", { max: 64, hint: t("api_name_hint") }];

/** The sentence of the server about a member, for people. */
export const sentence = ({ message, rule, path }) => ({
  required: t("wrong_missing"),
  duplicate: path.endsWith("/key") ? t("wrong_key") : t("wrong_twice"),
}[rule] ?? message);
