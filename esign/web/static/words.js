// Sentences for scripts. They come from <template id="words"> of the page; no script holds any.

export const words = JSON.parse(document.querySelector("#words").content.textContent);
const rules = new Intl.PluralRules(document.documentElement.lang);
/** The sentence of that name, filled in; of a counted one the form that fits `n`. */
export const t = (key, values = {}) => {
  const found = words[key] ?? key;
  return (found[rules.select(values.n)] ?? found).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
};
