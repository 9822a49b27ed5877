// What can be set of each type, as a table: the rules of the fields are the server's, which says what it does not take.
//
// A row is [member, label, kind, more]: `hint` stands below, `of` are the choices, `shared` means all tick boxes of the
// group, `when` says of which fields it is shown.

const FORMATS = { "YYYY-MM-DD": "2026-11-21", "DD/MM/YYYY": "21/11/2026", "MM/DD/YYYY": "11/21/2026", "D MMM YYYY": "21 Nov 2026" };
const PATTERNS = { none: "Anything", digits: "Digits", letters: "Letters", alphanumeric: "Letters and digits", phone: "A phone number", postal: "A postal code" };
const ALIGN = { "": "Left", center: "Centre", right: "Right" };
const INKS = { drawn: "Draw", typed: "Type", uploaded: "Upload an image" };

const number = (least, most, step = 1) => ({ min: least, max: most, step });
const HINT = ["placeholder", "Hint in the empty field", "text", { max: 100 }];
const LOOK = [
  ["fontSize", "Size of the letters", "number", { ...number(6, 72, 0.5), hint: "In points. Empty: as large as fits." }],
  ["align", "Aligned", "select", { of: ALIGN }],
];
const value = (kind, more = {}) => ["value", "Filled in already", kind, { ...more, optional: true }];
const LOCKED = ["readOnly", "They cannot change it", "tick", { when: (field) => field.value !== null && field.value !== undefined && field.value !== "" }];
const FILLED = [value("text", { max: 2000 }), LOCKED];
const OPTIONS = ["options", "Options, one per line", "lines"];
const chosenOf = (field) => Object.fromEntries([["", "Nothing"], ...(field.options ?? []).map((one) => [one, one])]);
const grouped = (field) => Boolean(field.group);

/** By type: what stands above the fold, and what under "More". */
export const PROPERTIES = {
  signature: { rows: [["allowed", "They may", "ticks", { of: INKS }]], more: [] },
  initials: { rows: [["allowed", "They may", "ticks", { of: INKS }]], more: [] },
  date: {
    rows: [
      ["autofill", "The day they sign", "tick", { hint: "Otherwise they choose a day.", usual: true }],
      ["format", "Written as", "select", { of: FORMATS, usual: "YYYY-MM-DD" }],
    ],
    more: [["min", "Not before", "date"], ["max", "Not after", "date"], value("date"), LOCKED, HINT, ...LOOK],
  },
  name: { rows: [["autofill", "Start with their name", "tick", { hint: "They can still change it.", usual: true }]], more: [...FILLED, HINT, ...LOOK] },
  email: { rows: [["autofill", "Start with their address", "tick", { usual: true }]], more: [...FILLED, HINT, ...LOOK] },
  text: {
    rows: [["multiline", "Several lines", "tick"], HINT, ["pattern", "Only", "select", { of: PATTERNS, usual: "none" }]],
    more: [["minLength", "At least so many characters", "number", number(0, 2000)], ["maxLength", "At most so many characters", "number", number(1, 2000)], ...FILLED, ...LOOK],
  },
  number: {
    rows: [["min", "At least", "number", { step: "any" }], ["max", "At most", "number", { step: "any" }], ["decimals", "Digits after the point", "number", number(0, 6)]],
    more: [...FILLED, HINT, ...LOOK],
  },
  checkbox: {
    rows: [
      ["group", "Group", "text", { max: 40, optional: true, hint: "Tick boxes of the same group belong together." }],
      ["minChecked", "Ticks of the group: at least", "number", { ...number(0, 500), shared: true, when: grouped }],
      ["maxChecked", "Ticks of the group: at most", "number", { ...number(1, 500), shared: true, when: grouped, hint: "1 lets them choose one." }],
    ],
    more: [["value", "Ticked already", "tick"], ["readOnly", "They cannot change it", "tick"]],
  },
  radio: {
    rows: [OPTIONS, ["layout", "Arranged", "select", { of: { vertical: "Below each other", horizontal: "Beside each other" }, usual: "vertical" }]],
    more: [value("select", { of: chosenOf }), LOCKED, ["fontSize", ...LOOK[0].slice(1)]],
  },
  dropdown: { rows: [OPTIONS], more: [value("select", { of: chosenOf }), LOCKED, HINT, ...LOOK] },
};

export const KEY = ["key", "Key for programs", "text", { max: 64, hint: "Names the field for the API: letters, digits, and . _ -" }];

/** The sentence of the server about a member, for people. */
export const sentence = ({ message, rule, path }) => ({
  required: "This is missing.",
  duplicate: path.endsWith("/key") ? "Another field of the document has this key." : "Each stands once.",
}[rule] ?? message);
