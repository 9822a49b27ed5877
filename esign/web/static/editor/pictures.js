// The pictures of the pages: a sharper one where a page is seen large; thumbnails say where one is and how many fields are there.

import { $, $$ } from "./dom.js";
import { canvas, inView, sheets } from "./canvas.js";
import { model, watch } from "./model.js";

const STRETCH = 1.15;            // so much may a picture be stretched before a sharper one is worth fetching
const near = new Set(), thumbs = $$("#thumbs a");
let waiting = 0, current = null;

function fineness(img) {
  const dots = img.clientWidth * devicePixelRatio / STRETCH, natural = Number(img.dataset.natural ?? img.naturalWidth);
  return natural ? Math.min(3, Math.max(1, Math.ceil(dots / natural))) : 1;
}

/** Puts the picture in when it can be painted, so that nothing flashes. */
async function sharpen(img) {
  if (!img.complete) return img.addEventListener("load", soon, { once: true });
  img.dataset.natural ??= img.naturalWidth;
  const size = fineness(img);
  if (size <= Number(img.dataset.size ?? 1)) return;
  img.dataset.size = size;
  const next = new Image();
  next.src = `${(img.dataset.src ??= img.getAttribute("src"))}&size=${size}`;
  try {
    await next.decode();
    img.src = next.src;
  } catch {
    delete img.dataset.size;
  }
}

const soon = () => { waiting ||= setTimeout(() => { waiting = 0; near.forEach((on) => sharpen($("img", on))); }, 150); };

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? near.add(target) : near.delete(target);
  soon();
}, { root: canvas, rootMargin: "50% 0px" });
for (const on of sheets) seen.observe(on);
addEventListener("zoomed", soon);

/* thumbnails */
function mark() {
  const page = Number(inView().dataset.page);
  if (page === current || !thumbs.length) return;
  thumbs[(current ?? 1) - 1].removeAttribute("aria-current");
  current = page;
  const thumb = thumbs[page - 1];
  thumb.setAttribute("aria-current", "true");
  const list = $("#thumbs"), { offsetTop: top, offsetHeight: height } = thumb;
  if (top < list.scrollTop || top + height > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
}
let asked = false;
canvas.addEventListener("scroll", () => {
  if (!asked) requestAnimationFrame(() => { asked = false; mark(); });
  asked = true;
}, { passive: true });

function counts({ fields: changed = true } = {}) {
  if (!changed) return;
  const found = new Map();
  for (const { page } of model.fields) found.set(page, (found.get(page) ?? 0) + 1);
  thumbs.forEach((thumb, n) => {
    const here = found.get(n + 1) ?? 0, count = $(".count", thumb);
    if (count.textContent !== String(here)) count.textContent = here;
    count.hidden = !here;
  });
}
watch(counts);
for (const thumb of thumbs) {
  thumb.addEventListener("click", (event) => {
    event.preventDefault();
    sheets[Number(thumb.dataset.page) - 1].scrollIntoView({ block: "start", behavior: "instant" });
  });
}
export function begin() {
  counts();
  mark();
}
