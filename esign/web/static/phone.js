// The phone's page: a pad, and one press that sends what was drawn to the page at the desk.

import { $, post, reload, t, tell } from "./dom.js";
import { padOn } from "./pad.js";
import { canDraw } from "./picture.js";

const send = $("#send"), error = $("#phone-error"), pad = canDraw() ? padOn($("#pad"), changed) : null;

function changed() {
  $(".ghost").hidden = pad.count() > 0;
  $("#undo").disabled = !pad.undoable();
  $("#clear").disabled = !pad.count();
  if (pad.count()) tell(error);
}

if (pad) {
  new ResizeObserver(() => pad.fit()).observe($("#pad"));
  $("#undo").addEventListener("click", () => pad.undo());
  $("#clear").addEventListener("click", () => pad.clear());
} else {
  send.disabled = true;
  tell(error, t("noDrawingAtAll"));
}

/** The desk is told once somebody has this before their eyes. */
async function opened() {
  if (document.visibilityState !== "visible") return document.addEventListener("visibilitychange", opened, { once: true });
  if ((await post("open", {})).stale) reload();
}
opened();

send.addEventListener("click", async () => {
  const picture = pad.url(), before = send.textContent;
  if (!picture) return tell(error, t("drawFirst"));
  send.disabled = true; send.ariaBusy = "true"; send.textContent = t("sendingCode");
  const answer = await post("ink", { picture });
  if (answer.ok || answer.stale) return reload();
  send.disabled = false; send.ariaBusy = null; send.textContent = before;
  tell(error, answer.message ?? answer.details[0].message);
  send.focus();
});
