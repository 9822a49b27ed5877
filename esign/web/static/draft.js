// What is entered is kept on the server while it is entered, so that it stands here again after a reload and on another
// device. Each value carries the time at which it was entered, by the server's clock: the newest of all tabs and devices wins.

import { $, open, post, reload, state, t } from "./dom.js";
import { inkOf, isInk } from "./checks.js";
import { all, apart, restored } from "./path.js";
import { typedInk } from "./letters.js";

const TYPING = 1_500, CHOSEN = 300, PATIENCE = 15_000, RETRY = [4_000, 60_000], LAST = 2_000;

const steps = [...all.filter((a) => a.kind !== "fixed"), apart].filter(Boolean);
const line = $("#kept"), key = `draft:${location.pathname}`;
const unsent = new Map(), known = new Map(); // field id to the time of its value here
let ahead = -Infinity, seen = 0, timer = 0, busy = 0, retry = RETRY[0], left = false, heard = "";
let saving = null, paused = false;

const stepOf = (id) => steps.find((a) => a.parts.some((part) => part.id === id));

/* what stands in a control, as it was entered */
function entered(a, id, sent) {
  if (isInk(a.kind)) return a.ink ? inkOf(a, sent) : null;
  if (a.kind === "radio") return $("input:checked", a.box)?.value ?? "";
  const { control } = a.parts.find((part) => part.id === id);
  return control.type === "checkbox" ? control.checked : control.value;
}

async function show(a, id, given, at) {
  if (isInk(a.kind)) {
    const ink = given?.kind === "typed" ? await typedInk(given.text, given.hand) : given && { kind: given.kind, url: given.picture };
    if (known.get(id) !== at) return; // another one was given while this was drawn
    a.ink = ink;
  } else if (a.kind === "radio") for (const one of a.controls) one.checked = one.value === given;
  else {
    const { control } = a.parts.find((part) => part.id === id);
    if (control.type === "checkbox") control.checked = given; else control.value = given;
  }
  restored(a);
  document.dispatchEvent(new Event("restored"));
}

function touch(a) {
  for (const { id } of a.parts) {
    const at = Math.max(Math.round(performance.now() + ahead), (known.get(id) ?? 0) + 1);
    known.set(id, at); unsent.set(id, at);
  }
}

function values(batch) {
  const sent = new Map();
  return Object.fromEntries([...batch].map(([id, at]) => [id, { at, value: entered(stepOf(id), id, sent) }]));
}

/** Shows what is newer than what stands here; whether there was anything. */
function take({ now, revision, values: given = {} }) {
  ahead = Math.max(ahead, now - performance.now());
  seen = Math.max(seen, revision);
  return accept(given, (id) => unsent.delete(id));
}

/** What stood in a control before a reload or the way back, the browser puts there again before it shows the page. */
function showAgain({ values: given = {} }) {
  for (const [id, { at, value }] of Object.entries(given)) {
    const a = stepOf(id);
    if (a && !isInk(a.kind) && known.get(id) === at) show(a, id, value, at);
  }
}

function accept(given, then) {
  const newer = Object.entries(given).filter(([id, { at }]) => stepOf(id) && at > (known.get(id) ?? 0));
  for (const [id, { at, value }] of newer) {
    known.set(id, at); then(id, at);
    const shared = given[value?.picture]?.value;
    show(stepOf(id), id, shared ?? value, at);
  }
  return newer.length > 0;
}

/* sending */
function later(wait) {
  if (!timer) timer = setTimeout(sync, wait);
}

/** Sends what was entered and fetches what was entered elsewhere; `keepalive` outlives the page. */
async function sync(keepalive = false) {
  clearTimeout(timer); timer = 0;
  if (paused) return;
  if (busy && keepalive !== true) return later(TYPING);
  busy++;
  const batch = new Map(unsent);
  saving = post("draft", { since: seen, values: values(batch) }, { patience: PATIENCE, keepalive: keepalive === true });
  const answer = await saving;
  busy--;
  if (!answer.ok) return (answer.stale && await over()) || (batch.size && failed(answer));
  if (answer.state !== "open") return over(answer.state);
  for (const [id, at] of batch) if (unsent.get(id) === at) unsent.delete(id);
  retry = RETRY[0];
  const news = take(answer);
  if (unsent.size) later(TYPING); else stash();
  if (batch.size || seen) tell(unsent.size ? "saving" : "saved");
  if (news) announce("elsewhere");
}

/** Saves nothing more: the act that begins carries every value. Waits for the save under way, two seconds at most. */
export function pause() {
  paused = true;
  return Promise.race([saving, new Promise((wake) => setTimeout(wake, LAST))]);
}

export function resume() {
  paused = false;
  if (unsent.size) later(CHOSEN);
}

function failed({ lost }) {
  tell(lost ? "unsaved" : "unsavedServer");
  later(retry);
  retry = Math.min(retry * 2, RETRY[1]);
}

/** What is not saved outlives this page in its tab: a reload without connection, or a code that is asked for again. */
function stash() {
  try {
    if (unsent.size) sessionStorage.setItem(key, JSON.stringify(values(unsent))); else sessionStorage.removeItem(key);
  } catch { /* the browser keeps nothing for this page */ }
}

function stashed() {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function leave() {
  stash();
  if (!left && unsent.size) sync(true);
  left = true;
}

function come() {
  if (document.visibilityState !== "visible") return;
  left = false;
  sync();
}

/** The page may no longer show how things are: it says so or becomes what is true; whether it had to. */
export async function over(now) {
  now ??= await state();
  if (now === "code") {
    if (unsent.size) tell("unsavedServer");
    if (!$("#again").open) open($("#again"));
  } else if (now && now !== "open") reload();
  return now !== null && now !== "open";
}

/* the quiet line; heard only when it begins or ends to be true that everything is saved */
function tell(name) {
  line.hidden = false;
  line.textContent = t(name);
  line.dataset.kept = name;
  if (name !== "saving" && name !== heard) announce(heard = name);
}
const announce = (name) => { $("#kept-say").textContent = t(name); };

function wrote({ target, type }) {
  const box = target.closest?.("[data-step]"), a = steps.find((one) => one.box === box);
  if (!a) return;
  if (type === "input" || isInk(a.kind)) touch(a);
  if (!unsent.size) return;
  if (!heard.startsWith("unsaved")) tell("saving");
  if (type === "change") { clearTimeout(timer); timer = 0; }
  later(type === "change" ? CHOSEN : TYPING);
}

export function begin() {
  const kept = JSON.parse($("#draft").content.textContent);
  take(kept);
  accept(stashed(), (id, at) => unsent.set(id, at));
  if (unsent.size) { tell("saving"); later(CHOSEN); } else if (seen) tell(heard = "saved");
  for (const type of ["input", "change"]) document.addEventListener(type, wrote);
  for (const type of ["focus", "online"]) addEventListener(type, come);
  addEventListener("pageshow", (event) => (event.persisted ? come() : showAgain(kept)));
  document.addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? come() : leave()));
  addEventListener("pagehide", leave);
  $("#again-go").addEventListener("click", reload);
}
