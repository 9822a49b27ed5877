// While the document is sealed: asks how far it is, says so when that takes long, and when nobody answers.

import { $, reloadIfChanged, t, tell } from "./dom.js";

const waits = [1, 2, 4, 8], LATE = 30_000;
let unheard = 0;

async function ask() {
  unheard = await reloadIfChanged() ? 0 : unheard + 1;
  tell($("#away"), unheard > 1 ? t("away") : ""); // one answer may get lost
  setTimeout(ask, (waits.shift() ?? 10) * 1000);
}

/** Sealing takes longer: say so, and that nothing is lost. */
function late() {
  const words = $("#late").content.cloneNode(true);
  document.title = words.querySelector("h1").textContent;
  $("#title").textContent = document.title;
  $("#lead").replaceChildren(...words.querySelector("p").childNodes);
  $(".disc").classList.add("warn");
}

setTimeout(ask, waits.shift() * 1000);
if ($("#late")) setTimeout(late, LATE);
