// Pictures of ink: cut to what is seen, as a PNG that can be sent.

export const sheetOf = (width, height) => Object.assign(document.createElement("canvas"), { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) });
export const penOf = (canvas) => canvas.getContext("2d", { willReadFrequently: true });
const LARGEST = 950_000; // characters: two of them and the answers go into one request
const FAINT = 24; // as the seal sees it: a dot so much darker than paper is ink

let works = null;
/** Whether this browser lets a page draw, and read what was drawn: some forbid it to protect from being recognised. */
export function canDraw() {
  if (works !== null) return works;
  const pen = sheetOf(2, 2).getContext("2d");
  if (!pen) return (works = false);
  pen.fillStyle = "#14213d";
  pen.fillRect(0, 0, 2, 2);
  return (works = [...pen.getImageData(0, 0, 2, 2).data].every((level, at) => level === [0x14, 0x21, 0x3d, 0xff][at % 4]));
}

/** The rectangle of all ink, or null without any. Rows and columns with less than `least` dots of it count as dust. */
export function edges({ data, width, height }, least = 1) {
  const across = new Uint32Array(width), down = new Uint32Array(height);
  for (let at = 0; at < width * height; at++) {
    const i = at * 4, light = (data[i] * 299 + data[i + 1] * 587 + data[i + 2] * 114) / 1000;
    if (((255 - light) * data[i + 3]) / 255 > FAINT) { across[at % width]++; down[Math.floor(at / width)]++; }
  }
  const inked = (count) => count >= least, [left, top] = [across.findIndex(inked), down.findIndex(inked)];
  if (left < 0 || top < 0) return null;
  const dots = across.reduce((sum, count) => sum + count, 0);
  return { left, top, width: across.findLastIndex(inked) + 1 - left, height: down.findLastIndex(inked) + 1 - top, dots };
}

/** The part of a picture, at most so wide and high. */
export function part(source, { left, top, width, height }, side) {
  const k = Math.min(1, side / Math.max(width, height)), canvas = sheetOf(width * k, height * k), pen = penOf(canvas);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(source, left, top, width, height, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Its ink and nothing around it, as a data address; null without any. */
export function png(canvas) {
  const found = edges(penOf(canvas).getImageData(0, 0, canvas.width, canvas.height));
  if (!found) return null;
  let side = Math.max(found.width, found.height), url;
  do { url = part(canvas, found, side).toDataURL("image/png"); side *= 0.8; } while (url.length > LARGEST);
  return url;
}
