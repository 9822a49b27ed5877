// Small things that every part of the signer's pages uses. Sentences come from <template id="words">, none from a script.

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const words = JSON.parse($("#words").content.textContent);
export const t = (key, values = {}) => (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
export const months = words.monthsShort;
export const say = (text) => { $("#say").textContent = text; };

export const picture = (src) => Object.assign(document.createElement("img"), { src, alt: "" });
export const label = (text, name = "", tag = "span") => Object.assign(document.createElement(tag), { textContent: text, className: name });

/** Shows the sentence on an error line, or clears the line. */
export function tell(line, text = "") {
  line.hidden = !text;
  $("span", line).textContent = text;
}

/**
 * Sends JSON to the link. Answers {ok}, {stale} when the page no longer shows how things are,
 * {details} when answers need a correction, or {message}, a sentence to show.
 */
export async function post(act, body) {
  let answer;
  try {
    answer = await fetch(`${location.pathname}/${act}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: AbortSignal.timeout(60_000),
    });
  } catch {
    return { message: t("failedOffline") };
  }
  if (answer.ok) {
    await answer.arrayBuffer().catch(() => null); // to its end, or the browser counts it as broken off
    return { ok: true };
  }
  if (answer.status === 404 || answer.status === 409) return { stale: true };
  const { code, details = [] } = (await answer.json().catch(() => null))?.error ?? {};
  if (details.some(({ path }) => path === "/consent")) return { stale: true };
  if (code === "invalid_request" && details.length) return { details };
  return { message: t(code === "request_too_large" ? "failedLarge" : answer.status === 429 ? "failedBusy" : "failedServer") };
}

/** The state of the link now, or null while nobody answers. */
export async function state() {
  try {
    const answer = await fetch(`${location.pathname}/status`, { cache: "no-store" });
    return answer.ok ? (await answer.json()).state : null;
  } catch {
    return null;
  }
}

/** Opens a dialog; while it is open the controls behind it, which cannot be pressed, do not offer their action. */
export function open(box) {
  const behind = $$("main [data-action], .dock [data-action]").map((control) => [control, control.dataset.action]);
  for (const [control] of behind) delete control.dataset.action;
  box.addEventListener("close", () => { for (const [control, action] of behind) control.dataset.action ??= action; }, { once: true });
  box.showModal();
  $("h2", box).focus();
}
