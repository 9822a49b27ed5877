// A draft saves itself while it is typed. What cannot be sent stays in the tab and goes later; nothing typed is lost.
import * as rows from "./recipients.js";
import { renew } from "./secret.js";
import { t } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const form = $("#draft");
const kept = `draft ${form.dataset.id}`;
const home = `/documents/${form.dataset.id}`;
const ON = new Set(["next", "review"]);
const QUIET = 700; // ms without a key before something is sent
const UNSENT = new Set(["csrf", "place"]);

let dirty = false; // something was typed that was not sent
let stopped = false; // nothing more can be saved from here
let saving = null;
let unanswered = null; // what was sent and may have been stored: it goes once more as it was, before what was typed since
let timer = 0;
let lost = 0;
let wrong = {};
const left = new Set(); // names of fields that somebody was at and left: only there a sentence helps

const entries = () => [...new FormData(form)].filter(([name]) => !UNSENT.has(name));
const isCode = (name) => name.startsWith("code-"); // an access code is written down nowhere in the browser
const bare = (text) => String(text ?? "").replaceAll("\r\n", "\n").trim();

// ---------- what is in the tab ----------

function keep() {
  try {
    sessionStorage.setItem(kept, JSON.stringify(entries().filter(([name]) => !isCode(name))));
  } catch {
    // a browser that keeps nothing; the page itself still holds it
  }
}

function restore() {
  const text = sessionStorage.getItem(kept);
  if (!text || "chosen" in form.dataset) return sessionStorage.removeItem(kept);
  const stored = new Map(JSON.parse(text));
  rows.restore(stored, JSON.parse(stored.get("seen")).rows);
  for (const control of form.elements) if (control.name && !UNSENT.has(control.name) && control.type !== "submit") set(control, stored.get(control.name));
  changed();
}

function set(control, text) {
  if (control.type === "checkbox") control.checked = text === control.value;
  else if (text !== undefined) control.value = text;
}

// ---------- saving ----------

function changed() {
  dirty = true;
  keep();
  if (stopped) return;
  tell(t(lost ? "offline" : "draft_saving"));
  clearTimeout(timer);
  timer = setTimeout(save, QUIET);
}

/** Saves until nothing is unsaved; true when everything is. */
async function save() {
  clearTimeout(timer);
  while (saving) await saving;
  if (stopped) return false;
  saving = send();
  const saved = await saving;
  saving = null;
  if (saved && dirty) return save();
  return saved && !Object.keys(wrong).length;
}

async function send() {
  const sent = unanswered ?? new URLSearchParams(new FormData(form));
  dirty = Boolean(unanswered);
  unanswered = sent;
  sent.set("csrf", form.elements.csrf.value);
  const answer = await post(sent);
  const saved = answer.ok && (await answer.json().catch(() => null)); // an answer may break off half way
  if (saved) return taken(saved, sent);
  dirty = true;
  if (answer.ok) return retry(0);
  if (answer.type === "opaqueredirect") return stop("stop_signed_out", [t("stop_signed_out_text")], `/sign-in?next=${home}/edit`, "stop_sign_in");
  if (answer.status === 400 && lost < 2 && (await renew(form))) return retry(0);
  if (!(answer.status >= 400 && answer.status < 429)) return retry(answer.status || 0);
  unanswered = null;
  const refusal = await answer.json().catch(() => ({}));
  return refusal.conflict ? compare() : refused(answer.status, refusal.error ?? {});
}

/** Why nothing can be saved, as the server has it. */
function refused(status, { code, message }) {
  if (code === "document_not_draft") return stop("stop_sent", [t("stop_sent_text"), t("kept")], home, "open_document");
  if (status === 404) return stop("stop_gone", [t("stop_gone_text"), t("kept")], "/documents", "open_documents");
  return stop(status === 401 ? "stop_denied" : "stop_refused", [message, t("kept")], home, "open_document");
}

async function post(body, more = {}) {
  try {
    return await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" }, redirect: "manual", ...more });
  } catch {
    return {};
  }
}

function retry(status) {
  lost += 1;
  tell(t(status ? "busy" : "offline"), true);
  timer = setTimeout(save, Math.min(20, 2 ** lost) * 1000);
  return false;
}
addEventListener("online", () => dirty && save());
addEventListener("pagehide", () => dirty && !stopped && post(new URLSearchParams(new FormData(form)), { keepalive: true }));

function compare() {
  stopped = true;
  tell(t("unsaved"), true);
  $("#conflict").hidden = false;
  return false;
}

