// A pad to draw on: curves through the middles of the points, as wide as a pen is pressed or a hand is slow.

import { penOf, png, sheetOf } from "./picture.js";

const INK = "#14213d", DOT = 1.8;
const WIDTHS = { least: 1.4, most: 3.4, first: 2.6, pressed: 4.6 };
const SHORTEST = 16; // of all strokes together: less was a slip

/** Takes strokes on the canvas; `changed` hears of each. What is drawn keeps its form when the canvas gets another one. */
export function padOn(canvas, changed) {
  const pen = penOf(canvas);
  let strokes = [], cleared = null, paper = null, view = { k: 1, x: 0, y: 0 }, finger = null;

  const show = () => {
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(...seen());
    for (const points of strokes) line(pen, points);
    changed();
  };
  const seen = () => { const dots = canvas.width / (canvas.clientWidth || 1); return [view.k * dots, 0, 0, view.k * dots, view.x * dots, view.y * dots]; };

  /** After the canvas got another size: the paper that was drawn on lies in its middle, as large as fits. */
  const fit = () => {
    const { clientWidth: width, clientHeight: height } = canvas, dots = Math.max(2, devicePixelRatio || 1);
    if (!width) return;
    if (!paper || !strokes.length) paper = { width, height };
    const k = Math.min(width / paper.width, height / paper.height);
    view = { k, x: (width - paper.width * k) / 2, y: (height - paper.height * k) / 2 };
    canvas.width = width * dots; canvas.height = height * dots;
    show();
  };

  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left - view.x) / view.k, y: (event.clientY - box.top - view.y) / view.k, t: event.timeStamp, pressure: event.pointerType === "pen" ? event.pressure : 0 };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (finger !== null || !event.isPrimary || event.button) return;
    finger = event.pointerId;
    canvas.setPointerCapture(finger);
    if (!strokes.length) fit();
    strokes.push([{ ...point(event), width: WIDTHS.first }]);
    changed();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== finger || !strokes.length) return;
    const points = strokes.at(-1), from = points.length, events = event.getCoalescedEvents?.() ?? [];
    for (const each of events.length ? events : [event]) add(points, point(each));
    line(pen, points, from, false);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => {
    if (event.pointerId !== finger) return;
    finger = null;
    if (strokes.length) line(pen, strokes.at(-1), strokes.at(-1).length); // it may have been cleared meanwhile
  });
  // A quick stroke is no fling: without this a browser may swallow the press that follows it.
  canvas.addEventListener("touchstart", (event) => event.preventDefault());

  return {
    fit,
    count: () => strokes.length,
    undoable: () => Boolean(strokes.length || cleared),
    undo() { if (strokes.length) strokes.pop(); else [strokes, cleared] = [cleared ?? [], null]; show(); },
    clear() { [strokes, cleared] = [[], strokes]; fit(); show(); },
    reset() { [strokes, cleared, finger] = [[], null, null]; fit(); },
    url: () => (strokes.reduce((sum, points) => sum + length(points), 0) < SHORTEST ? null : drawn(strokes)),
  };
}

function add(points, next) {
  const last = points.at(-1), pace = Math.hypot(next.x - last.x, next.y - last.y) / Math.max(1, next.t - last.t);
  const wanted = next.pressure ? WIDTHS.pressed * Math.max(0.2, next.pressure) : Math.max(WIDTHS.least, WIDTHS.most - pace * 1.3);
  points.push({ ...next, width: last.width + (wanted - last.width) * 0.3 });
}

const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
const length = (points) => points.reduce((sum, { x, y }, at) => sum + (at ? Math.hypot(x - points[at - 1].x, y - points[at - 1].y) : 0), 0);

/** Draws from that point on; `whole` up to the very end, which is only known when the stroke is. */
function line(pen, points, from = 1, whole = true) {
  pen.strokeStyle = pen.fillStyle = INK;
  pen.lineCap = pen.lineJoin = "round";
  if (whole && length(points) < DOT) { pen.beginPath(); pen.arc(points[0].x, points[0].y, DOT, 0, 7); return pen.fill(); }
  for (let i = Math.max(1, from - 1); i < points.length; i++) {
    const [a, b, c] = [points[i - 1], points[i], points[i + 1]];
    if (!c && !whole) return;
    const begin = i === 1 ? a : middle(a, b), end = c ? middle(b, c) : b;
    pen.lineWidth = b.width;
    pen.beginPath(); pen.moveTo(begin.x, begin.y); pen.quadraticCurveTo(b.x, b.y, end.x, end.y); pen.stroke();
  }
}

/** The strokes once more, as large as the seal keeps them. */
function drawn(strokes) {
  const points = strokes.flat(), rim = WIDTHS.pressed, xs = points.map(({ x }) => x), ys = points.map(({ y }) => y);
  const [left, top] = [Math.min(...xs) - rim, Math.min(...ys) - rim], [width, height] = [Math.max(...xs) + rim - left, Math.max(...ys) + rim - top];
  const k = Math.min(10, 1200 / width, 400 / height), canvas = sheetOf(width * k, height * k), pen = penOf(canvas);
  pen.setTransform(k, 0, 0, k, -left * k, -top * k);
  for (const stroke of strokes) line(pen, stroke);
  return png(canvas);
}
