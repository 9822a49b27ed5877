// The guided path through the fields. One control per step: it lives in the form and is lent to the dock while its step is active.

import { $, $$, composing, label, picture, refusal, say, t } from "./dom.js";
import { isInk, missing, shown, value, wrong } from "./checks.js";
import { askInk } from "./ink.js";
import { choices, letter } from "./lettering.js";
import { bring, hold, readable, setZoom, shorten, tight } from "./reading.js";

const [dock, slot, next, back, text, meter] = ["#dock", "#slot", "#next", "#back", "#dock-text", "#meter"].map((s) => $(s));

export const all = $$("#answers [data-step]").map(read);
export const apart = $("#apart") && read($("#apart"));
const path = all.filter((a) => a.kind !== "fixed");
const adopted = {};
const MODAL = `dialog[open], ${CSS.supports("selector(:popover-open)") ? ":popover-open" : "[popover].shown"}`;
let active = null, review = () => {};

function read(box) {
  const controls = $$("[data-field]", box);
  const ids = [...new Set(controls.map((control) => control.dataset.field))];
  return {
    box, id: box.dataset.step, kind: box.dataset.kind, label: box.dataset.label, required: "required" in box.dataset,
    allowed: (box.dataset.allowed ?? "").split(" "), control: controls[0], controls, ink: null, told: null,
    parts: ids.map((id) => ({ id, place: $(`#f-${id}`), control: controls.find((control) => control.dataset.field === id) })),
    mark: box.parentNode.insertBefore(document.createComment(""), box), came: controls.some(came),
  };
}

/** Whether the page came with an answer: that is no progress of the one who reads it. */
function came(control) {
  if (control.options) return Boolean($("[selected]", control));
  return control.type === "checkbox" || control.type === "radio" ? control.defaultChecked : Boolean(control.defaultValue);
}

const bad = (a) => a.box.classList.contains("wrong");
const begun = () => path.some((a) => value(a) && !missing(a) && a.touched);
const open = () => path.filter((a) => missing(a) || bad(a));
/** The next to come by after this step: what was filled in here before is passed over. */
const after = (a) => path.find(bad) ?? path.slice(path.indexOf(a) + 1).find((one) => !one.touched || !value(one) || missing(one)) ?? open()[0];
/** The step that the button leads to. */
const nextStep = () => (active ? after(active) : (begun() ? open()[0] : path.find((a) => !value(a) || missing(a))) ?? path[0]);
const focusable = (a) => $("input:checked, input, select, textarea, .put", a.box);
/** What has the focus while the step is active: its control, or the large button where that does the same. */
const target = (a) => (focusable(a)?.getClientRects().length ? focusable(a) : next);

function paint(a) {
  const wrong = bad(a), filled = Boolean(value(a)), wordy = !isInk(a.kind) && a.kind !== "checkbox" && a.kind !== "group";
  if (isInk(a.kind)) paintPut(a);
  for (const { place, control } of a.parts) {
    if (!place) continue;
    const on = a.kind === "group" ? control.checked : filled;
    place.classList.toggle("filled", on && !wrong);
    place.classList.toggle("problem", wrong);
    const key = wrong ? "stateWrong" : !on ? (a.required ? "stateNeeded" : "stateOptional") : wordy ? "stateFilled" : "stateDone";
    place.setAttribute("aria-label", t(key, { label: place.dataset.label, value: wordy ? shown(a) : "" }));
    if (isInk(a.kind)) paintInk(place, a.ink);
    else if (a.kind === "radio") { for (const one of $$(".option", place)) one.classList.toggle("chosen", one.dataset.option === value(a)); choices(place); }
    else if (wordy) filled ? letter(place, shown(a)) : unset(place);
  }
  const clear = $(".clear", a.box);
  if (clear) clear.hidden = !filled;
}

function unset(place) {
  const words = $(".f-text", place);
  words.textContent = place.dataset.label;
  words.classList.remove("folded", "over", "high");
}

