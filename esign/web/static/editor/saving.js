// What is placed is saved by itself. Until the server has it, it is kept in this browser: no answer, a page that is closed
// and somebody else who changed the draft lose nothing.

import { t } from "../words.js";
import { $, $$, ask, body, say, toast } from "./dom.js";
import { commit, holders, identified, model, plain, take, tell, text, undo, watch } from "./model.js";
import { drawPeople } from "./palette.js";

const { save: address, state: source, keep: place, list: member } = body.dataset;
const REST = 600, PATIENCE = 20_000, LONGEST = 30_000, LIGHT = 60_000; // ms without a change, for an answer, between tries; bytes after the page is gone
const saved = $("#saved"), trouble = $("#trouble");
let held = null, csrf = $("[name=csrf]").value, timer = 0, tries = 0, busy = null, stopped = false;

const dirty = () => model.fields !== held;
const show = (text) => { saved.textContent = text; };

// ---------- what this browser keeps meanwhile

function keep() {
  try {
    localStorage.setItem(place, JSON.stringify({ revision: model.revision, fields: model.fields.map(({ id, ...field }) => field) }));
  } catch { /* no room, or not allowed: then only this page holds it */ }
}
function kept() {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}
const forget = () => { try { localStorage.removeItem(place); } catch { /* there is nothing then */ } };

// ---------- asking the server

async function fetched(url, how = {}) {
  try {
    const answer = await fetch(url, { cache: "no-store", redirect: "manual", headers: { Accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE), ...how });
    if (answer.type === "opaqueredirect") return { out: true };
    const found = await answer.json();
    return answer.ok ? { ok: true, ...found } : { status: answer.status, ...found.error };
  } catch {
    return { lost: true };
  }
}

const lists = () => model.people.map(({ id }) => model.fields.filter((field) => field.holder === id));
const form = (of) => new URLSearchParams({
  csrf, revision: model.revision,
  fields: JSON.stringify({ [member]: model.people.map(({ id }, n) => ({ id, fields: of[n].map(plain) })) }),
});

/** What a form of this page carries, as the server has last given it. */
export const token = () => csrf;

/** Saves what there is now; whoever waits learns whether the server has everything. */
export async function flush() {
  clearTimeout(timer);
  while (busy) await busy;
  if (!dirty()) return true;
  busy = save().finally(() => { busy = null; });
  await busy;
  return !dirty();
}

async function save() {
  const sent = model.fields, of = lists();
  show(t("editor_saving"));
  const answer = await fetched(address, { method: "POST", body: form(of) });
  if (answer.ok) return done(sent, answer.revision);
  if (answer.status === 409 && answer.code === "revision_mismatch") return conflict();
  if (answer.details?.length) return refused(answer.details, of);
  if (answer.status === 400 && answer.code === "invalid_request" && !tries++) return renew();
  if (answer.out) return signedOut();
  if (answer.lost || answer.status >= 500 || answer.status === 429) return later();
  stop(answer.message);
}

/** Nothing more is tried: the document was sent or deleted, or the role is another one now. */
function stop(message) {
  stopped = true;
  wait(message);
}

function done(sent, revision) {
  model.revision = revision;
  held = sent;
  tries = 0;
  trouble.hidden = true;
  if (model.problems.size) {
    model.problems.clear();
    tell();
  }
  if (dirty()) return soon();
  forget();
  show(t("all_saved"));
}

/** The page's forms are of a session that is over; the new one has others. */
async function renew() {
  const now = await fetched(source);
  if (now.ok) csrf = now.csrf;
  if (now.ok) return save();
  return now.out ? signedOut() : later();
}

const signedOut = () => wait(t("editor_signed_out"), { door: true });

function later() {
  const pause = Math.min(LONGEST, 1000 * 2 ** Math.min(tries++, 5));
  timer = setTimeout(flush, pause);
  wait(t("no_connection"));
}

function refused(details, of) {
  const found = new Map();
  for (const detail of details) {
    const [, n, m, name = ""] = detail.path.match(/^\/\w+\/(\d+)\/fields\/(\d+)(?:\/(\w+))?/) ?? [], field = of[n]?.[m];
    if (field) found.set(field.id, { ...found.get(field.id), [name]: detail });
  }
  model.problems = found;
  if (!found.size) wait(details[0].message);
  show(found.size ? t("need_correction", { n: found.size }) : t("editor_not_saved"));
  say(saved.textContent);
  tell();
}

