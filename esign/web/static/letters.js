// A typed name as the seal will draw it: in one of its hands, or in the plain face, which the server draws.

import { graphemes, post, preview } from "./dom.js";
import { n } from "./lettering.js";
import { penOf, canDraw, sheetOf } from "./picture.js";

const TYPED = "#14181f";
// What each hand can draw; the plain face takes the rest. A hand sets a whole signature or none of it.
const HANDS = {
  a: /^[ -~\u00a1-\u00ac\u00ae-\u00ff]*$/u,
  b: /^[ -~\u00a1-\u00ac\u00ae-\u0125\u0128-\u012c\u012e-\u0130\u0134-\u0137\u0139-\u013d\u013f-\u0149\u014c-\u0165\u0168-\u017e]*$/u,
  c: /^[ -~\u00a1-\u00ac\u00ae-\u017e\u0400-\u045f]*$/u,
};

/** The hands that have every letter of the name. */
export const handsFor = (name) => Object.keys(HANDS).filter((hand) => name && HANDS[hand].test(name.normalize("NFC")));

/**
 * A typed signature with its picture. `widest` is its width in points at the largest size the seal sets it in.
 * Without `url` it cannot be had: `missing` has the letters that nothing here can print, or a `message` says why.
 */
export async function lettered(text, hand) {
  const made = hand && canDraw() ? await drawn(text, hand, `"Esign Hand ${hand.toUpperCase()}"`) : await asked(text, hand);
  return { kind: "typed", text, hand, ...made };
}

/** The same for one that was given before: where nobody answers, in letters of this browser. */
export async function typedInk(text, hand) {
  const ink = await lettered(text, hand);
  return ink.url || !canDraw() ? ink : { ...ink, ...(await drawnPlain(text)) };
}

const drawnPlain = (text) => drawn(text, "plain", '"Esign Sans", sans-serif');

/** The lines of a name, as the seal breaks it (esign/pdf/typst/kit.typ): of about the same length; a word that is longer goes on. */
export function breakName(name) {
  const words = name.trim().split(/ +/), total = graphemes(words.join(" ")).length, long = n("letters");
  if (total <= long) return [words.join(" ")];
  const most = Math.min(n("lines"), Math.ceil(total / long));
  const pieces = words.flatMap((word) => {
    const all = graphemes(word), each = Math.ceil(all.length / Math.ceil(all.length / long));
    return Array.from({ length: Math.ceil(all.length / each) }, (_, at) => [at ? "" : " ", all.slice(at * each, (at + 1) * each).join("")]);
  });
  for (let width = Math.ceil(total / most); width <= total; width++) {
    const lines = [pieces[0][1]];
    for (const [before, piece] of pieces.slice(1)) {
      const longer = lines.at(-1) + before + piece;
      if (graphemes(longer).length <= width) lines[lines.length - 1] = longer; else lines.push(piece);
    }
    if (lines.length <= most) return lines;
  }
  return [name];
}

async function drawn(text, face, family) {
  await document.fonts.load(`9px ${family}`, text).catch(() => []);
  const pen = penOf(sheetOf(1, 1)), finely = 2000; // browsers measure in whole dots
  pen.font = `${finely}px ${family}`;
  const lines = breakName(text), found = lines.map((line) => pen.measureText(line)), pitch = n("pitch");
  const above = found[0].actualBoundingBoxAscent / finely, below = found.at(-1).actualBoundingBoxDescent / finely;
  const high = above + (lines.length - 1) * pitch + below, wide = Math.max(...found.map(({ width }) => width)) / finely;
  const size = high ? Math.round(200 * high) / high : 200; // in which the letters are a whole number of dots high
  const before = n(`before-${face}`) * size, after = n(`after-${face}`) * size;
  const canvas = sheetOf(Math.ceil(before + wide * size + after), high * size), letters = penOf(canvas);
  letters.font = `${size}px ${family}`; letters.fillStyle = TYPED; letters.textAlign = "left";
  lines.forEach((line, at) => letters.fillText(line, before, (above + at * pitch) * size));
  return { url: canvas.toDataURL("image/png"), widest: (canvas.width * n(face === "plain" ? face : "hand")) / size };
}

async function asked(text, hand) {
  if (preview && canDraw()) return drawnPlain(text);
  const answer = await post("letters", { text, hand }, { patience: 20_000 });
  if (!answer.ok) return { message: answer.message ?? answer.details?.[0].message };
  return { url: answer.picture, widest: answer.widest, missing: answer.missing };
}
