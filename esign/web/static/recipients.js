// The rows of recipients, or of roles: added, removed, moved by pointer, button and key. The steps stay where they are; people move.
import { t } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const list = $("#rows");
let changed = () => {};

const all = () => [...list.children];
const control = (row, name) => $(`[name="${name}-${row.dataset.row}"]`, row);
const find = (key) => all().find((row) => row.dataset.row === key);
const called = (row) => control(row, "name").value.trim() || control(row, "email")?.value.trim() || t(list.dataset.unnamed);
const say = (...parts) => $("#undo").replaceChildren(...parts);

export function begin(heard) {
  changed = heard;
  list.addEventListener("input", ({ target }) => dress(target.closest("[data-row]")));
  list.addEventListener("change", ({ target }) => target.name.startsWith("order-") && sort(target));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const row = event.target.closest("[data-row]");
    if (!by || !event.altKey || !row) return;
    event.preventDefault();
    move(row, by, event.target);
  });
  list.addEventListener("pointerdown", drag);
  $("[data-me]")?.addEventListener("click", ({ currentTarget: { dataset } }) => add(dataset.name, dataset.email));
  for (const row of all()) dress(row);
}

/** What a button of the form asks for. */
export function act(wanted) {
  const [name, ...rest] = wanted.split("-");
  const row = find(rest.join("-"));
  if (name === "add") add();
  if (name === "up" || name === "down") move(row, name === "up" ? -1 : 1, $("[data-more]", row));
  if (name === "remove") ask(row);
  if (name === "together" || name === "sequence") {
    all().forEach((one, n) => (control(one, "order").value = name === "together" ? 1 : n + 1));
    say(t(`row_${name}`));
    changed();
  }
}

function dress(row) {
  const name = called(row);
  row.dataset.role = control(row, "role").value;
  $("[data-more]", row).setAttribute("aria-label", t("row_more", { name }));
  const [proof] = control(row, "authentication")?.selectedOptions ?? []; // roles have none
  if (!proof) return;
  $("[data-proof]", row).textContent = proof.text;
  $("[data-locale]", row).textContent = control(row, "locale").selectedOptions[0].text;
}

// ---------- coming and going ----------

function fresh(key) {
  const row = $("#row").content.cloneNode(true).firstElementChild;
  name(row, "ROW", key);
  return row;
}

/** Another name for a row and for everything in it. */
function name(row, old, key) {
  row.dataset.row = key;
  for (const part of row.querySelectorAll("[id], [name], [for], [value], [aria-describedby]"))
    for (const attribute of ["id", "name", "for", "aria-describedby", ...(part.name === "do" ? ["value"] : [])])
      if (part.hasAttribute(attribute)) part.setAttribute(attribute, part.getAttribute(attribute).replaceAll(`-${old}`, `-${key}`));
}

function add(called = "", email = "") {
  const empty = all().find((row) => !control(row, "name").value && !control(row, "email")?.value);
  const row = empty ?? fresh(free());
  control(row, "order").value = Math.max(1, ...all().map((one) => Number(control(one, "order").value) || 1));
  list.append(row);
  control(row, "name").value = called;
  if (email) control(row, "email").value = email;
  dress(row);
  say();
  control(row, "name").focus();
  if (called) changed();
}

/** A name that no row of any page has: sent twice under it, somebody new is stored once. */
const free = () => `new_${[...crypto.getRandomValues(new Uint32Array(3))].map((n) => n.toString(36)).join("").padEnd(12, "0")}`;

function ask(row) {
  const fields = Number(row.dataset.fields);
  if (!fields) return remove(row);
  const box = $("#sure");
  $("h2", box).textContent = t("row_sure", { name: called(row), n: fields });
  $("[data-keep]", box).onclick = () => box.close();
  $("[data-remove]", box).onclick = () => {
    box.close();
    remove(row);
  };
  box.showModal();
}

