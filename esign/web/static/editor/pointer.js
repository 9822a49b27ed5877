// Mouse, finger and pen on the pages: place, move also across pages, resize, select with a frame.

import { t } from "../words.js";
import { clamp, h, say, short } from "./dom.js";
import { canvas, draw, element, focusField, inside, percent, place, sheet, sheets, under } from "./canvas.js";
import { LEAST, arm, chosen, get, made, model, select, tell, update, where } from "./model.js";
import { add } from "./actions.js";
import { clear, edge, lines, note, shift } from "./snap.js";

const EDGE = 36, PACE = 12;      // pixels: where the canvas scrolls by itself, and how far in a frame

/**
 * Follows a pointer until it is let go: `move` with each event, `done` with whether it counts. Escape cancels; at the
 * upper and lower edge the canvas scrolls as long as the pointer stays there.
 */
export function track(el, down, move, done) {
  const id = down.pointerId;
  let last = null, frame = 0;
  const here = (act) => (event) => { if (event.pointerId === id) act(event); };
  const moved = here((event) => {
    event.preventDefault();
    if (!last && el.isConnected) el.setPointerCapture?.(id);
    last = event;
    move(event);
    frame ||= requestAnimationFrame(roll);
  });
  const up = here((event) => { if (last) move(event); end(true); });
  const cancelled = here(() => end(false));
  const key = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    end(false);
  };
  function roll() {
    frame = 0;
    const box = canvas.getBoundingClientRect(), before = canvas.scrollTop;
    if (!inside(last)) return;
    if (last.clientY > box.bottom - EDGE) canvas.scrollTop += PACE;
    else if (last.clientY < box.top + EDGE) canvas.scrollTop -= PACE;
    if (canvas.scrollTop === before) return;
    move(last);
    frame = requestAnimationFrame(roll);
  }
  function end(counts) {
    cancelAnimationFrame(frame);
    for (const [type, act] of Object.entries({ pointermove: moved, pointerup: up, pointercancel: cancelled })) removeEventListener(type, act);
    document.removeEventListener("keydown", key, true);
    clear();
    sheets.forEach((one) => one.classList.remove("over"));
    done(counts);
  }
  for (const [type, act] of Object.entries({ pointermove: moved, pointerup: up, pointercancel: cancelled })) addEventListener(type, act);
  document.addEventListener("keydown", key, true);
}

/** Guides of whichever sheet a drag is over, looked up when it changes. */
export function guides(skip) {
  let known = null;
  return (on) => (known?.on === on ? known : (known = lines(on, skip)));
}

const bounds = (fields) => {
  const x = Math.min(...fields.map((f) => f.x)), y = Math.min(...fields.map((f) => f.y));
  return { x, y, width: Math.max(...fields.map((f) => f.x + f.width)) - x, height: Math.max(...fields.map((f) => f.y + f.height)) - y };
};

function drag(event, el) {
  const id = el.dataset.id;
  event.preventDefault();
  el.focus({ preventScroll: true });
  if (event.shiftKey || event.ctrlKey || event.metaKey) return select([id], true);
  const already = model.selected.has(id);
  if (!already) select([id]);
  const lead = get(id), group = chosen().filter((field) => field.page === lead.page), whole = bounds(group);
  const [sx, sy] = percent(event, sheet(lead.page)), guide = guides(model.selected);
  const { clientX: x0, clientY: y0 } = event;
  let now = null;
  track(canvas, event, (at) => {
    if (!now && Math.hypot(at.clientX - x0, at.clientY - y0) < 3) return;
    const on = under(at) ?? sheet(now?.page ?? lead.page), [px, py] = percent(at, on);
    let dx = clamp(px - sx, -whole.x, 100 - whole.x - whole.width), dy = clamp(py - sy, -whole.y, 100 - whole.y - whole.height);
    if (at.shiftKey) if (Math.abs(px - sx) > Math.abs(py - sy)) dy = 0; else dx = 0;
    const box = { ...whole, x: whole.x + dx, y: whole.y + dy }, [ax, ay] = shift(guide(on), box, at);
    now = { page: Number(on.dataset.page), dx: dx + ax, dy: dy + ay };
    for (const field of group) {
      const its = element(field.id);
      its.classList.add("drag");
      if (its.parentNode !== on) on.append(its);
      place(its, { ...field, x: field.x + now.dx, y: field.y + now.dy });
    }
    note(on, { ...box, x: box.x + ax, y: box.y + ay }, t("at", { x: short(box.x + ax), y: short(box.y + ay) }));
  }, (counts) => {
    for (const field of group) element(field.id)?.classList.remove("drag");
    if (counts && now) update(group.map((field) => field.id), (field) => ({ page: now.page, x: field.x + now.dx, y: field.y + now.dy }));
    else if (counts && already && model.selected.size > 1) select([id]);
    if (!counts || !now) return draw({ all: true });
    focusField(id);
    say(t("moved", { where: where(get(id)) }));
  });
}

