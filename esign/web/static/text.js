// The document as text: its pages below each other, each fetched when it comes near, with the fields at their places.

import { $, $$, label, say, t } from "./dom.js";

const box = $("#text"), sheets = $$(".page");
let pages = null, back = () => {};

const button = (words, press) => {
  const made = Object.assign(label(words, "link", "button"), { type: "button" });
  made.addEventListener("click", press);
  return made;
};

function section(sheet, index) {
  const page = document.createElement("section"), head = document.createElement("h2"), name = label(t("pageOf", { n: index + 1, total: sheets.length }));
  page.className = "form-page";
  page.dataset.page = index + 1;
  name.id = `text-${index + 1}`;
  page.setAttribute("aria-labelledby", name.id);
  head.append(name, button(t("seePage"), () => { back(); sheet.scrollIntoView({ block: "start" }); sheet.focus({ preventScroll: true }); }));
  page.append(head, label(t("textLoading"), "soft", "p"));
  return page;
}

async function fill(page) {
  const number = Number(page.dataset.page), sheet = sheets[number - 1];
  page.ariaBusy = "true";
  let lines;
  try {
    const answer = await fetch(`${location.pathname}/pages/${number}.json`);
    if (!answer.ok) throw answer;
    const { paragraphs } = await answer.json();
    lines = paragraphs.map(({ top, text }) => ({ top, node: Object.assign(label(text, "", "p"), { dir: "auto" }) }));
    if (!lines.length) lines.push({ top: -1, node: label(t("textPicture"), "soft", "p") });
    lines = merge(lines, fields(sheet));
  } catch {
    lines = [label(t("textFailed"), "soft", "p"), button(t("textAgain"), async () => { await fill(page); $("button", page).focus(); })];
  }
  page.ariaBusy = null;
  while (page.children.length > 1) page.lastElementChild.remove();   // the head stays: the focus may be on it
  page.append(...lines);
}

/** The fields of a page by their height: one's own lead to their place, others are words. */
function fields(sheet) {
  return $$(".field", sheet).map((field) => {
    const line = document.createElement("p"), own = field.matches("button");
    line.className = "text-field";
    line.append(own ? button(field.getAttribute("aria-label"), () => { back(); field.click(); }) : (field.textContent.trim() && ($(".sr", field) ?? field).textContent.trim()));
    return { top: Number(getComputedStyle(field).getPropertyValue("--y")), node: line };
  }).filter(({ node }) => node.textContent).sort((a, b) => a.top - b.top);
}

/** Paragraphs keep the order of the file, which may have columns; each field follows the last that begins above it. */
function merge(lines, extra) {
  for (const field of extra) {
    const after = lines.findLastIndex(({ top }) => top <= field.top);
    lines.splice(after + 1, 0, field);
  }
  return lines.map(({ node }) => node);
}

function begin() {
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) { near.unobserve(target); fill(target); }
  }, { rootMargin: "100% 0px" });
  pages = sheets.map(section);
  box.replaceChildren(Object.assign(label(t("textTitle"), "", "h2"), { tabIndex: -1 }), label(t("textNote"), "soft", "p"), ...pages);
  for (const page of pages) near.observe(page);
}

/** Shows the text, at the page that is before the eyes; `leave` shows the pages again. */
export function read(leave) {
  back = leave;
  const top = sheets.findIndex((page) => page.getBoundingClientRect().bottom > innerHeight / 3);
  document.body.classList.add("as-text");
  if (!pages) begin();
  if ($("#say")) say(t("viewText"));
  (top > 0 ? pages[top] : box).scrollIntoView({ block: "start" });
  $(top > 0 ? "button" : "h2", top > 0 ? pages[top] : box).focus({ preventScroll: true });
}
