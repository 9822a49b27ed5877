// Small things that every part of the signer's pages uses. Sentences come from <template id="words">, none from a script.

import * as sentences from "./words.js";

export const t = sentences.t;
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/** A number as the language writes its fraction. */
export const number = (given) => String(given).replace(".", sentences.words.decimal);
export const say = (text) => { $("#say").textContent = text; };

const segments = Intl.Segmenter ? new Intl.Segmenter() : null;
/** What a reader takes for single letters: with their marks, or whole picture characters. */
export const graphemes = (words) => (segments ? [...segments.segment(words)].map(({ segment }) => segment) : [...words]);

export const picture = (src) => Object.assign(document.createElement("img"), { src, alt: "" });
/** Whether a key belongs to what an input method is composing, as Japanese is typed: Enter then takes a word, and nothing else. */
export const composing = (event) => event.isComposing || event.keyCode === 229;
export const label = (text, name = "", tag = "span") => Object.assign(document.createElement(tag), { textContent: text, className: name });

/** What the server says of a value; it speaks English, so to others its rule is told in their language. */
export const refusal = ({ path, rule, message }) => (document.documentElement.lang === "en" ? message : t({ length: "refusedLength", format: "refusedFormat" }[rule] ?? (path === "/code" ? "refusedCode" : "refused")));

/** Shows the sentence on an error line, or clears the line. */
export function tell(line, text = "") {
  line.hidden = !text;
  $("span", line).textContent = text;
}

/** On a preview, which a member of the sender looks at, what is said where a recipient would have sent something. */
export const preview = $("#preview")?.dataset.says;

/**
 * Sends JSON to the link. Answers {ok} with what the server says, {stale} when the page no longer shows how things are,
 * {details} when answers need a correction, or {message}, a sentence to show: {lost} when no answer came, {busy} when
 * it was asked too often.
 */
export async function post(act, body, { patience = 60_000, keepalive = false } = {}) {
  let answer;
  if (preview) return { message: preview };
  try {
    answer = await fetch(`${location.pathname}/${act}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: AbortSignal.timeout?.(patience), keepalive,
    });
  } catch {
    return { lost: true, message: t("failedOffline") };
  }
  if (answer.ok) return { ...(await answer.json().catch(() => ({}))), ok: true };
  if (answer.status === 404 || answer.status === 409) return { stale: true };
  const { code, details = [] } = (await answer.json().catch(() => null))?.error ?? {};
  if (details.some(({ path }) => path === "/consent")) return { stale: true };
  if (code === "invalid_request" && details.length) return { details };
  const busy = answer.status === 429;
  return { busy, message: t(code === "request_too_large" ? "failedLarge" : busy ? "failedBusy" : "failedServer") };
}

/** The state of the link now, or null while nobody answers. */
export async function state() {
  if (preview) return null;
  try {
    const answer = await fetch(`${location.pathname}/status`, { cache: "no-store" });
    return answer.ok ? (await answer.json()).state : null;
  } catch {
    return null;
  }
}

let leaving = false;
/** This page anew. Once: whoever learns of a change next would break off the page that is on its way. */
export function reload() {
  if (!leaving) location.reload();
  leaving = true;
}

/** The state of the link now; where it is another one than is shown, its page comes. */
export async function reloadIfChanged() {
  const now = await state();
  if (now && now !== document.body.dataset.state) reload();
  return now;
}

/** Opens a dialog; while it is open the controls behind it, which cannot be pressed, do not offer their action. */
export function open(box) {
  const behind = $$("main [data-action], .dock [data-action]").map((control) => [control, control.dataset.action]);
  for (const [control] of behind) delete control.dataset.action;
  box.addEventListener("close", () => { for (const [control, action] of behind) control.dataset.action ??= action; }, { once: true });
  box.showModal();
  $("h2", box).focus();
}
