// What a value must be, as far as the page can tell; the server decides.

import { $, number, t } from "./dom.js";

const PATTERNS = {
  digits: /^[0-9]+$/, letters: /^[\p{L}\p{M} '’.\-]+$/u, alphanumeric: /^[\p{L}\p{M}\p{N} ]+$/u,
  phone: /^(?=(?:[^0-9]*[0-9]){4})\+?[0-9 ()\/.\-]{4,30}$/, postal: /^[A-Za-z0-9][A-Za-z0-9 \-]{1,10}$/,
};

const DIGITS = new Set(["digits", "phone"]);
/** Digits of Arabic, Persian and Indian keyboards, and those as wide as a Japanese letter, as the seal and its checks know them. */
const latin = (given) => given.normalize("NFKC").replace("\u066b", ".").replace(/[\u0660-\u0669\u06f0-\u06f9\u0e50-\u0e59]/g, (digit) => digit.charCodeAt(0) & 15).replace(/[\u0966-\u096f]/g, (digit) => digit.charCodeAt(0) - 0x966);

export const isInk = (kind) => kind === "signature" || kind === "initials";

/** The value as text; empty means nothing was given. */
export function value(a) {
  if (isInk(a.kind)) return a.ink ? a.ink.url : "";
  if (a.kind === "checkbox" || a.kind === "group") return a.parts.filter(({ control }) => control.checked).map(({ id }) => id).join(" ");
  if (a.kind === "radio") return $("input:checked", a.box)?.value ?? "";
  if (a.kind === "fixed") return a.box.dataset.shown;
  const given = a.control.value.trim();
  return a.kind === "number" || DIGITS.has(a.box.dataset.pattern) ? latin(given) : given;
}

/** What people read: dates as the document will show them, ticks as words. */
export function shown(a) {
  if (a.kind === "date") return written(value(a), a.box.dataset.format);
  if (a.kind === "checkbox") return t(value(a) ? "ticked" : "unticked");
  if (a.kind === "number") return value(a).replace(",", ".");
  if (a.kind === "group") return a.parts.filter(({ control }) => control.checked).map(({ control }) => control.parentNode.textContent.trim()).join(", ");
  return value(a);
}

// As the seal writes them, in every language.
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

export function written(iso, format) {
  const [y, m, d] = iso.split("-");
  if (!d) return "";
  return { "DD/MM/YYYY": `${d}/${m}/${y}`, "MM/DD/YYYY": `${m}/${d}/${y}`, "D MMM YYYY": `${Number(d)} ${MONTHS[m - 1]} ${y}` }[format] ?? iso;
}

const spelt = (iso) => new Date(`${iso}T12:00`).toLocaleDateString(`${document.documentElement.lang.replace(/^en$/, "en-GB")}-u-nu-latn`, { day: "numeric", month: "long", year: "numeric" });

/** The sentence about what is missing, for the moment of finishing. */
export function missing(a) {
  if (a.kind === "group") {
    const ticked = a.parts.filter(({ control }) => control.checked).length, least = Number(a.box.dataset.least);
    if (a.parts.some(({ control }) => "needed" in control.dataset && !control.checked)) return t("neededTick");
    return ticked < least ? t("tickMore", { n: least }) : "";
  }
  if (!a.required || value(a)) return "";
  return t(isInk(a.kind) ? "neededSignature" : a.kind === "checkbox" ? "neededTick" : a.kind === "radio" || a.kind === "dropdown" ? "neededChoice" : "needed");
}

/** The sentence about what is wrong with what was given, or nothing. */
export function wrong(a) {
  const given = value(a);
  if (a.told && a.told.value === given) return a.told.message;
  if (a.control?.validity?.badInput) return t("wrongDate");
  return given ? (CHECKS[a.kind]?.(given, a.box.dataset, a) ?? "") : "";
}

const CHECKS = {
  text(given, { minLength, maxLength, pattern }) {
    const length = [...given].length;
    if (length < Number(minLength ?? 0)) return t("tooShort", { min: minLength });
    if (length > Number(maxLength ?? 2000)) return t("tooLong", { max: maxLength ?? 2000 });
    const fits = (line) => !line || PATTERNS[pattern].test(line);
    return pattern && !given.split("\n").every(fits) ? t(pattern) : "";
  },
  name: (given) => ([...given].length > 200 ? t("tooLong", { max: 200 }) : ""),
  email: (given) => (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(given) ? "" : t("wrongEmail")),
  number(given, { min, max, decimals }) {
    const plain = given.replace(",", ".");
    if (!/^-?[0-9]{1,30}(\.[0-9]{1,20})?$/.test(plain)) return t("wrongNumber");
    if (decimals && (plain.split(".")[1] ?? "").length > Number(decimals)) return t(decimals === "0" ? "wrongWhole" : "wrongDecimals", { n: Number(decimals) });
    if (min && Number(plain) < Number(min)) return t("tooSmall", { min: number(min) });
    return max && Number(plain) > Number(max) ? t("tooLarge", { max: number(max) }) : "";
  },
  date(given, { min, max }) {
    if (min && given < min) return t("tooEarly", { min: spelt(min) });
    return max && given > max ? t("tooLate", { max: spelt(max) }) : "";
  },
  group(given, { most }) {
    return most && given.split(" ").length > Number(most) ? t("tickFewer", { n: Number(most) }) : "";
  },
};

/** What is sent: field id to JSON value. A picture that stands in several fields is sent once; the others name its field. */
export function answers(all) {
  const out = {}, sent = new Map();
  for (const a of all) {
    if (a.kind === "fixed") continue;
    if (isInk(a.kind)) { if (a.ink) out[a.id] = inkOf(a, sent); continue; }
    if (a.kind === "checkbox" || a.kind === "group") { for (const { id, control } of a.parts) out[id] = control.checked; continue; }
    const given = value(a); // also nothing: what the sender put in before may have been taken out
    out[a.id] = a.kind === "number" ? given.replace(",", ".") : given;
  }
  return out;
}

export function inkOf({ id, ink }, sent) {
  if (ink.kind === "typed") return { kind: "typed", text: ink.text, hand: ink.hand };
  const first = sent.get(ink.url);
  sent.set(ink.url, first ?? id);
  return { kind: ink.kind, picture: first ?? ink.url };
}
