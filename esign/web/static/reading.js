// Reading: zoom, and bringing a field into the free part of the screen.

import { $, $$ } from "./dom.js";

const desk = $(".desk"), sheets = $(".sheets"), dock = $("#dock");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let zoom = 1;

export const tight = () => sheets.offsetWidth < 560;

export function setZoom(to) {
  zoom = Math.min(3, Math.max(1, to));
  sheets.style.setProperty("--zoom", zoom);
  $(".zoom output").textContent = zoom.toLocaleString(document.documentElement.lang, { style: "percent" });
  $("[data-zoom='-1']").disabled = zoom <= 1;
  $("[data-zoom='1']").disabled = zoom >= 3;
}

/** On a small screen the page grows until its letters can be read: 580 px make 10 pt into 10 px. */
export function readable() {
  if (tight()) setZoom((zoom * 580) / sheets.offsetWidth);
}

/** Scrolls so that the place stands in the middle of what bar and dock leave free. */
export function bring(place) {
  const view = visualViewport ?? { height: innerHeight };
  const box = place.getBoundingClientRect();
  const top = $(".bar").offsetHeight, free = view.height - top - dock.offsetHeight;
  const behavior = calm.matches ? "instant" : "smooth";
  scrollBy({ top: box.top - top - Math.max(12, (free - box.height) * 0.45), behavior });
  // More room before the field than after it: that is where its printed label stands.
  const frame = desk.getBoundingClientRect(), slack = Math.max(24, frame.width - box.width);
  const rtl = document.dir === "rtl";
  desk.scrollBy({ left: rtl ? box.right - frame.right + slack * 0.82 : box.left - frame.left - slack * 0.82, behavior });
}

$$("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
  const middle = scrollY + innerHeight / 2, before = document.body.scrollHeight;
  setZoom(zoom + 0.25 * Number(button.dataset.zoom));
  scrollTo({ top: middle * (document.body.scrollHeight / before) - innerHeight / 2, behavior: "instant" });
}));

new ResizeObserver(() => document.documentElement.style.setProperty("--dock", `${dock.offsetHeight}px`)).observe(dock);

// Keep the dock above the on-screen keyboard where the browser lays the keyboard over the page.
visualViewport?.addEventListener("resize", () => {
  const hidden = innerHeight - visualViewport.height - visualViewport.offsetTop;
  document.documentElement.style.setProperty("--kb", `${visualViewport.scale > 1 ? 0 : Math.max(0, hidden)}px`);
});
