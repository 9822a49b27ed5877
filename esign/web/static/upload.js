// A picture of a signature, from a camera or a file, made anew: upright, cut to its ink, the paper taken away.

import { edges, part, penOf, png, sheetOf } from "./picture.js";

const SIDE = 900; // dots of what is kept
const GIANT = 120e6; // dots that no device should be asked to unpack
const TILES = 8; // along the longer side: paper is judged in parts, as a photograph is brighter in one corner
const PAPER = 0.82, INK = 0.55; // of the light of the paper around: above is clear, below is covered
const CROWDED = 0.3; // so much of a picture is no signature

/** The ink in the file as a data address. Throws an Error whose message is the key of the sentence that says why not. */
export async function inkIn(file) {
  const src = URL.createObjectURL(file);
  try {
    return cut(await opened(src, file));
  } finally {
    URL.revokeObjectURL(src);
  }
}

async function opened(src, file) {
  const image = new Image();
  const came = await new Promise((done) => { image.onload = () => done(true); image.onerror = () => done(false); image.src = src; });
  if (!came || !image.naturalWidth) throw new Error(await isHeic(file) ? "heicPicture" : "notPicture");
  if (image.naturalWidth * image.naturalHeight > GIANT) throw new Error("giantPicture");
  return image;
}

async function isHeic(file) {
  const head = new TextDecoder("latin1").decode(await file.slice(4, 12).arrayBuffer().catch(() => new ArrayBuffer(0)));
  return /^ftyp(hei|hev|mif1|msf1)/.test(head);
}

/** Looks for the ink in the whole picture, then takes only that part of it, at full sharpness. */
function cut(image) {
  const { naturalWidth: width, naturalHeight: height } = image;
  const whole = onWhite(image, { left: 0, top: 0, width, height });
  const found = edges(cleared(whole), 3);
  if (!found || found.dots < 40) throw new Error("emptyPicture");
  if (found.dots > CROWDED * whole.width * whole.height) throw new Error("darkPicture");
  const k = width / whole.width, rim = 0.06 * Math.max(found.width, found.height);
  const [left, top] = [Math.max(0, found.left - rim), Math.max(0, found.top - rim)];
  const right = Math.min(whole.width, found.left + found.width + rim), bottom = Math.min(whole.height, found.top + found.height + rim);
  const kept = onWhite(image, { left: left * k, top: top * k, width: (right - left) * k, height: (bottom - top) * k });
  penOf(kept).putImageData(cleared(kept), 0, 0);
  const url = png(kept);
  if (!url) throw new Error("emptyPicture");
  return url;
}

function onWhite(image, box) {
  const canvas = part(image, box, SIDE), pen = penOf(canvas);
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

const light = (data, i) => (data[i] * 299 + data[i + 1] * 587 + data[i + 2] * 114) / 1000;

/** The dots of a picture with its paper made clear: by how much darker each is than the paper around it. */
function cleared(canvas) {
  const picture = penOf(canvas).getImageData(0, 0, canvas.width, canvas.height), { data } = picture, paper = paperOf(canvas);
  for (let i = 0; i < data.length; i += 4) {
    const ground = paper[i] || 1, covers = Math.min(1, Math.max(0, (PAPER - light(data, i) / ground) / (PAPER - INK)));
    for (let channel = i; channel < i + 3; channel++) {
      data[channel] = covers ? Math.max(0, ((data[channel] / ground - 1 + covers) / covers) * 0.85) * 255 : 0;
    }
    data[i + 3] = covers * 255;
  }
  return picture;
}

/** How bright the paper is under each dot: the brightest of each tile, flowing into its neighbours. */
function paperOf(canvas) {
  const blurred = part(canvas, { left: 0, top: 0, width: canvas.width, height: canvas.height }, 225);
  const { data, width, height } = penOf(blurred).getImageData(0, 0, blurred.width, blurred.height), tile = Math.ceil(Math.max(width, height) / TILES);
  const tiles = sheetOf(Math.ceil(width / tile), Math.ceil(height / tile)), pen = penOf(tiles), grid = pen.createImageData(tiles.width, tiles.height);
  let brightest = 0;
  for (let at = 0; at < width * height; at++) {
    const i = 4 * (Math.floor(Math.floor(at / width) / tile) * tiles.width + Math.floor((at % width) / tile)), level = light(data, at * 4);
    grid.data[i] = Math.max(grid.data[i], level);
    grid.data[i + 3] = 255;
    brightest = Math.max(brightest, level);
  }
  for (let i = 0; i < grid.data.length; i += 4) grid.data[i] = Math.max(grid.data[i], brightest * 0.5);
  pen.putImageData(grid, 0, 0);
  const spread = sheetOf(canvas.width, canvas.height), wide = penOf(spread);
  wide.drawImage(tiles, 0, 0, spread.width, spread.height);
  return wide.getImageData(0, 0, spread.width, spread.height).data;
}
