// Suggestions from the address book while a name or an address is typed: a combobox with a list (WAI-ARIA).
import { t } from "./words.js";

const FIELD = "[data-suggest] :is(input[name^=name-], input[name^=email-])";
const QUIET = 150; // ms without a key before the address book is asked

const make = (tag, attributes) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
const list = make("ul", { id: "suggested", role: "listbox", class: "suggested", "aria-label": t("suggestions_label") });
const said = make("p", { class: "vh", role: "status" });

let field = null; // where the list hangs
let people = [];
let at = -1; // the option that Enter takes
let timer = 0;
let asked = 0;

const other = (one) => {
  const [name, key] = [one.name.slice(0, one.name.indexOf("-")), one.name.slice(one.name.indexOf("-"))];
  return one.form.elements[(name === "name" ? "email" : "name") + key];
};
const isName = (one) => one.name.startsWith("name-");

/** Makes a field a combobox, for those who hear the page as well. */
function dress(one) {
  const parts = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id };
  for (const [name, value] of Object.entries(parts)) one.setAttribute(name, value);
}

function close() {
  clearTimeout(timer);
  asked += 1; // an answer that is on its way comes too late
  field?.setAttribute("aria-expanded", "false");
  field?.removeAttribute("aria-activedescendant");
  list.remove();
  said.textContent = "";
  [people, at] = [[], -1];
}

function mark(next) {
  at = next;
  [...list.children].forEach((option, n) => option.setAttribute("aria-selected", n === at));
  if (at < 0) field.removeAttribute("aria-activedescendant");
  else {
    field.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  }
}

/** Puts name and address of a person into the row. */
function take(person) {
  const there = other(field);
  const [name, email] = isName(field) ? [field, there] : [there, field];
  name.value = person.name;
  email.value = person.email;
  close();
  for (const one of [name, email]) one.dispatchEvent(new Event("input", { bubbles: true }));
}

function show() {
  const options = people.map((person, n) => {
    const option = make("li", { id: `suggested-${n}`, role: "option", "aria-selected": "false" });
    for (const [text, look] of [[person.name, "strong"], [person.email, "sub"], [person.company, "sub"]]) {
      if (text) option.append(Object.assign(make("span", { class: `any ${look}`, dir: "auto" }), { textContent: text }));
    }
    option.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    option.addEventListener("click", () => take(person));
    return option;
  });
  list.replaceChildren(...options);
  field.parentElement.append(list);
  field.setAttribute("aria-expanded", "true");
  said.textContent = t("suggestions", { n: people.length });
}

/** Asks the address book; people who are in the document already are not suggested. */
async function ask() {
  const text = field.value.trim(), mine = field, turn = ++asked;
  const answer = await fetch(`/contacts/suggest?${new URLSearchParams({ q: text })}`, { headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => ({}));
  const found = answer.ok ? (await answer.json().catch(() => ({}))).people ?? [] : [];
  if (turn !== asked || document.activeElement !== mine) return;
  const taken = new Set([...mine.form.elements].filter((one) => one.name?.startsWith("email-") && one !== mine).map((one) => one.value.trim().toLowerCase()));
  const fresh = found.filter(({ email }) => !taken.has(email.toLowerCase()) && email.toLowerCase() !== mine.value.trim().toLowerCase());
  close();
  people = fresh;
  if (people.length) show();
}

document.addEventListener("focusin", ({ target }) => {
  if (target.matches?.(FIELD)) dress(target);
});
document.addEventListener("focusout", ({ target }) => target === field && close());
document.addEventListener("input", (event) => {
  const { target } = event;
  if (!event.isTrusted || !target.matches?.(FIELD)) return;
  if (field !== target) close();
  field = target;
  clearTimeout(timer);
  if (!target.value.trim() || (isName(target) && other(target)?.value)) return close();
  timer = setTimeout(ask, QUIET);
});
document.addEventListener("keydown", (event) => {
  if (event.target !== field || !people.length || event.altKey || event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) mark(at < 0 && step < 0 ? people.length - 1 : ((at + step + 1) % (people.length + 1)) - 1);
  else if (event.key === "Enter" && at >= 0) take(people[at]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);

for (const one of document.querySelectorAll(FIELD)) dress(one);
document.body.append(said);
