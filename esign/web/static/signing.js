// The signer's pages: which parts this page has, and what it tells the server by itself.

import { $, $$, post, preview, reloadIfChanged, t } from "./dom.js";

const shown = document.body.dataset.state;
history.scrollRestoration = "manual"; // what has become another page begins at its top

// What breaks off says so, whenever it does. A page whose script never began says it by itself, after a while: see .broken.
const ours = new URL(".", import.meta.url).href;
addEventListener("error", ({ filename }) => filename.startsWith(ours) && broken());
addEventListener("unhandledrejection", ({ reason }) => `${reason?.message} ${reason?.stack}`.includes(ours) && broken());

async function broken() {
  if ("broken" in document.body.dataset) return;
  document.body.dataset.broken = "";
  $("dialog[open]")?.close(); // it would cover what is said
  $(".broken button")?.addEventListener("click", () => { delete document.body.dataset.broken; });
  if (framed) (await import("./embedded.js")).announce("error");
}

const framed = parent !== window && document.body.dataset.embedders;
await begin().catch((error) => { broken(); throw error; });
document.body.dataset.alive = "";
if (framed) (await import("./embedded.js")).begin();

async function begin() {
  if (!HTMLElement.prototype.hidePopover) await import("./popover.js");
  if (shown === "open") await fillOrRead(); else if (shown === "code") await import("./code.js"); else forget();
  if (shown === "sealing") await import("./sealing.js");
  if (shown === "phone") await import("./phone.js");
  if ($("#renew")) await import("./renew.js");
}

async function fillOrRead() {
  const toast = $("#toast");
  const tell = () => { toast.hidden = navigator.onLine; toast.textContent = t("offline"); };
  if (toast) {
    for (const event of ["offline", "online"]) addEventListener(event, tell);
    tell();   // the connection may have gone while this was loading
  }
  if ($("#answers")) {
    const [path, finish, draft] = await Promise.all([import("./path.js"), import("./finish.js"), import("./draft.js")]);
    if (!preview) draft.begin();
    path.begin(finish.review);
  } else await import("./reading.js");
  await import("./pages.js");
  viewed();
}

/** What a draft left in this tab is of no use any more. */
function forget() {
  try {
    sessionStorage.removeItem(`draft:${location.pathname}`);
  } catch { /* the browser keeps nothing for this page */ }
}

/** Only a page that somebody has before their eyes was viewed; once. */
function viewed() {
  if (document.visibilityState === "visible") return post("view", {}, { keepalive: true }); // also by someone who goes on at once
  document.addEventListener("visibilitychange", viewed, { once: true });
}

// What has become another page says so to who does not see it.
if (shown !== "open" && shown !== "code" && performance.getEntriesByType("navigation")[0]?.type === "reload") $("#title").focus();

if (shown === "sealing" || shown === "waiting") document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && reloadIfChanged());
addEventListener("pageshow", (event) => event.persisted && reloadIfChanged());
