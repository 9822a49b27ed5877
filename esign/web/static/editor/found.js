// Fields that the PDF itself asks for, by its form or by marks in its text: placed by themselves, and again on request.

import { t } from "../words.js";
import { $, ask, body, h, icon, toast } from "./dom.js";
import { TYPES, holders, model, person, watch } from "./model.js";
import { flush, token } from "./saving.js";

const button = $("#found"), box = $("#found-box");
let found = { fields: [], unused: [] };

const near = (one, other) => one.type === other.type && one.page === other.page && Math.abs(one.x - other.x) < 1 && Math.abs(one.y - other.y) < 1;
const left = () => found.fields.filter((field) => !model.fields.some((one) => near(one, field)));

function offer() {
  const count = left().length;
  button.hidden = !holders().length || !(count || (found.unused.length && !found.fields.length));
  $("span", button).textContent = count ? t("found_place", { n: count }) : t("found_see");
}

/** What each person would get, in words. */
function summary(fields, owner) {
  const lines = new Map();
  for (const field of fields) {
    const name = person(field.holder ?? owner).name, counts = lines.get(name) ?? new Map(), type = TYPES[field.type].name;
    lines.set(name, counts.set(type, (counts.get(type) ?? 0) + 1));
  }
  return [...lines].map(([name, counts]) => h("li", {}, h("b", { dir: "auto" }, name), " ", h("span", {}, [...counts].map(([type, n]) => (n > 1 ? t("found_times", { n, type }) : type)).join(" · "))));
}

function describe(fields) {
  const whose = $("#f-holder"), open = fields.some((field) => !field.holder);
  whose.replaceChildren(...holders().map(({ id, name }) => h("option", { value: id, selected: id === model.holder }, name)));
  $("#f-whose").hidden = !open;
  const list = () => $("#f-list").replaceChildren(...summary(fields, whose.value));
  whose.onchange = list;
  list();
  $("#f-marks").hidden = !fields.some((field) => field.marked);
  $("#f-none").hidden = fields.length > 0;
  $("#f-left").hidden = !found.unused.length;
  $("#f-unused").replaceChildren(...found.unused.map(({ page, name, reason }) => h("li", {}, icon("info", "acc"), h("span", {}, h("b", { class: "any", dir: "auto" }, name), ` · ${t("found_page", { n: page })} · ${reason}`))));
  const use = $("[value=use]", box);
  use.hidden = !fields.length;
  use.textContent = t("found_use", { n: fields.length });
}

/** Has the server place them and take the marks off the pages, and shows the result; false where it could not. */
async function place(holder = "") {
  if (!await flush()) return false;
  const sent = await fetch(body.dataset.found, { method: "POST", body: new URLSearchParams({ csrf: token(), holder }), headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => ({}));
  const { placed } = sent.ok ? await sent.json() : {};
  if (placed) location.replace(`${location.pathname}?found=${placed}`);
  return Boolean(placed);
}

button.addEventListener("click", async () => {
  describe(left());
  if (await ask(box) === "use" && !await place($("#f-holder").value)) toast(t("found_failed"));
});

$("#placed")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  event.stopPropagation();
  if (await flush()) event.target.submit();
});

/** Offers what the file asks for; places it at once where nobody has placed anything yet. True while the page is left. */
export async function begin() {
  watch(offer);
  try {
    const answer = await fetch(body.dataset.found, { headers: { Accept: "application/json" }, redirect: "manual" });
    if (answer.ok) found = await answer.json();
  } catch { /* without a connection nothing is offered */ }
  offer();
  return "untouched" in body.dataset && !model.fields.length && holders().length > 0 && found.fields.length > 0 && place();
}
