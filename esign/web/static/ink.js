// The sheet in which a signature or initials are given: drawn, typed, or taken from a picture.

import { $, $$, composing, graphemes, picture, t, tell } from "./dom.js";
import { breakName, handsFor, lettered } from "./letters.js";
import { padOn } from "./pad.js";
import { canDraw } from "./picture.js";

const MOST = 100, MOST_INITIALS = 12;   // characters that can be typed
const sheet = $("#adopt"), text = $("#typed-text"), file = $("#upload"), done = $("#adopt-done"), tabs = $$("[role=tab]", sheet);
const wrong = (sentence = "") => tell($("#adopt-error"), sentence);

let ready = null, kind = "", mode = "drawn", chosen = false, plain = null, taken = null;

/* who came here by the keyboard is led to typing, which needs no pointer */
let byKeyboard = false;
addEventListener("click", (event) => { if (event.isTrusted) byKeyboard = event.detail === 0; }, true);

/** Asks for ink of a kind, in one of the allowed ways; `given` gets {kind, url, …} when it was given. */
export function askInk(of, allowed, given) {
  const signature = of === "signature", name = sheet.dataset.name;
  [ready, kind, taken] = [given, of, null];
  hand(null);
  $("h2", sheet).textContent = t(signature ? "yourSignature" : "yourInitials");
  $(".ghost", sheet).textContent = t(signature ? "drawSignature" : "drawInitials");
  $("#pad").setAttribute("aria-label", t(signature ? "padSignature" : "padInitials"));
  $("[for='typed-text']", sheet).textContent = t(signature ? "yourName" : "yourInitials");
  text.maxLength = signature ? MOST : MOST_INITIALS;
  text.value = (signature ? name : name.split(/\s+/).map(first).join("")).slice(0, text.maxLength).replace(/[\ud800-\udbff]$/, "").trim();
  pad?.reset(); offer(); wrong(); showTaken();
  sheet.showModal();
  const shown = offered(allowed);
  if (!shown.length) { wrong(t("noDrawingAtAll")); return $("h2", sheet).focus(); }
  const wanted = byKeyboard && !chosen ? "typed" : mode;
  select(shown.find((tab) => tab.dataset.mode === wanted) ?? shown[0]);
  if (!canDraw() && allowed.includes("drawn")) wrong(t("noDrawing"));
  if (shown.length > 1) $("[aria-selected=true]", sheet).focus({ preventScroll: true }); else $("h2", sheet).focus();
}

const first = (word) => graphemes(word)[0] ?? "";

/** The tabs of the ways that are allowed and possible here. */
function offered(allowed) {
  for (const tab of tabs) tab.hidden = !allowed.includes(tab.dataset.mode) || (tab.dataset.mode !== "typed" && !canDraw());
  const shown = tabs.filter((tab) => !tab.hidden);
  $(".tabs", sheet).hidden = shown.length < 2;
  $("#type-instead").hidden = !shown.some((tab) => tab.dataset.mode === "typed");
  for (const panel of $$("[role=tabpanel]", sheet)) panel.hidden = true;
  done.disabled = !shown.length;
  return shown;
}

function select(tab) {
  for (const one of tabs) {
    one.setAttribute("aria-selected", one === tab);
    one.tabIndex = one === tab ? 0 : -1;
    $(`#${one.getAttribute("aria-controls")}`).hidden = one !== tab;
  }
  mode = tab.dataset.mode; wrong(); pad?.fit();
  if (mode === "typed" && text.value.trim() && $(".styles", sheet).parentNode.hidden) offer(); // it failed before anybody looked
}
const choose = (tab) => { chosen = true; select(tab); tab.focus(); };

tabs.forEach((tab) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], shown = tabs.filter((one) => !one.hidden);
    if (step) choose(shown[(shown.indexOf(tab) + step * (document.dir === "rtl" ? -1 : 1) + shown.length) % shown.length]);
  });
});
$("#type-instead").addEventListener("click", () => { choose($("#tab-type")); text.focus(); });
done.addEventListener("click", async () => {
  const ink = await WAYS[mode]();
  if (!ink) return;
  sheet.close(); ready(ink);
});

const WAYS = {
  drawn() {
    const url = handed ? phoned : pad.url();
    return url ? { kind: "drawn", url } : wrong(t(handed ? "phoneFirst" : "drawFirst"));
  },
  async typed() {
    const name = text.value.trim(), hand = $("input[name=style]:checked", sheet).value || null;
    if (!name) return wrong(t("typeFirst"));
    let ink = await (hand ? lettered(name, hand) : plain);
    if (!hand && !ink?.url && !ink?.missing) ink = await (plain = lettered(name, null)); // nobody answered: once more
    return ink?.url ? ink : complain(ink);
  },
  uploaded: () => (taken ? { kind: "uploaded", url: taken } : wrong(t("uploadFirst"))),
};

