// Comfort on the page of a document: it learns what happens meanwhile, and its questions come as dialogs.
const shown = document.querySelector("[data-mark]");
const news = document.getElementById("news");
const EVERY = shown.dataset.state === "sealing" ? 2000 : 10000;
const RESTS = 10 * 60 * 1000; // a page that nobody is at asks no more, so that its session may end

// --- what happens meanwhile
let used = Date.now();
for (const type of ["pointerdown", "keydown", "wheel", "focus"]) {
  addEventListener(type, () => (used = Date.now()), { passive: true });
}

const changed = (field) =>
  field.type === "checkbox" || field.type === "radio"
    ? field.checked !== field.defaultChecked
    : field.tagName === "SELECT"
      ? [...field.options].some((one) => one.selected !== one.defaultSelected) && field.selectedIndex > 0
      : field.type !== "hidden" && field.value !== field.defaultValue;

/** Whether reading the page again would take something away from whoever is at it. */
const busy = () =>
  document.querySelector("dialog[open], details[open], form[data-sent]") ||
  ![document.body, null].includes(document.activeElement) ||
  !getSelection().isCollapsed ||
  [...document.querySelectorAll("input, select, textarea")].some(changed);

async function look() {
  const answer = await fetch(`${location.pathname}/mark`, { redirect: "error", cache: "no-store" });
  if (answer.status >= 429) throw answer;
  if (!answer.ok) return false;
  const { mark } = await answer.json();
  if (mark === shown.dataset.mark) return true;
  if (busy()) news.hidden = false;
  else location.reload();
  return false;
}

async function again() {
  const away = document.hidden || Date.now() - used > RESTS;
  try {
    if (away || (await look())) setTimeout(again, EVERY);
  } catch {
    setTimeout(again, 6 * EVERY); // offline, signed out, or the server is starting anew
  }
}
setTimeout(again, EVERY);

// --- what opens in a tab of its own leaves this page free to show what comes of it
document.addEventListener("submit", ({ target, submitter }) => target.target === "_blank" && submitter?.blur());

// --- questions
let fetching = false; // a second press on its way to the same question must not open it again once it was answered

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-ask]");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (fetching) return;
  fetching = true;
  const request = new XMLHttpRequest(); // makes a document of the answer, which runs nothing
  request.open("GET", link.href);
  request.responseType = "document";
  request.onload = () => {
    const card = request.responseURL === link.href && request.response?.querySelector("main .card");
    if (card) ask(request.response.querySelector("h1").textContent, card, link);
    else location.assign(link.href);
  };
  request.onerror = () => location.assign(link.href);
  request.onloadend = () => (fetching = false);
  request.send();
});

function ask(title, card, link) {
  const dialog = document.createElement("dialog");
  const header = document.createElement("header");
  const heading = document.createElement("h2");
  heading.id = "dialog-title";
  heading.textContent = title;
  header.append(heading);
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.append(header, document.adoptNode(card));
  const menu = link.closest("details.menu");
  dialog.addEventListener("close", () => {
    dialog.remove();
    (menu?.querySelector("summary") ?? link).focus();
  });
  dialog.addEventListener("click", (event) => {
    if (!event.target.closest("a")) return;
    event.preventDefault(); // every link of a question leads back here
    dialog.close();
  });
  document.body.append(dialog);
  if (menu) menu.open = false;
  dialog.showModal();
}