/** Gone, with a way back as long as nothing but the row is lost. */
function remove(row) {
  const before = row.nextElementSibling;
  const back = Object.assign(document.createElement("button"), { type: "button", className: "btn sm", textContent: t("row_undo") });
  row.remove();
  back.addEventListener("click", () => {
    list.insertBefore(row, before?.isConnected ? before : null);
    say();
    control(row, "name").focus();
    changed();
  });
  say(t("row_removed", { name: called(row) }), ...(Number(row.dataset.fields) ? [] : [back]));
  (before ?? list.lastElementChild ?? $("[value=add]")).querySelector?.("[name^=name-]")?.focus();
  changed();
}

// ---------- moving ----------

function move(row, by, focused) {
  const other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (!other) return;
  stepping(() => (by < 0 ? other.before(row) : other.after(row)));
  row.querySelector(".menu").open = false;
  focused.focus();
  say(t("row_moved", { name: called(row), place: all().indexOf(row) + 1, count: list.children.length, step: Number(control(row, "order").value) }));
  changed();
}

/** Whatever is moved, the numbers stay where they are. */
function stepping(change) {
  const steps = all().map((row) => control(row, "order").value);
  change();
  all().forEach((row, n) => (control(row, "order").value = steps[n]));
}

function sort(focused) {
  const step = (row) => Number(control(row, "order").value) || 0;
  const sorted = all().sort((one, other) => step(one) - step(other));
  if (sorted.some((row, n) => row !== list.children[n])) {
    list.append(...sorted);
    focused.focus();
  }
}

function drag(event) {
  const row = event.target.closest("[data-grip]") && event.target.closest("[data-row]");
  if (!row || event.button) return;
  event.preventDefault();
  const grip = event.target.closest("[data-grip]");
  const steps = all().map((one) => control(one, "order").value);
  const before = all().indexOf(row);
  const follow = ({ clientY }) => {
    const middle = (one) => one.getBoundingClientRect().top + one.offsetHeight / 2;
    const above = row.previousElementSibling;
    const below = row.nextElementSibling;
    if (above && clientY < middle(above)) above.before(row);
    else if (below && clientY > middle(below)) below.after(row);
    else return;
    all().forEach((one, n) => (control(one, "order").value = steps[n]));
  };
  const dropped = new AbortController();
  const end = () => {
    row.classList.remove("lifted");
    dropped.abort();
    if (all().indexOf(row) !== before) changed();
  };
  row.classList.add("lifted");
  grip.setPointerCapture?.(event.pointerId);
  for (const [type, act] of Object.entries({ pointermove: follow, pointerup: end, pointercancel: end })) addEventListener(type, act, { signal: dropped.signal });
}

// ---------- what the server says, and what the tab kept ----------

export function rename(ids) {
  for (const [old, key] of Object.entries(ids)) {
    const row = find(old);
    if (!row) continue;
    find(key)?.remove(); // the same person, whom a page read anew has brought as well
    name(row, old, key);
  }
}

/** The name of a field after its row was renamed. */
export function renamed(field, ids) {
  const [name, ...rest] = field.split("-");
  const key = rest.join("-");
  return key in ids ? `${name}-${ids[key]}` : field;
}

/** In this order, as far as they are here; whoever types goes on typing. */
export function arrange(keys) {
  const here = keys.map(find).filter(Boolean);
  const others = all().filter((row) => !here.includes(row));
  const wanted = [...here, ...others];
  if (wanted.every((row, n) => row === list.children[n])) return;
  const focused = document.activeElement;
  list.append(...wanted);
  if (list.contains(focused)) focused.focus();
}

/** Of whom a code is stored. */
export function coded(keys) {
  for (const row of all()) {
    const hint = $(`#code-${CSS.escape(row.dataset.row)}-hint`, row);
    if (hint && keys.includes(row.dataset.row)) hint.textContent = t("code_set");
  }
}

/** The rows that the tab kept; `seen` are those that its page began with. Who came since stays. */
export function restore(stored, seen) {
  const keys = [...stored.keys()].filter((field) => field.startsWith("name-")).map((field) => field.slice(5));
  for (const row of all()) if (!keys.includes(row.dataset.row) && (row.dataset.row in seen || row.dataset.row.startsWith("new"))) row.remove();
  for (const key of keys) list.append(find(key) ?? fresh(key));
  queueMicrotask(() => all().forEach(dress));
}
