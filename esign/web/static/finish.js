// The two deliberate acts: sign and finish, and decline.

import { $, $$, label, open, picture, post, refusal, reload, state, t, tell } from "./dom.js";
import { answers, isInk, shown, value } from "./checks.js";
import { over, pause, resume } from "./draft.js";
import { all, apart, check, correct, go, settled } from "./path.js";

const box = $("#finish"), tick = $("#consent"), done = $("#finish-done");

export function review() {
  if (!settled()) return;
  list();
  tell($("#finish-error"));
  open(box);
}

function list() {
  $("#review").replaceChildren(...all.map(row));
  $("#review").hidden = !all.length;
}

// Something came from another device while the review was open: it shows what will be sent, and is agreed to anew.
document.addEventListener("restored", () => { if (box.open) { list(); tick.checked = false; } });

function row(a) {
  const line = document.createElement("div"), dd = document.createElement("dd");
  dd.dir = "auto";
  if (a.ink) dd.append(Object.assign(picture(a.ink.url), { alt: t("yourMark", { label: a.label }) }));
  else dd.textContent = (isInk(a.kind) ? "" : shown(a)) || t("leftEmpty");
  if (!value(a) && a.kind !== "checkbox") dd.className = "soft";
  line.append(label(a.label, "", "dt"), dd);
  if (a.kind !== "fixed") {
    const change = Object.assign(label(t("change"), "link", "button"), { type: "button", ariaLabel: t("changeThis", { label: a.label }) });
    change.addEventListener("click", () => { box.close(); go(a); });
    const last = document.createElement("dd");
    last.append(change);
    line.append(last);
  }
  return line;
}

function agreed() {
  $("#consent-error").hidden = tick.checked;
  tick.setAttribute("aria-invalid", String(!tick.checked));
  tick.closest(".choice").classList.toggle("bad", !tick.checked);
  if (!tick.checked) tick.focus();
  return tick.checked;
}
tick.addEventListener("change", () => { if (tick.checked) agreed(); });

/** Sends once, whatever is pressed how often; when it failed, the button comes back with a sentence. */
async function act(button, busy, name, body, error, corrected) {
  if (button.ariaBusy === "true") return;
  const words = button.textContent;
  button.ariaBusy = "true"; button.disabled = true; button.textContent = busy;
  tell(error);
  await pause();
  const answer = await post(name, body);
  const now = answer.stale || answer.lost ? await state() : null; // an answer that was lost may have been a good one
  if (answer.ok || (now && now !== "code" && (answer.stale || now !== "open"))) return reload();
  resume();
  button.ariaBusy = null; button.disabled = false; button.textContent = words;
  if (now === "code") return over(now);
  if (answer.details && corrected(answer.details)) return;
  tell(error, answer.message ?? (answer.details ? refusal(answer.details[0]) : t("failedOffline")));
  button.focus();
}

done.addEventListener("click", () => {
  if (apart && !check(apart, true)) return apart.control.focus();
  if (!agreed()) return;
  const given = answers(apart ? [...all, apart] : all);
  act(done, t("finishing"), "complete", { answers: given, consent: box.dataset.consent }, $("#finish-error"), (details) => {
    const first = correct(details), signature = apart && details.some(({ path }) => path === "/answers/signature");
    if (first) { box.close(); go(first); } else if (signature) apart.control.focus();
    return Boolean(first || signature);
  });
});

$("#decline-done").addEventListener("click", ({ currentTarget }) => {
  const reason = $("#reason").value.trim() || null;
  act(currentTarget, t("declining"), "decline", { reason }, $("#decline-error"), () => false);
});

$$("[data-open]").forEach((button) => button.addEventListener("click", () => { $("#menu").hidePopover(); open($(button.dataset.open)); }));
$$("[data-close]").forEach((button) => button.addEventListener("click", () => button.closest("dialog").close()));
$$("dialog.sheet").forEach((sheet) => sheet.addEventListener("click", (event) => { if (event.target === sheet && sheet.id !== "adopt") sheet.close(); }));
