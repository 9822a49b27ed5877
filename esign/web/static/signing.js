// The signer's pages: which parts this page has, and what it tells the server by itself.

import { $, post, state, t } from "./dom.js";

const shown = document.body.dataset.state;
history.scrollRestoration = "manual"; // what has become another page begins at its top

if (shown === "open") {
  const toast = $("#toast");
  const tell = () => { toast.hidden = navigator.onLine; toast.textContent = t("offline"); };
  for (const event of ["offline", "online"]) addEventListener(event, tell);
  tell();   // the connection may have gone while this was loading
  const [path, finish] = await Promise.all([import("./path.js"), import("./finish.js")]);
  path.begin(finish.review);
  viewed();
}

/** Only a page that somebody has before their eyes was viewed; once. */
function viewed() {
  if (document.visibilityState === "visible") return post("view", {});
  document.addEventListener("visibilitychange", viewed, { once: true });
}

async function reloadIfChanged() {
  const now = await state();
  if (now && now !== shown) location.reload();
}

if (shown === "sealing") {
  const waits = [1, 2, 4, 8];
  const ask = async () => { await reloadIfChanged(); setTimeout(ask, (waits.shift() ?? 10) * 1000); };
  setTimeout(ask, waits.shift() * 1000);
  setTimeout(late, 30_000);
}

/** Sealing takes longer: say so, and that nothing is lost. */
function late() {
  const words = $("#late").content.cloneNode(true);
  document.title = words.querySelector("h1").textContent;
  $("#title").textContent = document.title;
  $("#lead").replaceChildren(...words.querySelector("p").childNodes);
  $(".disc").classList.add("warn");
}

if (shown === "sealing" || shown === "waiting") document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && reloadIfChanged());
addEventListener("pageshow", (event) => event.persisted && reloadIfChanged());
