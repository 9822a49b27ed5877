// Zoom by two fingers, by Ctrl and the wheel, and by keys while the focus is on the document.

import { $ } from "./dom.js";
import { setZoom, size, stepZoom } from "./reading.js";

const desk = $(".desk"), sheets = $(".sheets");
const KEYS = { "+": 1, "=": 1, "-": -1, "0": 0 };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  if (event.target.matches("input, textarea, select") || !event.target.closest(".desk, .zoom")) return;
  event.preventDefault();
  stepZoom(KEYS[event.key]);
});

desk.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
  setZoom(size() * Math.exp(-Math.max(-60, Math.min(60, event.deltaY * lines)) / 200), { x: event.clientX, y: event.clientY });
}, { passive: false });

/* While the fingers move, the pages are only stretched; laid out anew they are when the fingers leave. */
let pinch = null;
const apart = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
const between = ([a, b]) => ({ x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2 });

desk.addEventListener("touchstart", ({ touches }) => {
  if (touches.length !== 2) return;
  const box = sheets.getBoundingClientRect(), at = between(touches);
  pinch = { from: apart(touches), at, now: at, to: size() };
  sheets.style.setProperty("transform-origin", `${at.x - box.left}px ${at.y - box.top}px`);
}, { passive: true });

desk.addEventListener("touchmove", (event) => {
  if (!pinch || event.touches.length !== 2) return;
  event.preventDefault();
  pinch.now = between(event.touches);
  pinch.to = Math.min(4, Math.max(1, (size() * apart(event.touches)) / pinch.from));
  sheets.style.setProperty("scale", pinch.to / size());
  sheets.style.setProperty("translate", `${pinch.now.x - pinch.at.x}px ${pinch.now.y - pinch.at.y}px`);
}, { passive: false });

for (const end of ["touchend", "touchcancel"]) desk.addEventListener(end, () => {
  if (!pinch) return;
  const { to, at, now } = pinch;
  pinch = null;
  for (const property of ["scale", "translate", "transform-origin"]) sheets.style.removeProperty(property);
  setZoom(to, at);
  scrollBy({ top: at.y - now.y, behavior: "instant" });
  desk.scrollBy({ left: at.x - now.x, behavior: "instant" });
});