/** Says under a title, in whole sentences, why nothing more is saved, and where to go. Title and verb are names of sentences. */
function stop(title, sentences, to, verb) {
  const box = $("#stopped");
  stopped = true;
  tell(t("not_saved"), true);
  $("[data-title]", box).textContent = t(title);
  $("[data-advice]", box).textContent = sentences.filter(Boolean).join(" ");
  Object.assign($("[data-on]", box), { href: to, textContent: t(verb), hidden: false });
  box.hidden = false;
  return false;
}

/** What was saved, and what others changed meanwhile, is shown; what was typed since it was sent stays. */
function taken(answer, sent) {
  lost = 0;
  unanswered = null;
  wrong = answer.wrong;
  for (const control of form.elements) {
    const merged = answer.values[control.name];
    const untouched = control.type === "checkbox" ? control.checked === sent.has(control.name) : control.value === sent.get(control.name);
    if (merged === undefined || !untouched) continue;
    if (control.name.startsWith("code-") && !(control.name in wrong)) control.value = "";
    else if (merged !== bare(sent.get(control.name))) set(control, merged);
  }
  rows.rename(answer.ids);
  wrong = Object.fromEntries(Object.entries(wrong).map(([name, text]) => [rows.renamed(name, answer.ids), text]));
  rows.arrange(answer.rows.map((key) => answer.ids[key] ?? key));
  rows.coded(answer.coded);
  $("#outline").textContent = answer.outline;
  $("#options-now").textContent = answer.options;
  if (answer.seen) form.elements.seen.value = answer.seen;
  if (dirty || Object.keys(wrong).length) keep();
  else sessionStorage.removeItem(kept);
  if (!answer.seen && !dirty) location.reload(); // recipients came or went that this page does not show
  point();
  const shown = all("[aria-invalid]", form).length;
  if (dirty) tell(t("draft_saving")); // more was typed since this was sent
  else tell(shown ? t("saved_partly") : Object.keys(wrong).length ? "" : t("saved"));
  return true;
}

function tell(text, loud = false) {
  const line = $("#saved");
  line.setAttribute("aria-live", loud ? "polite" : "off");
  if (line.textContent !== text) line.textContent = text;
}

/** A sentence at every field that was left and could not be saved. */
function point() {
  for (const line of all(".err", form)) line.remove();
  for (const control of all("[aria-invalid]", form)) {
    control.removeAttribute("aria-invalid");
    const about = (control.getAttribute("aria-describedby") ?? "").replace(/\S+-error/, "").trim();
    if (about) control.setAttribute("aria-describedby", about);
    else control.removeAttribute("aria-describedby");
  }
  for (const [name, text] of Object.entries(wrong)) {
    const control = form.elements[name];
    if (!control || !left.has(name)) continue;
    const line = $("#wrong").content.cloneNode(true).firstElementChild;
    line.id = `${name}-error`;
    line.append(text);
    control.parentElement.append(line);
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", [control.getAttribute("aria-describedby"), line.id].filter(Boolean).join(" "));
    control.closest("details")?.setAttribute("open", "");
  }
}

/** Saves and goes on; stays where something could not be saved. */
async function go(act) {
  for (const control of form.elements) left.add(control.name);
  dirty = true;
  if (await save()) return leave(act);
  point();
  if (!lost) form.querySelector("[aria-invalid]")?.focus();
}

/** Sends the form as its button would: on its way the server places the fields that the file asks for. */
function leave(act) {
  const button = Object.assign(document.createElement("input"), { type: "hidden", name: "do", value: act });
  form.append(button);
  form.submit();
  button.remove(); // a browser may show this page again as it was left
}

// ---------- what people do ----------

form.addEventListener("input", changed);
form.addEventListener("submit", (event) => {
  const act = event.submitter?.value ?? "";
  if ("compare" in (event.submitter?.dataset ?? {})) return; // the page that compares comes from the server
  event.preventDefault();
  event.stopPropagation();
  if (ON.has(act)) go(act);
  else if (act) rows.act(act);
  else save();
});
form.addEventListener("focusout", (event) => {
  const row = event.target.closest("[data-row]");
  if (event.target.name) left.add(event.target.name);
  if (row && !row.contains(event.relatedTarget)) for (const control of all("[name]", row)) left.add(control.name);
  if (!dirty) point();
});
for (const control of all("[aria-invalid]", form)) left.add(control.name);
rows.begin(changed);
restore();
