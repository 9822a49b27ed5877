// The pictures of the pages: only those near the eye are held, sharper ones where the page is large; and where one is.
// What is needed first is fetched first, and what is passed is not fetched to its end: on a phone all share one slow line.
// When nothing else is missing, the page that the path leads to next is fetched as well.
// A page that cannot be drawn says so, and offers the file instead.

import { $, $$, t } from "./dom.js";
import "./zoom.js";

const NEAR = 1, FAR = 3;   // screens above and below: what is fetched, what is let go
const LANES = 2;           // pictures on their way at the same time
const FIRST = 1.15;        // so much may a picture be stretched before a sharper one is worth fetching
const sheets = $$(".page"), near = new Set(), far = new Set(sheets);
const AGAIN = 4000;        // milliseconds after which a picture is asked for again that the server had no time for
const BUSY = [429, 503];
const AHEAD = 2;           // the rank of the page that the path leads to next: after all that is near
const REFUSED = 400;       // the answer for a page that cannot be drawn in this size
const EMPTY = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const first = $("img", sheets[0]);
const loads = new Map();   // the picture that is on its way, by the one in whose place it will stand
const failed = new Set();  // pictures that did not come, and are not asked for now
let waiting = 0, last = scrollY;
let sought = $(".field.active")?.closest(".page") ?? null;   // the page that the path has led to, until it is shown

const ahead = () => $(".page[data-ahead]");
const pictures = (page) => $$(":scope > img", page);
const pageOf = (img) => img.closest(".page");
/** How many times the dots of the first picture the screen can show. */
function fineness(page) {
  const dots = page.clientWidth * devicePixelRatio * (visualViewport?.scale ?? 1);
  return Math.min(Number(page.dataset.finest ?? 3), Math.max(1, Math.ceil(dots / FIRST / Number($("img", page).getAttribute("width")))));
}

const address = (img, size) => (size > 1 ? `${img.dataset.src}?size=${size}` : img.dataset.src);
const held = (img) => Number(img.dataset.size ?? (img.src === EMPTY ? 0 : 1));

/** How many dots a page lies off the screen; 0 for one that is on it. */
function distance(page) {
  const { top, bottom } = page.getBoundingClientRect();
  return Math.max(top - innerHeight, -bottom, 0);
}

/** What is to be fetched, the most urgent first: the page of the field, the nearest, sharper ones for what is on the screen, the page ahead. */
function missing() {
  const rows = [], next = ahead();
  for (const page of new Set([sought, ...near, next].filter(Boolean))) {
    const off = distance(page), finest = fineness(page);
    for (const img of pictures(page)) {
      const has = held(img), size = has ? finest : Math.min(1, finest);
      if (has < size && !failed.has(img) && (!has || !off)) rows.push({ img, size, rank: rankOf(page, next, has), off });
    }
  }
  return rows.sort((a, b) => a.rank - b.rank || a.off - b.off);
}

function rankOf(page, next, has) {
  if (page === sought && !has) return -1;
  if (page === next && !near.has(page)) return AHEAD;
  return has ? 1 : 0;
}

/** Puts the picture in when it can be painted, so that nothing flashes; the one that is there stays until then. */
async function load(img, size) {
  const next = img.cloneNode();
  next.src = address(img, size);
  loads.set(img, next);
  const came = await next.decode().then(() => true, () => false);
  if (loads.get(img) !== next) return;   // it was passed meanwhile
  if (came) {
    next.dataset.size = size;
    img.replaceWith(next);
  } else {
    failed.add(img);
    await explain(img, next.src, size);
  }
  loads.delete(img);
  settle();
}

/** Ends the fetch of a picture: another address takes it off the line. */
function cancel(img) {
  const next = loads.get(img);
  loads.delete(img);
  if (next) next.src = EMPTY;
}

/** Finds out why a picture did not come: the page cannot be drawn so large, or not at all, or it is worth another try. */
async function explain(img, src, size) {
  const page = pageOf(img);
  const answer = await fetch(src).catch(() => null);
  if (!answer || BUSY.includes(answer.status)) setTimeout(() => { failed.delete(img); soon(); }, AGAIN);
  else if (answer.status !== REFUSED) return;
  else if (size > 1) {
    page.dataset.finest = size - 1;
    failed.delete(img);
  } else if (!img.classList.contains("filled") && page.dataset.finest !== "0") {
    page.dataset.finest = 0;
    img.alt = "";
    page.before($("#unshown").content.cloneNode(true));   // not on it: its fields can be filled in
  }
}

function release(img) {
  failed.delete(img);
  if (!held(img)) return;
  delete img.dataset.size;
  img.src = EMPTY;
}

function settle() {
  clearTimeout(waiting);
  waiting = 0;
  if (sought && pictures(sought).every((img) => held(img) || failed.has(img))) sought = null;
  if (!$(".sheets").clientWidth || !(sought || first.complete)) return;
  if (first.complete && first.isConnected && first.src !== EMPTY && !first.naturalWidth) first.src = EMPTY;   // asked for anew below
  const next = ahead();
  for (const page of far) if (page !== sought && page !== next) pictures(page).forEach(release);
  for (const img of [...loads.keys()]) if (sought ? pageOf(img) !== sought : !near.has(pageOf(img)) && pageOf(img) !== next) cancel(img);
  if (!sought && Math.abs(scrollY - last) > innerHeight) {   // pages fly past
    last = scrollY;
    return soon();
  }
  last = scrollY;
  for (const { img, size, rank } of missing()) {
    if (loads.size >= (rank === AHEAD ? 1 : LANES) || (sought && rank >= 0)) break;
    if (!loads.has(img)) load(img, size);
  }
}
const soon = () => { waiting ||= setTimeout(settle, 80); };

function watch(screens, meet) {
  const observer = new IntersectionObserver((seen) => { seen.forEach(meet); soon(); }, { rootMargin: `${screens * 100}% 0px` });
  for (const page of sheets) observer.observe(page);
}

/** The page comes before all others. */
function seek(page) {
  sought = page;
  settle();
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
  seek(page);
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
watch(0, () => {});   // what comes onto the screen may need a sharper picture
addEventListener("sought", ({ detail }) => seek(detail));
for (const event of ["ahead", "zoomed", "resize"]) addEventListener(event, soon);
for (const event of ["load", "error"]) first.addEventListener(event, soon);   // the others wait for the first
