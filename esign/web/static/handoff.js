// Drawing on a phone for this page: a code to scan, how far the phone is, and what it sends. Only a press here takes it.

import { $, picture, post, reload, t } from "./dom.js";

const PAUSE = 2_000;
const box = $("#handoff"), line = $("#handoff-say"), code = $("#handoff-code"), again = $("#handoff-again");
let asked = null, timer = 0, kind = "", got = () => {};

/** Shows a new code; `then` gets the picture as a data address, or null while there is none. */
export function begin(of, then) {
  [kind, got] = [of, then];
  renew();
}

export function end() {
  clearTimeout(timer);
  asked = null;
}

async function renew() {
  end(); got(null);
  show("making");
  const answer = await post("handoff", { kind });
  if (answer.stale) return reload();
  if (!answer.ok) return show("failed", answer.message ?? t("failedServer"));
  asked = answer.id;
  code.href = answer.address;
  code.replaceChildren(picture(answer.code));
  show("waiting");
  code.focus();
  look(asked);
}

/** Asks until it has come or is over; a lost connection is asked again. */
async function look(id) {
  const answer = await fetch(`${location.pathname}/handoff/${id}`, { cache: "no-store", signal: AbortSignal.timeout?.(15_000) }).catch(() => null);
  if (asked !== id) return;
  if (answer?.status === 404 || answer?.status === 409) return reload();
  const { state, picture: url } = answer?.ok ? await answer.json().catch(() => ({})) : {};
  if (asked !== id) return;
  if (state) show(state);
  if (state === "received") {
    code.removeAttribute("href");
    code.replaceChildren(picture(url));
    got(url);
  } else if (state !== "expired") timer = setTimeout(look, PAUSE, id);
}

const SAID = { making: "handoffMaking", waiting: "handoffWaiting", opened: "handoffOpened", received: "handoffReceived", expired: "handoffExpired" };

function show(state, sentence = t(SAID[state])) {
  if (box.dataset.handoff === state && state !== "failed") return;
  box.dataset.handoff = state;
  line.textContent = sentence;
  if (state === "making" || state === "expired" || state === "failed") { code.replaceChildren(); code.removeAttribute("href"); }
  again.textContent = t(state === "received" ? "handoffAgain" : "handoffNew");
  again.hidden = !["received", "expired", "failed"].includes(state);
}

again.addEventListener("click", renew);
