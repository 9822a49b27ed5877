// Guides: the edges and middles of the other fields of a page, and the middle of the page.

import { $$, h } from "./dom.js";
import { model } from "./model.js";

const REACH = 6; // pixels

export const clear = () => $$(".guide, .pos").forEach((one) => one.remove());

function draw(on, kind, at) {
  const line = h("div", { class: `guide ${kind}` });
  line.style[kind === "v" ? "left" : "top"] = `${at}%`;
  on.append(line);
}

/** What a drag on a sheet may snap to; read once, for nothing but what is dragged moves meanwhile. */
export function lines(on, skip) {
  const others = model.fields.filter((field) => field.page === Number(on.dataset.page) && !skip.has(field.id));
  return {
    on,
    x: [50, ...others.flatMap((f) => [f.x, f.x + f.width / 2, f.x + f.width])],
    y: [50, ...others.flatMap((f) => [f.y, f.y + f.height / 2, f.y + f.height])],
    rx: REACH / on.clientWidth * 100,
    ry: REACH / on.clientHeight * 100,
  };
}

function nearest(points, targets, reach) {
  let best = null;
  for (const point of points) for (const at of targets) {
    const by = at - point;
    if (Math.abs(by) <= reach && (!best || Math.abs(by) < Math.abs(best.by) - 1e-6)) best = { by, at };
  }
  return best;
}

/** The shift that puts a box on guides; none with Alt. */
export function shift({ on, x, y, rx, ry }, box, event) {
  clear();
  if (event.altKey) return [0, 0];
  const across = nearest([box.x, box.x + box.width / 2, box.x + box.width], x, rx);
  const down = nearest([box.y, box.y + box.height, box.y + box.height / 2], y, ry);
  if (across) draw(on, "v", across.at);
  if (down) draw(on, "hz", down.at);
  return [across?.by ?? 0, down?.by ?? 0];
}

/** The same for one edge, `x` or `y`. */
export function edge(known, axis, point, event) {
  const found = event.altKey ? null : nearest([point], known[axis], known[`r${axis}`]);
  if (found) draw(known.on, axis === "x" ? "v" : "hz", found.at);
  return found ? found.at : point;
}

/** Says where something is while it moves. */
export function note(on, box, text) {
  const label = h("div", { class: "pos" }, text);
  label.style.left = `${Math.min(Math.max(box.x, 0), 86)}%`;
  label.style.top = `calc(${box.y + box.height}% + 8px)`;
  on.append(label);
}