/** What is there before anybody fills in anything, and once more all of it when the letters have come. */
function reletter() {
  for (const place of $$(".field.filled .f-text, .field .options").map((words) => words.closest(".field"))) {
    if (place.classList.contains("radio")) choices(place);
    else if (!place.classList.contains("ink")) letter(place, $(".f-text", place).textContent);
  }
}

function paintInk(place, ink) {
  $("img", place)?.remove();
  $(".f-text", place).hidden = Boolean(ink);
  if (!ink) return shorten([place]);
  const img = picture(ink.url);
  if (ink.widest) img.style.setProperty("--widest", ink.widest);
  place.classList.toggle("typed", ink.kind === "typed");
  place.prepend(img);
}

function paintPut(a) {
  a.control.classList.toggle("has", Boolean(a.ink));
  const ask = label(t(a.kind === "signature" ? "addSignature" : "addInitials"));
  a.control.replaceChildren(...(a.ink ? [picture(a.ink.url), label(t("change"), "again on-paper")] : [ask]));
}

// The button keeps its nodes: replacing them between press and release would swallow the click.
function step(does, action, name, count = "") {
  next.dataset.does = does;
  next.dataset.action = action;
  if (does === "ink") Object.assign(next.dataset, { field: active.id, type: active.kind });   // it is the control of the field
  else for (const one of ["field", "type"]) delete next.dataset[one];
  $("span", next).textContent = name;
  $(".count", next).textContent = count;
  $(".count", next).hidden = !count;
}

/** The page that the button leads to is fetched while there is time. */
function markAhead() {
  const page = nextStep()?.parts[0].place?.closest(".page"), before = $(".page[data-ahead]");
  if (page === (before ?? undefined)) return;
  if (before) delete before.dataset.ahead;
  if (page) page.dataset.ahead = "";
  dispatchEvent(new Event("ahead"));
}

function bar() {
  markAhead();
  const left = open(), needed = path.filter((a) => a.required && (!a.came || left.includes(a)));
  const done = needed.filter((a) => !left.includes(a)).length, total = needed.length;
  meter.hidden = !total;
  meter.style.setProperty("--done", done / total);
  meter.setAttribute("aria-valuemax", total);
  meter.setAttribute("aria-valuenow", done);
  meter.setAttribute("aria-valuetext", t("progress", { done, all: total }));
  dock.classList.toggle("filling", Boolean(active));
  back.hidden = slot.hidden = !active;
  if (active) {
    const here = path.indexOf(active), count = t("place", { here: here + 1, all: path.length });
    back.disabled = here === 0;
    if (!active.required && !value(active)) return step("next", "next", t("skip"), count);
    if (isInk(active.kind) && !active.ink) return step("ink", "sign", t(active.kind === "signature" ? "signHere" : "initialHere"), count);
    if (left.length || after(active)) return step("next", "next", t("next"), count);
    return step("review", "next", t("review"));
  }
  if (!left.length) {
    step("review", "next", t("review"));
    return text.replaceChildren(t(path.length ? "allFilled" : "nothingToFill"), label(t("allFilledMore"), "", "small"));
  }
  step("go", begun() ? "next" : "sign", t(begun() ? "carryOn" : "start"));
  const count = begun() ? t("leftOver", { n: left.length }) : t("toFill", { n: path.length });
  text.replaceChildren(count, label(t("notFinal"), "", "small"));
}

export function leave() {
  if (active) {
    for (const { place } of active.parts) place?.classList.remove("active");
    active.mark.after(active.box);
    active = null;
    hold(null);
  }
  bar();
}

export function go(a, focus = true) {
  if (document.body.classList.contains("as-text")) view("page");
  leave();
  if (document.body.classList.contains("as-form")) {
    a.box.scrollIntoView({ block: "center" });
    return focusable(a)?.focus({ preventScroll: true });
  }
  active = a;
  slot.append(a.box);
  for (const { place } of a.parts) place.classList.add("active");
  bar(); readable(a.parts[0].place);
  hold(a.parts[0].place);
  show(target(a));
  if (focus) target(a).focus({ preventScroll: true });
  say(t("nowAt", { label: a.label, here: path.indexOf(a) + 1, all: path.length }));
}

