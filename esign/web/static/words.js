// Sentences for scripts. They come from <template id="words"> of the page; no script holds any.

export const words = JSON.parse(document.querySelector("#words").content.textContent);
const rules = new Intl.PluralRules(document.documentElement.lang);
/** A value as it stands in a sentence: a text is kept from reordering one that runs from right to left. */
const shown = (value) => (document.documentElement.dir === "rtl" && typeof value === "string" ? `\u2068${value}\u2069` : value ?? "");
/** A sentence filled in; of a counted one the form that fits `n`. */
export const fill = (found, values = {}) => (found[rules.select(values.n)] ?? found.other ?? found).replace(/\{(\w+)\}/g, (_, name) => shown(values[name]));
/** The sentence of that name, filled in. */
export const t = (key, values = {}) => fill(words[key] ?? key, values);