/** What keeps the changes from being saved, and what to do. */
function wait(words, { door = false, choose = false } = {}) {
  show(t("editor_not_saved"));
  $("p", trouble).textContent = words;
  $("#door").hidden = !door;
  $("#again").textContent = t(choose ? "choose" : "editor_try_again");
  trouble.hidden = false;
}

function soon() {
  if (stopped) return;
  clearTimeout(timer);
  show(t("editor_saving"));
  timer = setTimeout(flush, REST);
}

// ---------- somebody else was here

async function conflict() {
  const theirs = await fetched(source);
  if (theirs.code) return stop(theirs.message);
  if (!theirs.ok) return later();
  csrf = theirs.csrf;
  const now = text(theirs.fields);
  if (now === text(model.fields)) {
    renewPeople(theirs);
    return done(model.fields, theirs.revision);
  }
  if (held && now === text(held)) { // they changed something else: recipients, the message
    renewPeople(theirs);
    return save();
  }
  choose(theirs);
}

const missing = (some, others) => {
  const known = new Set(others.map((field) => text([field])));
  return some.filter((field) => !known.has(text([field]))).length;
};

async function choose(theirs) {
  const box = $("#conflict"), mine = model.fields;
  $("#c-theirs").textContent = `${t("field_count", { n: theirs.fields.length })} · ${t("not_in_mine", { n: missing(theirs.fields, mine) })}`;
  $("#c-mine").textContent = `${t("field_count", { n: mine.length })} · ${t("not_in_theirs", { n: missing(mine, theirs.fields) })}`;
  stopped = true;
  wait(t("others_changed"), { choose: true });
  const answer = await ask(box);
  if (!answer) return;
  stopped = false;
  commit(theirs.fields.map(identified));
  held = model.fields;
  const lost = renewPeople(theirs);
  if (answer === "mine") {
    commit(owned(mine));
    toast(t(lost ? "kept_mine_moved" : "kept_mine"), undo);
    return flush();
  }
  done(model.fields, theirs.revision);
  toast(t("took_theirs"), undo);
}

/** Takes the people as they are now; whether any of our fields was for somebody who is gone. */
function renewPeople(theirs) {
  const before = JSON.stringify(model.people);
  take(theirs);
  if (JSON.stringify(model.people) === before) return false;
  drawPeople();
  const next = owned(model.fields), lost = next !== model.fields;
  if (lost) commit(next); else tell({ all: true });
  return lost;
}

function owned(fields) {
  const known = new Set(holders().map(({ id }) => id));
  return fields.every(({ holder }) => known.has(holder)) ? fields : fields.map((field) => (known.has(field.holder) ? field : Object.freeze({ ...field, holder: model.holder }))).filter(({ holder }) => holder);
}

// ---------- when

$("#again").addEventListener("click", () => { tries = 0; stopped = false; flush(); });
addEventListener("online", () => { if (dirty()) flush(); });
document.addEventListener("visibilitychange", () => { if (document.hidden && dirty() && !stopped) flush(); });
addEventListener("pagehide", () => {
  if (!dirty() || stopped) return;
  const sent = form(lists());
  if (sent.toString().length < LIGHT) fetch(address, { method: "POST", body: sent, keepalive: true, headers: { Accept: "application/json" } }).catch(() => {});
});
for (const link of $$("[data-leave]")) {
  link.addEventListener("click", async (event) => {
    if (!dirty() || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (await flush()) location.assign(link.href);
    else say(t("not_saved_yet"));
  });
}

/** From now on every change is saved; what an earlier visit could not save comes back. */
export function begin() {
  held = model.fields;
  const before = kept();
  if (before && text(before.fields) !== text(model.fields)) {
    commit(owned(before.fields.map(identified)));
    if (before.revision === model.revision) toast(t("restored"), undo);
    else [held, model.revision] = [null, before.revision]; // the server says that somebody else was here
    soon();
  } else forget();
  watch(({ fields: changed }) => {
    if (!changed || !dirty()) return;
    keep();
    soon();
  });
}
