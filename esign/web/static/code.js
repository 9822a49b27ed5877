// The code before the document: having one sent, entering it, waiting for the next.

import { $, $$, label, open, post, refusal, reload, state, t, tell } from "./dom.js";

const form = $("#code-form"), field = $("#code"), line = $("#code-error");

/** Sends once; what the page shows afterwards is the server's to say. */
async function act(button, busy, name, body) {
  if (button.ariaBusy === "true") return;
  const words = $("span", button) ?? button, before = words.textContent;
  button.ariaBusy = "true"; button.disabled = true; words.textContent = busy;
  tell(line);
  const answer = await post(name, body);
  if (answer.ok && name === "authenticate" && await state() === "code") return unkept(button);
  if (answer.ok || answer.stale || answer.busy) return reload();
  button.ariaBusy = null; button.disabled = false; words.textContent = before;
  question?.close();
  wrong(answer.message ?? refusal(answer.details[0]), name === "code" ? sender : button);
}

/** A right code that the browser forgets would be asked for again and again: the way out is a window of its own. */
function unkept(button) {
  const way = Object.assign(label(t("ownWindow"), "", "a"), { href: location.href, target: "_blank", rel: "noopener" });
  tell(line, t("notKept"));
  $("span", line).append(" ", way);
  button.ariaBusy = null;
  way.focus();
}

function wrong(message, button) {
  tell(line, message);
  if (!field) return button.focus();
  field.setAttribute("aria-invalid", "true");
  field.focus();
  field.select();
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = field.value.trim(), button = $("[type=submit]", form);
  if (!given) return wrong(t("enterCode"), button);
  if (field.inputMode === "numeric" && !/^\d{6}$/.test(given.replace(/\s/g, ""))) return wrong(t("sixDigits"), button);
  act(button, t("checking"), "authenticate", { code: given, framed: parent !== window });
});
field?.addEventListener("input", () => { field.removeAttribute("aria-invalid"); tell(line); });
field?.focus();

// One press of a person sends the code. A machine that opens the links of mails and presses what it finds is asked first, and
// so is who presses by other means: a mouse has come some way, a finger stays for a moment, the keyboard has led to the button.
const question = $("#question"), sender = $("main [data-action='send-code']");
const WAY = 5, MOMENT = 40;   // movements; milliseconds
let moves = 0, keys = 0, down = null;
addEventListener("pointermove", (event) => { moves += event.isTrusted && event.pointerType === "mouse"; }, true);
addEventListener("pointerdown", (event) => { down = event; }, true);
addEventListener("keydown", (event) => { keys += event.isTrusted && !event.repeat; }, true);

function byHand(event) {
  if (!event.isTrusted) return false;
  if (!event.detail) return keys > 1;
  return down?.pointerType === "mouse" ? moves >= WAY : Boolean(down) && event.timeStamp - down.timeStamp >= MOMENT;
}

sender?.addEventListener("click", (event) => (byHand(event) ? act(sender, t("sendingCode"), "code", {}) : open(question)));
$("#question-yes")?.addEventListener("click", ({ currentTarget }) => act(currentTarget, t("sendingCode"), "code", {}));
for (const button of $$("[data-close]")) button.addEventListener("click", () => question.close());
$("[data-action='try-again']")?.addEventListener("click", reload);

/** A button that can be pressed later says when, and is pressable then. */
for (const button of $$("[data-wait]")) {
  const until = Date.now() + Number(button.dataset.wait) * 1000, count = $(".count", button);
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    button.disabled = left > 0;
    count.hidden = left <= 0;
    count.textContent = t("inTime", { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` });
    if (left > 0) setTimeout(tick, 250);
  };
  tick();
}