/* typing: in the hands that have all the letters, else in the plain face, of which the server makes the picture */
let waiting = 0;

function offer() {
  const name = text.value.trim(), hands = handsFor(name), rows = $$(".style", sheet), last = rows.at(-1);
  for (const row of rows) {
    row.hidden = !hands.includes($("input", row).value);
    $(".typed", row).textContent = row === last ? "" : breakName(name).join("\n");
  }
  last.hidden = hands.length > 0 || !name;
  $(".styles", sheet).parentNode.hidden = !name;
  $("#typed-full").textContent = text.value.length < text.maxLength ? "" : t("typedFull", { n: text.maxLength });
  if ($("input:checked", sheet)?.closest(".style").hidden) $("input", rows.find((row) => !row.hidden) ?? last).checked = true;
  clearTimeout(waiting);
  plain = null; wrong();
  if (!last.hidden) plain = new Promise((done) => { waiting = setTimeout(() => done(lettered(name, null)), 350); });
  plain?.then((ink) => showPlain(ink, name));
}

function showPlain(ink, name) {
  if (text.value.trim() !== name) return;
  if (ink.url) return $(".style:last-of-type .typed", sheet).replaceChildren(picture(ink.url));
  $(".styles", sheet).parentNode.hidden = true;
  if (mode === "typed") complain(ink);
}

function complain(ink) {
  if (!ink?.missing) return wrong(ink?.message ?? t("failedServer"));
  const lacks = (letter) => ink.missing.split(" ").some((character) => letter.normalize("NFC").includes(character));
  const letters = [...new Set(graphemes(ink.text).filter(lacks))].slice(0, 6).join(" ") || ink.missing;
  wrong(t($("#tab-draw").hidden ? "cannotPrintTyped" : "cannotPrint", { letters }));
}

text.addEventListener("input", offer);
text.addEventListener("keydown", (event) => { if (event.key === "Enter" && !composing(event)) { event.preventDefault(); done.click(); } });

/* drawing */
const pad = canDraw() ? padOn($("#pad"), drawn) : null;

function drawn() {
  $(".ghost", sheet).hidden = pad.count() > 0;
  $("#undo").disabled = !pad.undoable();
  $("#clear").disabled = !pad.count();
  if (pad.count()) wrong();
}
$("#undo").addEventListener("click", () => pad.undo());
$("#clear").addEventListener("click", () => pad.clear());
if (pad) new ResizeObserver(() => sheet.open && pad.fit()).observe($("#pad"));

/* drawing on a phone, for who sits at a desk */
let handed = null, phoned = null; // what does it, while it does; and what came of it

$("#to-phone").addEventListener("click", async () => {
  wrong();
  const module = await import("./handoff.js").catch(() => null);
  if (!module) return wrong(t("failedOffline"));
  hand(module);
  module.begin(kind, (url) => { phoned = url; wrong(); });
});
$("#draw-here").addEventListener("click", () => { hand(null); $("#to-phone").focus(); });
sheet.addEventListener("close", () => handed?.end());

function hand(module) {
  handed?.end();
  [handed, phoned] = [module, null];
  $("#handoff").hidden = !module;
  $("#draw-pad").hidden = Boolean(module);
  wrong();
  if (!module) pad?.fit();
}

/* a picture: what reads it comes when it is needed */
file.addEventListener("change", async () => {
  const [given] = file.files;
  if (!given) return;
  file.value = ""; wrong(); taken = null; // the same file may be chosen again
  showTaken(true);
  const { inkIn } = await import("./upload.js").catch(() => ({ inkIn: () => Promise.reject(new Error("failedOffline")) }));
  const found = await inkIn(given).then((url) => ({ url }), (error) => ({ why: error.message }));
  taken = found.url ?? null;
  showTaken();
  if (!taken) wrong(t(found.why));
  file.toggleAttribute("aria-invalid", !taken);
});

function showTaken(reading = false) {
  $("#drop-ask").hidden = Boolean(taken) || reading;
  $("#drop-again").hidden = !taken;
  $("#drop-said").textContent = reading ? t("readingPicture") : taken ? t("pictureReady") : "";
  $("#drop-view").replaceChildren(...(taken ? [picture(taken)] : []));
}
