// A typed name as the seal will draw it: in one of its hands, or in the plain face, which the server draws.

import { post, preview } from "./dom.js";
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
  const made = hand && canDraw() ? await drawn(text, "hand", `"Esign Hand ${hand.toUpperCase()}"`) : await asked(text, hand);
  return { kind: "typed", text, hand, ...made };
}

/** The same for one that was given before: where nobody answers, in letters of this browser. */
export async function typedInk(text, hand) {
  const ink = await lettered(text, hand);
  return ink.url || !canDraw() ? ink : { ...ink, ...(await drawnPlain(text)) };
}

const drawnPlain = (text) => drawn(text, "plain", '"Esign Sans", sans-serif');

async function drawn(text, face, family) {
  await document.fonts.load(`9px ${family}`, text).catch(() => []);
  const pen = penOf(sheetOf(1, 1)), finely = 2000; // browsers measure in whole dots
  pen.font = `${finely}px ${family}`;
  const found = pen.measureText(text), high = (found.actualBoundingBoxAscent + found.actualBoundingBoxDescent) / finely;
  const size = high ? Math.round(200 * high) / high : 200; // in which the letters are a whole number of dots high
  const up = (found.actualBoundingBoxAscent * size) / finely, rim = n(`swash-${face}`) * size;
  const canvas = sheetOf(Math.ceil((found.width * size) / finely + 2 * rim), high * size), letters = penOf(canvas);
  letters.font = `${size}px ${family}`; letters.fillStyle = TYPED; letters.textAlign = "left";
  letters.fillText(text, rim, up);
  return { url: canvas.toDataURL("image/png"), widest: (canvas.width * n(face)) / size };
}

async function asked(text, hand) {
  if (preview && canDraw()) return drawnPlain(text);
  const answer = await post("letters", { text, hand }, { patience: 20_000 });
  if (!answer.ok) return { message: answer.message ?? answer.details?.[0].message };
  return { url: answer.picture, widest: answer.widest, missing: answer.missing };
}
