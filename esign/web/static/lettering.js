// Values on the page as the seal will write them: same letters, same sizes, same breaks (esign/pdf/typst/overlay.typ).

import { $, $$, graphemes } from "./dom.js";

const numbers = getComputedStyle(document.documentElement);
/** A number of esign/core/document/text_fit.py. */
export const n = (name) => Number(numbers.getPropertyValue(`--n-${name}`));

const HIGH = /[\u0590-\u0eff\u1000-\u109f\u1780-\u17ff\ufb50-\ufefc]/u; // marks above and below: more room between lines
const RUN = /[^\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]{20,}/gu;
const PIECE = /[^@.\-_+/:]*[@.\-_+/:]*/gu;

/** Where a long run, such as an address, may break. */
function pieces(run) {
  return (run.match(PIECE) ?? []).filter(Boolean).flatMap((piece) => {
    const all = graphemes(piece);
    if (all.length <= 22) return [piece];
    return Array.from({ length: Math.ceil(all.length / 12) }, (_, at) => all.slice(at * 12, at * 12 + 12).join(""));
  });
}

/** On as many lines as it takes. */
function fold(words, text) {
  words.classList.add("folded");
  const parts = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(RUN)) {
    parts.push(text.slice(at, index), ...pieces(run).flatMap((piece) => [document.createElement("wbr"), piece]));
    at = index + run.length;
  }
  words.replaceChildren(...parts, text.slice(at));
}

const extent = (node) => {
  const whole = document.createRange();
  whole.selectNodeContents(node);
  return whole.getBoundingClientRect().width;
};

/** How many points and pixels there are: of the page, of its smallest letters. */
function measures(place) {
  const sheet = place.closest(".page"), style = getComputedStyle(sheet), own = getComputedStyle(place);
  const number = (from, name) => Number(from.getPropertyValue(name));
  return {
    pt: sheet.getBoundingClientRect().width / parseFloat(style.getPropertyValue("--ratio")),
    small: number(style, "--small"), large: number(style, "--large"), start: number(own, "--s"), mark: number(own, "--m"),
  };
}

const sized = (words, points) => words.style.setProperty("--size", points);

/** Sets a text in its box: on one line if that can be read, else on as many as it takes; what may not be cut shrinks on. */
function fit(words, text, box, { pt, small }, start, several, whole) {
  const least = n("smallest") * small, height = box.getBoundingClientRect().height;
  words.textContent = text;
  words.classList.remove("folded", "over");
  words.classList.toggle("high", HIGH.test(text));
  sized(words, start);
  if (!several) {
    const width = words.getBoundingClientRect().width;
    const one = Math.min(start, (start * width * 0.995) / Math.max(extent(words), 0.01), height / pt / (n("up") + n("down")));
    if (one >= least) return sized(words, one);
  }
  fold(words, text);
  const gap = n(words.classList.contains("high") ? "gap-high" : "gap");
  const tall = (points) => { sized(words, points); return words.getBoundingClientRect().height - gap * points * pt > height + 0.01; };
  let size = start;
  while (tall(size) && size > least) size = Math.max(least, size * 0.95);
  if (!tall(size)) return;
  while (whole && size > 0.01 && tall(size)) size *= 0.9;
  words.classList.toggle("over", !whole);
}

/** Puts the text into its place on the page as it will be sealed. */
export function letter(place, text) {
  const words = $(".f-text", place), several = place.classList.contains("lines");
  const lines = text.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => line.trim());
  words.textContent = lines.join(several ? "\n" : " ");
  if (!place.clientWidth) return;
  const all = measures(place);
  fit(words, words.textContent, place, all, all.start, several, !place.classList.contains("short"));
  if (several) lower(words, place, all);
}

/** Several lines begin below the upper edge as far as they stand from the sides, if the box is not full. */
function lower(words, place, { pt }) {
  const gap = n(words.classList.contains("high") ? "gap-high" : "gap") * Number(words.style.getPropertyValue("--size"));
  const box = place.getBoundingClientRect().height / pt, lines = words.getBoundingClientRect().height / pt - gap;
  words.style.setProperty("--above", Math.max(0, Math.min(n("edge"), box * n("edge-share"), box - lines)));
}

/** All options of a choice in one size. */
export function choices(place) {
  if (!place.clientWidth) return;
  const all = measures(place), options = $$(".option", place).map((option) => [option, $(".f-text", option)]);
  const width = options[0][1].getBoundingClientRect().width / all.pt - n("mark-spare") * all.small;
  for (const [, words] of options) {
    words.textContent = words.textContent; // without the breaks of the last time
    words.classList.remove("folded", "over");
    sized(words, 10);
  }
  const widest = Math.max(0.01, ...options.map(([, words]) => extent(words) / all.pt / 10));
  const common = Math.max(n("smallest") * all.small, Math.min(all.start, width / widest));
  for (const [option, words] of options) fit(words, words.textContent, option, all, common, false, true);
}
