// Comfort on the pages of the office: each of them works without it.

import { t } from "./words.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const on = (type, selector, act) =>
  document.addEventListener(type, (event) => {
    const found = event.target.closest?.(selector);
    if (found) act(found, event);
  });

document.documentElement.classList.add("js");
for (const hidden of all("[data-peek], [data-copy]")) hidden.hidden = false;

// --- what was just done is said once: reading the page again does not say it again
const address = new URL(location.href);
if (address.searchParams.has("done")) {
  address.searchParams.delete("done");
  history.replaceState(history.state, "", address);
}
for (const said of all(".toast")) say(said.textContent, said);

function say(text, before) {
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.append(text);
  before?.remove();
  document.querySelector(".toasts").append(toast); // what is there from the beginning is not read out
  setTimeout(() => toast.remove(), 6000);
}

// --- navigation on small screens
function fold(side, open) {
  side.toggleAttribute("data-open", open);
  side.querySelector("[data-nav]").setAttribute("aria-expanded", side.hasAttribute("data-open"));
}
on("click", "[data-nav]", (button) => fold(button.closest(".side")));

// --- settings: the page one is on is in sight in their menu
const settings = document.querySelector(".subnav");
const chosen = settings?.querySelector("[aria-current]");
if (chosen) {
  // not `scrollIntoView`, which moves the page as well
  const below = chosen.getBoundingClientRect().bottom - settings.getBoundingClientRect().bottom;
  if (below > 0) settings.scrollTop += below;
}

// --- menus: one open at a time; Escape and a click outside close them
document.addEventListener("click", (event) => {
  for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("details.menu[open]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (menu && event.key === "Escape") {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (menu && step) {
    const items = all(".menu-list :is(a, button)", menu);
    const at = items.indexOf(document.activeElement);
    items.at(at < 0 ? (step > 0 ? 0 : -1) : (at + step) % items.length).focus();
    event.preventDefault();
  } else if (event.key === "Escape") {
    const side = document.querySelector(".side[data-open]");
    if (side) {
      fold(side, false);
      side.querySelector("[data-nav]").focus();
    }
  }
});

// --- pictures of pages: one that cannot be drawn says so; one that the server had no time for is asked for again
const REFUSED = 400, BUSY = [429, 503], AGAIN = 4000;
async function explain(img) {
  const [, made] = new URL(img.src).pathname.match(/^(\/documents\/[^/]+|\/templates\/[^/]+)\/sheets\//) ?? [];
  if (!made || img.dataset.explained === img.src) return;
  img.dataset.explained = img.src;
  const answer = await fetch(img.src).catch(() => null);
  if (!answer || BUSY.includes(answer.status)) {
    setTimeout(() => {
      delete img.dataset.explained;
      img.src = img.src;
    }, AGAIN);
    return;
  }
  if (answer.status !== REFUSED) return;
  if (img.src.includes("&size=")) {
    img.src = img.src.replace(/&size=\d/, ""); // not so sharp, it may be drawn
    return;
  }
  const words = t("unshown");
  img.alt = words;
  if (img.closest("a") || img.clientWidth < 200) return;
  const note = document.createElement("div");
  note.className = "unshown";
  note.setAttribute("role", "note");
  note.append(Object.assign(document.createElement("p"), { textContent: words }));
  note.append(Object.assign(document.createElement("a"), { className: "btn", href: `${made}/files/original`, download: "", textContent: t("download") }));
  img.alt = "";
  img.style.visibility = "hidden"; // it keeps the shape of the page
  img.parentElement.before(note); // not on it: fields can be placed there
}
document.addEventListener("error", ({ target }) => { if (target.tagName === "IMG") explain(target); }, true);
for (const img of all("img")) if (img.complete && img.src && !img.naturalWidth) explain(img);

// --- secrets: shown on demand, copied on demand
on("click", "[data-peek]", (button) => {
  const field = document.getElementById(button.dataset.peek);
  const show = field.type === "password";
  field.type = show ? "text" : "password";
  button.setAttribute("aria-pressed", show);
});
on("click", "[data-copy]", async (button) => {
  const from = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(from.innerText.trim());
    say(t("copied"));
  } catch {
    getSelection().selectAllChildren(from);
    say(t("press_copy"));
  }
});

// --- a form is sent once, and the button says what it does meanwhile
document.addEventListener("submit", (event) => {
  const form = event.target;
  if ("stays" in form.dataset) return; // what it is answered with may be a file: the page stays
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  const button = event.submitter;
  if (button?.dataset.busy) {
    button.setAttribute("aria-busy", "true");
    const label = button.querySelector("span") ?? button;
    [...label.childNodes].find((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()).data =
      button.dataset.busy;
  }
});
// --- the frame of an email can be scrolled by keys, but no pseudo-class of it matches while it has the focus
addEventListener("blur", () => requestAnimationFrame(() => document.activeElement.classList?.toggle("held", document.activeElement.tagName === "IFRAME")));
addEventListener("focus", () => document.querySelector("iframe.held")?.classList.remove("held"));

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload(); // a page of somebody who has signed out since is not shown again
});

// --- the time zone of this browser is a good first guess
const zone = document.querySelector("select[data-zone]");
if (zone) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...zone.options].some((one) => one.value === here)) zone.value = here;
}

// --- what is shown once is the answer to a form: reading the page again leads to the list, not to a second one
const once = document.querySelector("[data-here]");
if (once) history.replaceState(history.state, "", once.dataset.here);
