// The pictures of the pages: only those near the eye are held, sharper ones where the page is large; and where one is.
// A page that cannot be drawn says so, and offers the file instead.

import { $, $$, t } from "./dom.js";
import "./zoom.js";

const NEAR = 1, FAR = 3;   // screens above and below: what is fetched, what is let go
const FIRST = 1.15;        // so much may a picture be stretched before a sharper one is worth fetching
const sheets = $$(".page"), near = new Set(), far = new Set(sheets);
const AGAIN = 4000;        // milliseconds after which a picture is asked for again that the server had no time for
const BUSY = [429, 503];
const REFUSED = 400;       // the answer for a page that cannot be drawn in this size
const EMPTY = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const first = $("img", sheets[0]);
let waiting = 0;

const pictures = (page) => $$(":scope > img", page);
/** How many times the dots of the first picture the screen can show. */
function fineness(page) {
  const dots = page.clientWidth * devicePixelRatio * (visualViewport?.scale ?? 1);
  return Math.min(Number(page.dataset.finest ?? 3), Math.max(1, Math.ceil(dots / FIRST / Number($("img", page).getAttribute("width")))));
}

const address = (img, size) => (size > 1 ? `${img.dataset.src}?size=${size}` : img.dataset.src);
const held = (img) => Number(img.dataset.size ?? (img.src === EMPTY ? 0 : 1));

/** Puts the picture in when it can be painted, so that nothing flashes; the one that is there stays until then. */
async function sharpen(img, size) {
  img.dataset.wanted = size;
  const next = Object.assign(img.cloneNode(), { src: address(img, size) });
  try {
    await next.decode();
  } catch {
    if (Number(img.dataset.wanted) !== size) return;
    await explain(img, next.src, size);
    delete img.dataset.wanted;
    return;
  }
  if (!img.isConnected || Number(img.dataset.wanted) !== size) return;
  next.dataset.size = size;
  delete next.dataset.wanted;
  img.replaceWith(next);
}

/** Finds out why a picture did not come: the page cannot be drawn so large, or not at all, or it is worth another try. */
async function explain(img, src, size) {
  const page = img.closest(".page");
  const answer = await fetch(src).catch(() => null);
  if (!page) return;
  if (!answer || BUSY.includes(answer.status)) setTimeout(soon, AGAIN);
  else if (answer.status !== REFUSED) return;
  else if (size > 1) {
    page.dataset.finest = size - 1;
    soon();
  } else if (!img.classList.contains("filled") && page.dataset.finest !== "0") {
    page.dataset.finest = 0;
    img.alt = "";
    page.before($("#unshown").content.cloneNode(true));   // not on it: its fields can be filled in
  }
}

function release(img) {
  delete img.dataset.wanted;
  if (!held(img)) return;
  delete img.dataset.size;
  img.src = EMPTY;
}

function settle() {
  waiting = 0;
  if (!$(".sheets").clientWidth || !first.complete) return;
  if (first.isConnected && first.src !== EMPTY && !first.naturalWidth) first.src = EMPTY;   // asked for anew below
  for (const page of far) pictures(page).forEach(release);
  for (const page of near) {
    const size = fineness(page);
    for (const img of pictures(page)) if (held(img) < size && Number(img.dataset.wanted ?? 0) < size) sharpen(img, size);
  }
}
const soon = () => { waiting ||= setTimeout(settle, 80); };

function watch(screens, meet) {
  const observer = new IntersectionObserver((seen) => { seen.forEach(meet); soon(); }, { rootMargin: `${screens * 100}% 0px` });
  for (const page of sheets) observer.observe(page);
}

/* where one is */
const where = $("#where");
let resting = 0;

function at() {
  let from = 0, to = sheets.length - 1;
  while (from < to) {
    const half = (from + to) >> 1;
    if (sheets[half].getBoundingClientRect().bottom > innerHeight / 3) to = half; else from = half + 1;
  }
  return from + 1;
}

function place() {
  where.textContent = t("pageOf", { n: at(), total: sheets.length });
  where.classList.add("moving");
  clearTimeout(resting);
  resting = setTimeout(() => where.classList.remove("moving"), 4000);
}

function show(number) {
  const page = sheets[Math.min(sheets.length, Math.max(1, number)) - 1];
  page.scrollIntoView({ block: "start", behavior: "instant" });
  page.focus({ preventScroll: true });
}

if (where) {
  let asked = false;
  addEventListener("scroll", () => {
    if (!asked) requestAnimationFrame(() => { asked = false; place(); });
    asked = true;
  }, { passive: true });
  if (scrollY) place();   // one may have gone on while this was loading
  const box = $("#goto"), input = $("#goto-page");
  box.addEventListener("toggle", (event) => { if (event.newState === "open") { input.value = at(); input.select(); } });
  box.addEventListener("submit", (event) => { event.preventDefault(); box.hidePopover(); show(Number(input.value)); });
}

watch(FAR, ({ target, isIntersecting }) => (isIntersecting ? far.delete(target) : far.add(target)));
watch(NEAR, ({ target, isIntersecting }) => (isIntersecting ? near.add(target) : near.delete(target)));
for (const event of ["zoomed", "resize"]) addEventListener(event, soon);
for (const event of ["load", "error"]) first.addEventListener(event, soon);   // the others wait for the first
