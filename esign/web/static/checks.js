// What a value must be, as far as the page can tell; the server decides.

import { $, months, t } from "./dom.js";

const PATTERNS = {
  digits: /^[0-9]+$/, letters: /^[\p{L}\p{M} '’.\-]+$/u, alphanumeric: /^[\p{L}\p{M}\p{N} ]+$/u,
  phone: /^(?=(?:[^0-9]*[0-9]){4})\+?[0-9 ()\/.\-]{4,30}$/, postal: /^[A-Za-z0-9][A-Za-z0-9 \-]{1,10}$/,
};

export const isInk = (kind) => kind === "signature" || kind === "initials";

/** The value as text; empty means nothing was given. */
export function value(a) {
  if (isInk(a.kind)) return a.ink ? a.ink.url : "";
  if (a.kind === "checkbox" || a.kind === "group") return a.parts.filter(({ control }) => control.checked).map(({ id }) => id).join(" ");
  if (a.kind === "radio") return $("input:checked", a.box)?.value ?? "";
  if (a.kind === "fixed") return a.box.dataset.shown;
  return a.control.value.trim();
}

/** What people read: dates as the document will show them, ticks as words. */
export function shown(a) {
  if (a.kind === "date") return written(value(a), a.box.dataset.format);
  if (a.kind === "checkbox") return t(value(a) ? "ticked" : "unticked");
  if (a.kind === "number") return value(a).replace(",", ".");
  if (a.kind === "group") return a.parts.filter(({ control }) => control.checked).map(({ control }) => control.parentNode.textContent.trim()).join(", ");
  return value(a);
}

export function written(iso, format) {
  const [y, m, d] = iso.split("-");
  if (!d) return "";
  return { "DD/MM/YYYY": `${d}/${m}/${y}`, "MM/DD/YYYY": `${m}/${d}/${y}`, "D MMM YYYY": `${Number(d)} ${months[m - 1]} ${y}` }[format] ?? iso;
}

const spelt = (iso) => new Date(`${iso}T12:00`).toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "long", year: "numeric" });

/** The sentence about what is missing, for the moment of finishing. */
export function missing(a) {
  if (a.kind === "group") {
    const ticked = a.parts.filter(({ control }) => control.checked).length, least = Number(a.box.dataset.least);
    if (a.parts.some(({ control }) => "needed" in control.dataset && !control.checked)) return t("neededTick");
    return ticked < least ? t(least === 1 ? "tickMoreOne" : "tickMore", { min: least }) : "";
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
    return pattern && !PATTERNS[pattern].test(given) ? t(pattern) : "";
  },
  name: (given) => ([...given].length > 200 ? t("tooLong", { max: 200 }) : ""),
  email: (given) => (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(given) ? "" : t("wrongEmail")),
  number(given, { min, max, decimals }) {
    const plain = given.replace(",", ".");
    if (!/^-?[0-9]{1,30}(\.[0-9]{1,20})?$/.test(plain)) return t("wrongNumber");
    if (decimals && (plain.split(".")[1] ?? "").length > Number(decimals)) return t(decimals === "0" ? "wrongWhole" : "wrongDecimals", { n: decimals });
    if (min && Number(plain) < Number(min)) return t("tooSmall", { min });
    return max && Number(plain) > Number(max) ? t("tooLarge", { max }) : "";
  },
  date(given, { min, max }) {
    if (min && given < min) return t("tooEarly", { min: spelt(min) });
    return max && given > max ? t("tooLate", { max: spelt(max) }) : "";
  },
  group(given, { most }) {
    return most && given.split(" ").length > Number(most) ? t("tickFewer", { max: most }) : "";
  },
};

/** What is sent: field id to JSON value. A picture that stands in several fields is sent once; the others name its field. */
export function answers(all) {
  const out = {}, sent = new Map();
  for (const a of all) {
    if (a.kind === "fixed") continue;
    if (isInk(a.kind)) { if (a.ink) out[a.id] = inkOf(a, sent); continue; }
    if (a.kind === "checkbox" || a.kind === "group") { for (const { id, control } of a.parts) out[id] = control.checked; continue; }
    const given = value(a);
    if (a.kind !== "radio" || given) out[a.id] = a.kind === "number" ? given.replace(",", ".") : given;
  }
  return out;
}

function inkOf({ id, ink }, sent) {
  if (ink.kind === "typed") return { kind: "typed", text: ink.text, hand: ink.hand };
  const first = sent.get(ink.url);
  sent.set(ink.url, first ?? id);
  return { kind: "drawn", picture: first ?? ink.url };
}
