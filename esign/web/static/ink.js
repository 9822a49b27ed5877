// The sheet in which a signature or initials are given: drawn, or typed in one of the hands that the seal draws with.

import { $, $$, t, tell } from "./dom.js";

const sheet = $("#adopt"), text = $("#typed-text"), tabs = $$("[role=tab]", sheet);
const INK = "#14213d", TYPED = "#14181f";
// What each hand can draw; the plain face takes the rest. A hand sets a whole signature or none of it.
const HANDS = {
  a: /^[ -~\u00a1-\u00ac\u00ae-\u00ff]*$/u,
  b: /^[ -~\u00a1-\u00ac\u00ae-\u0125\u0128-\u012c\u012e-\u0130\u0134-\u0137\u0139-\u013d\u013f-\u0149\u014c-\u0165\u0168-\u017e]*$/u,
  c: /^[ -~\u00a1-\u00ac\u00ae-\u017e\u0400-\u045f]*$/u,
};
const LARGEST = { hand: 44, plain: 20 }; // points, as the seal draws them
const SWASH = { hand: 0.22, plain: 0.06 };

let ready = null, mode = "drawn", strokes = [];

/** Asks for ink of a kind, in one of the allowed ways; `done` gets {kind, url, …} when it was given. */
export function askInk(kind, allowed, done) {
  ready = done; strokes = [];
  const signature = kind === "signature", name = sheet.dataset.name;
  $("h2", sheet).textContent = t(signature ? "yourSignature" : "yourInitials");
  $("[for='typed-text']", sheet).textContent = t(signature ? "yourName" : "yourInitials");
  text.value = signature ? name : name.split(/\s+/).map((part) => [...part][0] ?? "").join("");
  for (const tab of tabs) tab.hidden = !allowed.includes(tab.dataset.mode);
  const shown = tabs.filter((tab) => !tab.hidden);
  $(".tabs", sheet).hidden = shown.length < 2;
  offer(); tell($("#adopt-error"));
  sheet.showModal();
  select(shown.find((tab) => tab.dataset.mode === mode) ?? shown[0] ?? tabs[0]);
  if (shown.length > 1) $("[aria-selected=true]", sheet).focus({ preventScroll: true }); else $("h2", sheet).focus();
}

function select(tab) {
  for (const one of tabs) {
    one.setAttribute("aria-selected", one === tab);
    one.tabIndex = one === tab ? 0 : -1;
    $(`#${one.getAttribute("aria-controls")}`).hidden = one !== tab;
  }
  mode = tab.dataset.mode; tell($("#adopt-error")); fit();
}

function offer() {
  const name = text.value.trim(), rows = $$(".style", sheet);
  for (const row of rows) {
    row.hidden = !HANDS[$("input", row).value]?.test(name);
    $(".typed", row).textContent = name;
  }
  rows.at(-1).hidden = rows.some((row) => !row.hidden);
  if ($("input:checked", sheet)?.closest(".style").hidden) $("input", rows.find((row) => !row.hidden)).checked = true;
}

tabs.forEach((tab, at) => {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const to = tabs[(at + step * (document.dir === "rtl" ? -1 : 1) + tabs.length) % tabs.length];
    if (!to.hidden) { select(to); to.focus(); }
  });
});
text.addEventListener("input", offer);
text.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); $("#adopt-done").click(); } });
$("#undo").addEventListener("click", () => { strokes.pop(); draw(); });
$("#clear").addEventListener("click", () => { strokes = []; draw(); });
$("#adopt-done").addEventListener("click", async () => {
  const ink = mode === "drawn" ? drawn() : await typed();
  if (!ink) return tell($("#adopt-error"), t(mode === "drawn" ? "drawFirst" : "typeFirst"));
  sheet.close(); ready(ink);
});

/* drawing: curves through the middles of the points, thinner where the hand is quick */
const canvas = $("#pad"), pen = canvas.getContext("2d", { willReadFrequently: true });
const scale = () => Math.max(2, devicePixelRatio || 1);