function resize(event, el, side) {
  event.preventDefault();
  const field = get(el.dataset.id), on = sheet(field.page), known = lines(on, new Set([field.id]));
  const right = field.x + field.width, bottom = field.y + field.height;
  let now = field;
  el.focus({ preventScroll: true });
  track(canvas, event, (at) => {
    const [px, py] = percent(at, on), next = { ...field };
    clear();
    if (side.includes("w")) { next.x = clamp(edge(known, "x", px, at), 0, right - LEAST); next.width = right - next.x; }
    if (side.includes("e")) next.width = clamp(edge(known, "x", px, at), field.x + LEAST, 100) - field.x;
    if (side.startsWith("n")) { next.y = clamp(edge(known, "y", py, at), 0, bottom - LEAST); next.height = bottom - next.y; }
    if (side.startsWith("s")) next.height = clamp(edge(known, "y", py, at), field.y + LEAST, 100) - field.y;
    now = next;
    place(el, now);
    note(on, now, t("box", { width: short(now.width), height: short(now.height) }));
  }, (counts) => {
    if (!counts || now === field) return draw({ all: true });
    update([field.id], () => now);
    say(t("sized", { width: short(now.width), height: short(now.height) }));
  });
}

function frame(event, on) {
  event.preventDefault();
  canvas.focus({ preventScroll: true });
  const before = event.shiftKey ? new Set(model.selected) : new Set(), [x0, y0] = percent(event, on);
  const here = model.fields.filter((field) => field.page === Number(on.dataset.page));
  let drawn = null, hit = before;
  if (!event.shiftKey && model.selected.size) select([]);
  track(canvas, event, (at) => {
    const [px, py] = percent(at, on).map((n) => clamp(n, 0, 100));
    const x = Math.min(x0, px), y = Math.min(y0, py), width = Math.abs(px - x0), height = Math.abs(py - y0);
    if (!drawn) {
      if (width < 0.6 && height < 0.6) return;
      drawn = h("div", { class: "marq" });
      on.append(drawn);
    }
    place(drawn, { x, y, width, height });
    hit = new Set([...before, ...here.filter((f) => f.x < x + width && f.x + f.width > x && f.y < y + height && f.y + f.height > y).map((f) => f.id)]);
    for (const field of here) element(field.id).classList.toggle("sel", hit.has(field.id));
  }, (counts) => {
    drawn?.remove();
    if (!drawn || !counts) return tell();
    draw({ all: true });
    select([...hit]);
    say(t("selected", { n: hit.size }));
  });
}

function put(event, on) {
  event.preventDefault();
  const type = model.armed, [x, y] = percent(event, on), box = made(type, Number(on.dataset.page), x, y);
  const [dx, dy] = shift(lines(on, new Set()), box, event);
  clear();
  add(type, Number(on.dataset.page), x + dx, y + dy);
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  const on = event.target.closest(".sheet"), el = event.target.closest(".fld"), side = event.target.dataset?.h;
  if (!on) {
    if (model.armed) arm(null);
    else if (model.selected.size) select([]);
  } else if (model.armed && !el) put(event, on);
  else if (side) resize(event, el, side);
  else if (el) drag(event, el);
  else if (event.pointerType === "mouse") frame(event, on);
  else if (model.selected.size) select([]);
});
canvas.addEventListener("dblclick", (event) => {
  if (event.target.closest(".fld")) dispatchEvent(new CustomEvent("properties"));
});
