// Reading: zoom, and bringing a field into the free part of the screen.

import { $, $$, label, t } from "./dom.js";

const desk = $(".desk"), sheets = $(".sheets"), dock = $("#dock"), bar = $(".bar");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const LEAST = 1, MOST = 4, STEPS = [1, 1.25, 1.5, 2, 2.5, 3, MOST];
let zoom = 1;

export const size = () => zoom;
export const tight = () => sheets.offsetWidth < 560;
/** The middle of what bar and dock leave free. */
export const middle = () => ({ x: innerWidth / 2, y: (bar.offsetHeight + (dock?.getBoundingClientRect().top ?? innerHeight)) / 2 });

/** Grows or shrinks the pages; what lies at the point stays there. */
export function setZoom(to, point = middle()) {
  to = Math.min(MOST, Math.max(LEAST, to));
  if (to === zoom) return;
  const under = anchor(point);
  zoom = to;
  sheets.style.setProperty("--zoom", zoom);
  $("[data-zoom='0']").textContent = t("percent", { n: Math.round(zoom * 100) });
  $("[data-zoom='-1']").disabled = zoom <= LEAST;
  $("[data-zoom='1']").disabled = zoom >= MOST;
  under();
  dispatchEvent(new Event("zoomed"));
}

/** Remembers which part of which page lies at the point; call it to bring that part back there. */
function anchor({ x, y }) {
  const from = ({ top, bottom }) => Math.max(top - y, 0, y - bottom);
  const page = $$(".page").reduce((best, one) => (from(one.getBoundingClientRect()) < from(best.getBoundingClientRect()) ? one : best));
  const was = page.getBoundingClientRect(), inside = y > was.top && y < was.bottom;
  const across = (x - was.left) / was.width, down = inside ? (y - was.top) / was.height : y > was.top ? 1 : 0, rest = inside ? 0 : y - (y > was.top ? was.bottom : was.top);
  return () => {
    const now = page.getBoundingClientRect();
    scrollBy({ top: now.top + down * now.height + rest - y, behavior: "instant" });
    desk.scrollBy({ left: now.left + across * now.width - x, behavior: "instant" });
  };
}

/** One step larger (1), smaller (-1), or as wide as the screen (0). */
export function stepZoom(by) {
  if (by === 0) return setZoom(LEAST);
  setZoom(by > 0 ? STEPS.find((one) => one > zoom + 0.01) ?? MOST : STEPS.findLast((one) => one < zoom - 0.01) ?? LEAST);
}

/** On a small screen the page grows until what is printed on it can be read, and what is written in this place: 10 px. */
export function readable(place) {
  if (desk.clientWidth > 600) return;
  const { width } = place.closest(".page").getBoundingClientRect(), style = getComputedStyle(place);
  const letters = (style.getPropertyValue("--s") * width) / parseFloat(style.getPropertyValue("--ratio"));
  setZoom(zoom * Math.max(1, 580 / width, 10 / letters));
}

/** Scrolls so that the place stands in the middle of what bar and dock leave free. */
export function bring(place) {
  const view = visualViewport ?? { height: innerHeight };
  const box = place.getBoundingClientRect();
  const sticks = getComputedStyle(bar).position === "sticky";
  const top = Math.max(sticks ? bar.offsetHeight : 0, view.offsetTop ?? 0), free = (view.offsetTop ?? 0) + view.height - top - dock.offsetHeight;
  const down = box.top - top - Math.max(12, (free - box.height) * 0.45);
  const behavior = calm.matches || Math.abs(down) > 1.5 * innerHeight ? "instant" : "smooth";   // nobody reads what flies past
  scrollBy({ top: down, behavior });
  // More room before the field than after it: that is where its printed label stands.
  const frame = desk.getBoundingClientRect(), slack = Math.max(24, frame.width - box.width);
  const rtl = document.dir === "rtl";
  desk.scrollBy({ left: rtl ? box.right - frame.right + slack * 0.82 : box.left - frame.left - slack * 0.82, behavior });
}

const SHORT = 6;   // em: what is left of a name in less says nothing

/** Where a place has no room for its name, the pen gives way to the name, and the name to the pen where little of it would be left. */
export function shorten(places) {
  const named = places.map((place) => ({ place, words: $(".f-text", place) })).filter(({ words }) => words);
  const cut = ({ words }) => words.scrollWidth > words.clientWidth;
  for (const { place } of named) place.classList.remove("penless", "nameless");
  const tight = named.filter(cut);
  for (const { place } of tight) place.classList.add("penless");
  const tiny = tight.filter((one) => cut(one) && one.words.clientWidth < SHORT * parseFloat(getComputedStyle(one.words).fontSize));
  for (const { place } of tiny) place.classList.add("nameless");
}
new ResizeObserver(() => shorten($$(".field.ink:not(.filled), .field.other:not(.done)"))).observe(sheets);

$$("[data-zoom]").forEach((button) => button.addEventListener("click", () => stepZoom(Number(button.dataset.zoom))));

new ResizeObserver(() => document.documentElement.style.setProperty("--dock", `${dock.offsetHeight}px`)).observe(dock);

let held = null, was = visualViewport?.height;

/** Brings a place, and brings it again when the on-screen keyboard takes its room; null lets go. */
export function hold(place) {
  held = place;
  if (!place) return;
  bring(place);
  dispatchEvent(new CustomEvent("sought", { detail: place.closest(".page") }));
}

// Keep the dock above the on-screen keyboard where the browser lays the keyboard over the page, and the field above the dock.
for (const event of ["resize", "scroll"]) visualViewport?.addEventListener(event, () => {
  const { height, offsetTop, scale } = visualViewport, hidden = innerHeight - height - offsetTop;
  document.documentElement.style.setProperty("--kb", `${scale > 1 ? 0 : Math.max(0, hidden)}px`);
  const keyboard = scale <= 1 && height < was - 100; // less is the bar of addresses, which comes and goes while one reads
  was = height;
  if (held && keyboard) bring(held);
});

$("[data-text]").addEventListener("click", async () => {
  $("#menu").hidePopover();
  for (const view of $$("[data-view]")) view.setAttribute("aria-pressed", "false");
  const leave = () => { document.body.classList.remove("as-text"); $("[data-view='page']")?.click(); };
  try {
    (await import("./text.js")).read(leave);
  } catch {
    document.body.classList.add("as-text");
    $("#text").replaceChildren(label(t("textFailed"), "soft", "p"));
  }
});
