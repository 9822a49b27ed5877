// What a value must be, as far as the page can tell; the server decides.

import { $, number, t } from "./dom.js";

const PATTERNS = {
  digits: /^[0-9]+$/, letters: /^[\p{L}\p{M} '’.\-]+$/u, alphanumeric: /^[\p{L}\p{M}\p{N} ]+$/u,
  phone: /^(?=(?:[^0-9]*[0-9]){4})\+?[0-9 ()\/.\-]{4,30}$/, postal: /^[A-Za-z0-9][A-Za-z0-9 \-]{1,10}$/,
};

const DIGITS = new Set(["digits", "phone"]);
/** Digits of Arabic, Persian and Indian keyboards, and those as wide as a Japanese letter, as the seal and its checks know them. */
const latin = (given) => given.normalize("NFKC").replace("\u066b", ".").replace(/[\u0660-\u0669\u06f0-\u06f9\u0e50-\u0e59]/g, (digit) => digit.charCodeAt(0) & 15).replace(/[\u0966-\u096f]/g, (digit) => digit.charCodeAt(0) - 0x966);

// As the seal writes them, in every language.
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

export function written(iso, format) {
  const [y, m, d] = iso.split("-");
  if (!d) return "";
  return { "DD/MM/YYYY": `${d}/${m}/${y}`, "MM/DD/YYYY": `${m}/${d}/${y}`, "D MMM YYYY": `${Number(d)} ${MONTHS[m - 1]} ${y}` }[format] ?? iso;
}

const spelt = (iso) => new Date(`${iso}T12:00`).toLocaleDateString(`${document.documentElement.lang.replace(/^en$/, "en-GB")}-u-nu-latn`, { day: "numeric", month: "long", year: "numeric" });

const decimal = (given) => given.replace(",", ".");
const ticked = (a) => a.parts.filter(({ control }) => control.checked);

/** What a line of text is, and what every row of the table is that does not say otherwise. */
const LINE = {
  value: (a) => a.control.value.trim(), // as text; empty means nothing was given
  shown: (a) => value(a), // what people read
  needed: "needed", // the sentence that asks for it
  missing: (a) => (a.required && !value(a) ? t(KINDS[a.kind].needed) : ""),
  wrong: () => "", // the sentence about a value, by the data of its step
  sent: (a) => ({ [a.id]: value(a) }), // also nothing: what the sender put in before may have been taken out
};
const INK = {
  value: (a) => (a.ink ? a.ink.url : ""),
  missing: (a) => (a.required && !a.ink ? t(a.kind === "signature" ? "neededSignature" : "neededInitials") : ""),
  sent: (a, pictures) => (a.ink ? { [a.id]: inkOf(a, pictures) } : {}),
};
const TICKS = {
  value: (a) => ticked(a).map(({ id }) => id).join(" "),
  needed: "neededTick",
  sent: (a) => Object.fromEntries(a.parts.map(({ id, control }) => [id, control.checked])),
};

// One row for each type of field; besides, a group of checkboxes, and a field that is only shown.
const ROWS = {
  signature: INK,
  initials: INK,
  date: {
    shown: (a) => written(value(a), a.box.dataset.format),
    wrong(given, { min, max }) {
      if (min && given < min) return t("tooEarly", { min: spelt(min) });
      return max && given > max ? t("tooLate", { max: spelt(max) }) : "";
    },
  },
  name: { wrong: (given) => ([...given].length > 200 ? t("tooLong", { max: 200 }) : "") },
  email: { wrong: (given) => (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(given) ? "" : t("wrongEmail")) },
  text: {
    value: (a) => (DIGITS.has(a.box.dataset.pattern) ? latin(LINE.value(a)) : LINE.value(a)),
    wrong(given, { minLength, maxLength, pattern }) {
      const length = [...given].length;
      if (length < Number(minLength ?? 0)) return t("tooShort", { min: minLength });
      if (length > Number(maxLength ?? 2000)) return t("tooLong", { max: maxLength ?? 2000 });
      const fits = (line) => !line || PATTERNS[pattern].test(line);
      return pattern && !given.split("\n").every(fits) ? t(pattern) : "";
    },
  },
  number: {
    value: (a) => latin(LINE.value(a)),
    shown: (a) => decimal(value(a)),
    wrong(given, { min, max, decimals }) {
      const plain = decimal(given);
      if (!/^-?[0-9]{1,30}(\.[0-9]{1,20})?$/.test(plain)) return t(decimals === "0" ? "wrongWhole" : "wrongNumber");
      if (decimals && (plain.split(".")[1] ?? "").length > Number(decimals)) return t(decimals === "0" ? "wrongWhole" : "wrongDecimals", { n: Number(decimals) });
      if (min && Number(plain) < Number(min)) return t("tooSmall", { min: number(min) });
      return max && Number(plain) > Number(max) ? t("tooLarge", { max: number(max) }) : "";
    },
    sent: (a) => ({ [a.id]: decimal(value(a)) }),
  },
  checkbox: { ...TICKS, shown: (a) => t(value(a) ? "ticked" : "unticked") },
  radio: { value: (a) => $("input:checked", a.box)?.value ?? "", needed: "neededChoice" },
  dropdown: { needed: "neededChoice" },
  group: {
    ...TICKS,
    shown: (a) => ticked(a).map(({ control }) => control.parentNode.textContent.trim()).join(", "),
    missing(a) {
      const least = Number(a.box.dataset.least);
      if (a.parts.some(({ control }) => "needed" in control.dataset && !control.checked)) return t("neededTick");
      return ticked(a).length < least ? t("tickMore", { n: least }) : "";
    },
    wrong: (given, { most }) => (most && given.split(" ").length > Number(most) ? t("tickFewer", { n: Number(most) }) : ""),
  },
  fixed: { value: (a) => a.box.dataset.shown, sent: () => ({}) },
};
const KINDS = Object.fromEntries(Object.entries(ROWS).map(([kind, row]) => [kind, { ...LINE, ...row }]));

export const isInk = (kind) => ROWS[kind] === INK;

/** The value as text; empty means nothing was given. */
export const value = (a) => KINDS[a.kind].value(a);

/** What people read: dates as the document will show them, ticks as words. */
export const shown = (a) => KINDS[a.kind].shown(a);

/** The sentence about what is missing, for the moment of finishing. */
export const missing = (a) => KINDS[a.kind].missing(a);

/** The sentence about what is wrong with what was given, or nothing. */
export function wrong(a) {
  const given = value(a);
  if (a.told && a.told.value === given) return a.told.message;
  if (a.control?.validity?.badInput) return t("wrongDate");
  return given ? KINDS[a.kind].wrong(given, a.box.dataset) : "";
}

/** What is sent: field id to JSON value. A picture that stands in several fields is sent once; the others name its field. */
export function answers(all) {
  const pictures = new Map();
  return Object.assign({}, ...all.map((a) => KINDS[a.kind].sent(a, pictures)));
}

export function inkOf({ id, ink }, sent) {
  if (ink.kind === "typed") return { kind: "typed", text: ink.text, hand: ink.hand };
  const first = sent.get(ink.url);
  sent.set(ink.url, first ?? id);
  return { kind: ink.kind, picture: first ?? ink.url };
}