/** Scrolls the control of the step into the dock, where large letters leave room for less than the step. */
function show(control) {
  slot.scrollTop = 0;
  if (!slot.contains(control)) return;
  const box = (control.closest(".choice") ?? control).getBoundingClientRect(), frame = slot.getBoundingClientRect();
  slot.scrollTop = Math.min(box.bottom - frame.bottom + 6, box.top - frame.top - 6);
}

/** Shows at the step what is wrong with it; with `whole`, also what is missing. */
export function check(a, whole = false) {
  const message = wrong(a) || (whole ? missing(a) : "");
  const line = $(".error", a.box);
  a.box.classList.toggle("wrong", Boolean(message));
  for (const control of a.controls) message ? control.setAttribute("aria-invalid", "true") : control.removeAttribute("aria-invalid");
  line.hidden = !message;
  $("span", line).textContent = message;
  paint(a);
  return !message;
}

function forward() {
  if (next.dataset.does === "review") return review();
  if (next.dataset.does === "ink") return adopt(active);
  if (!active && document.body.classList.contains("as-form")) return settled();
  if (!active) return go(nextStep());
  if (!check(active)) {
    list(path.filter(bad));
    bring(active.parts[0].place);
    if (active.box.contains(document.activeElement)) say($(".error span", active.box).textContent); // focus stays, so nothing else reads it
    return focusable(active).focus({ preventScroll: true });
  }
  const then = after(active);
  if (then) go(then); else rest();
}

function rest() { leave(); setZoom(1); }

/** Everything checked once more: what needs a correction is listed, and the first of it becomes active. */
export function settled() {
  const wrongs = path.filter((a) => !check(a, true));
  list(wrongs);
  if (wrongs.length) go(wrongs[0]); else rest();
  return !wrongs.length;
}

/** What the server said about answers, kept at each step until its value changes; the first step to correct. */
export function correct(details) {
  for (const detail of details) {
    const id = detail.path.replace("/answers/", ""), a = [...path, apart].find((one) => one?.parts.some((part) => part.id === id));
    if (a) { a.told = { value: value(a), message: refusal(detail) }; check(a); }
  }
  const wrongs = path.filter(bad);
  list(wrongs);
  return wrongs[0];
}

function list(wrongs) {
  const box = $("#problems");
  box.hidden = !wrongs.length;
  $("h2", box).textContent = t("correct", { n: wrongs.length });
  $("ul", box).replaceChildren(...wrongs.map((a) => {
    const row = document.createElement("li"), button = Object.assign(label(a.label, "link", "button"), { type: "button" });
    button.addEventListener("click", () => go(a));
    row.append(button, ": ", label($(".error span", a.box).textContent, "", "bdi"));
    return row;
  }));
}
const relist = () => { if (!$("#problems").hidden) list(path.filter(bad)); };

/* signature and initials: adopted once, then a press puts them in place */
export function adopt(a, again = false) {
  const own = (adopted[a.kind] ??= []), ink = own.find(({ kind }) => a.allowed.includes(kind));
  if (ink && !again) return put(a, ink);
  askInk(a.kind, a.allowed, (given) => { own.unshift(given); put(a, given); });
}

function put(a, ink) {
  a.ink = ink; a.touched = true;
  a.box.dispatchEvent(new Event("change", { bubbles: true }));
  say(t("placed", { label: a.label }));
  if (a === apart) return a.control.focus();
  go(a, false);
  next.focus({ preventScroll: true });
}

/** Takes back what can't be taken back at its control: ink, and the choice of a radio button. */
function empty(a) {
  if (isInk(a.kind)) a.ink = null; else for (const control of a.controls) control.checked = false;
  for (const type of ["input", "change"]) a.box.dispatchEvent(new Event(type, { bubbles: true }));
  target(a).focus({ preventScroll: true });
  say(t(a.required ? "stateNeeded" : "stateOptional", { label: a.label }));
}

