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

// The button of the page only opens the question, so that no machine has codes sent by pressing it.
const question = $("#question"), sender = $("main [data-action='send-code']");
sender?.addEventListener("click", () => open(question));
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