function draw() {
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(scale(), 0, 0, scale(), 0, 0);
  pen.strokeStyle = pen.fillStyle = INK; pen.lineCap = pen.lineJoin = "round";
  for (const points of strokes) {
    let width = 2.6;
    if (points.length < 3) { pen.beginPath(); pen.arc(points[0].x, points[0].y, 1.8, 0, 7); pen.fill(); continue; }
    for (let i = 1; i < points.length - 1; i++) {
      const [a, b, c] = [points[i - 1], points[i], points[i + 1]];
      const speed = Math.hypot(c.x - b.x, c.y - b.y) / Math.max(1, c.t - b.t);
      width += (Math.max(1.4, 3.4 - speed * 1.3) - width) * 0.3;
      pen.lineWidth = width; pen.beginPath();
      pen.moveTo((a.x + b.x) / 2, (a.y + b.y) / 2); pen.quadraticCurveTo(b.x, b.y, (b.x + c.x) / 2, (b.y + c.y) / 2); pen.stroke();
    }
  }
  $(".ghost", sheet).hidden = strokes.length > 0;
  for (const id of ["#undo", "#clear"]) $(id).disabled = !strokes.length;
}
function fit() {
  const { width, height } = canvas.getBoundingClientRect();
  if (width) { canvas.width = width * scale(); canvas.height = height * scale(); draw(); }
}
addEventListener("resize", () => sheet.open && fit());

let drawing = false;
const at = (event) => { const box = canvas.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top, t: event.timeStamp }; };
canvas.addEventListener("pointerdown", (event) => {
  if (!event.isPrimary || event.button) return;
  canvas.setPointerCapture(event.pointerId);
  drawing = true; strokes.push([at(event)]); tell($("#adopt-error")); draw();
});
canvas.addEventListener("pointermove", (event) => {
  if (!drawing) return;
  const events = event.getCoalescedEvents?.() ?? [];
  for (const each of events.length ? events : [event]) strokes.at(-1).push(at(each));
  draw();
});
// A quick stroke is no fling: without this a browser may swallow the press that follows it.
canvas.addEventListener("touchstart", (event) => event.preventDefault());
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { drawing = false; });

function drawn() {
  if (!strokes.some((stroke) => stroke.length > 3)) return null;
  return { kind: "drawn", url: cut(canvas) };
}

/** Only what is drawn, with a thin rim, at most 1,200 dots wide: a small PNG that prints sharply. */
function cut(source) {
  const { width, height } = source, dots = source.getContext("2d").getImageData(0, 0, width, height).data;
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    if (dots[(y * width + x) * 4 + 3]) { left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y); }
  }
  const [w, h] = [right - left + 13, bottom - top + 13], k = Math.min(1, 1200 / w);
  const out = Object.assign(document.createElement("canvas"), { width: w * k, height: h * k });
  out.getContext("2d").drawImage(source, left - 6, top - 6, w, h, 0, 0, out.width, out.height);
  return out.toDataURL("image/png");
}

/** The typed name as the seal will draw it: same face, same room around it; `widest` is its width in points at the largest size. */
async function typed() {
  const words = text.value.trim();
  if (!words) return null;
  const hand = $("input[name=style]:checked", sheet).value || null, face = hand ? "hand" : "plain", size = 120;
  const font = `${size}px ${hand ? `"Esign Hand ${hand.toUpperCase()}"` : getComputedStyle(document.body).fontFamily}`;
  await document.fonts.load(font, words).catch(() => []);
  const sheetOf = document.createElement("canvas"), p = sheetOf.getContext("2d");
  p.font = font;
  const { width, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = p.measureText(words);
  const rim = SWASH[face] * size;
  sheetOf.width = Math.ceil(width + 2 * rim); sheetOf.height = Math.ceil((up + down) / 0.92);
  p.font = font; p.fillStyle = TYPED; p.textAlign = "left";
  p.fillText(words, rim, sheetOf.height * 0.96 - down);
  return { kind: "typed", text: words, hand, url: sheetOf.toDataURL("image/png"), widest: (sheetOf.width * LARGEST[face]) / size };
}