/** What was entered before stands in its step again. */
export function restored(a) {
  a.touched = true;
  if (a.ink) (adopted[a.kind] ??= []).push(a.ink);
  check(a); relist(); bar();
}

function pressed(a, { control }, event) {
  const option = event.target.closest("[data-option]"), near = tight();
  go(a);
  if (isInk(a.kind) && !a.ink) return adopt(a);
  if (near) return; // too small to be sure: the dock asks
  if (a.kind === "checkbox" || a.kind === "group") control.click();
  if (option) a.controls.find((one) => one.value === option.dataset.option)?.click();
}

function watch(a) {
  paint(a);
  a.box.addEventListener("input", () => { a.touched = true; if (bad(a)) { check(a); relist(); } else paint(a); bar(); });
  a.box.addEventListener("change", (event) => { only(a, event.target); check(a); relist(); bar(); });
  $(".put", a.box)?.addEventListener("click", () => adopt(a, Boolean(a.ink)));
  $(".clear", a.box)?.addEventListener("click", () => empty(a));
  if (a !== apart) for (const part of a.parts) part.place?.addEventListener("click", (event) => pressed(a, part, event));
}

/** Boxes of which one may be ticked behave as radio buttons do. */
function only(a, ticked) {
  if (a.box.dataset.most === "1" && ticked.checked) for (const { control } of a.parts) control.checked = control === ticked;
}

export function begin(onReview) {
  review = onReview;
  for (const a of [...path, apart]) if (a) watch(a);
  reletter();
  document.fonts.addEventListener("loadingdone", reletter);
  next.addEventListener("click", forward);
  back.addEventListener("click", () => path.indexOf(active) > 0 && go(path[path.indexOf(active) - 1]));
  $("#answers").addEventListener("submit", (event) => { event.preventDefault(); forward(); });
  document.addEventListener("keydown", (event) => {
    if (composing(event)) return;
    if (event.key === "Enter" && active && event.target.matches("#slot input")) { event.preventDefault(); forward(); }
    if (event.key === "Escape" && active && !$(MODAL)) { const { place } = active.parts[0]; rest(); place.focus(); }
  });
  $$("[data-view]").forEach((button) => button.addEventListener("click", () => {
    view(button.dataset.view);
    if (!button.getClientRects().length) $$("[data-view]").find((one) => one.getClientRects().length)?.focus();   // where only one has room
  }));
  $$("[data-see]").forEach((button) => button.addEventListener("click", () => { view("page"); $(`#page-${button.dataset.see}`).scrollIntoView({ block: "start" }); }));
  smallPages();
  bar();
  for (const control of $$("[data-view], [data-see], [data-open], #next")) control.disabled = false; // until now a press would have been lost
  if (location.hash === "#form" && path.length) view("form");
}

function view(name) {
  leave();
  document.body.classList.toggle("as-form", name === "form");
  document.body.classList.remove("as-text");
  $$("[data-view]").forEach((button) => button.setAttribute("aria-pressed", button.dataset.view === name));
  for (const a of path) paint(a);
  say(t(name === "form" ? "viewForm" : "viewPage"));
}

// Where the page is too small to hit a field, fields leave the tab order (the dock leads to them), and a press close to one means that one.
function smallPages() {
  const places = path.flatMap((a) => a.parts.map(({ place }) => place)), sheets = $(".sheets");
  new ResizeObserver(() => { for (const place of places) place.tabIndex = tight() ? -1 : 0; }).observe(sheets);
  sheets.addEventListener("click", (event) => {
    if (event.target.closest("button")) return;
    const far = (place) => {
      const box = place.getBoundingClientRect();
      return Math.hypot(Math.max(box.left - event.clientX, 0, event.clientX - box.right), Math.max(box.top - event.clientY, 0, event.clientY - box.bottom));
    };
    const near = places.reduce((best, place) => (!best || far(place) < far(best) ? place : best), null);
    if (near && far(near) < 20) near.click();
  });
}
