// Types to place: dragged onto a page, chosen and then clicked where it goes, or put on the page in view with Enter.

import { t } from "../words.js";
import { $, $$, h, say } from "./dom.js";
import { ghostOf, inside, percent, sheets, small, under } from "./canvas.js";
import { TYPES, arm, colour, holders, hold, made, model, select, watch } from "./model.js";
import { add, addInView } from "./actions.js";
import { clear, shift } from "./snap.js";
import { guides, track } from "./pointer.js";

const palette = $("#palette"), buttons = $$("[data-type]", palette), people = $("#people");

function drag(button, down, type) {
  const { width, height } = TYPES[type], { clientX: x0, clientY: y0 } = down, guide = guides(new Set());
  let ghost = null, target = null;
  track(button, down, (at) => {
    if (!ghost) {
      if (Math.hypot(at.clientX - x0, at.clientY - y0) < 5) return;
      button.dataset.dragged = "yes";
      ghost = ghostOf(type);
      document.body.append(ghost);
    }
    const on = inside(at) ? under(at) : null, size = (on ?? sheets[0]).getBoundingClientRect();
    for (const one of sheets) one.classList.toggle("over", one === on);
    let left = at.clientX - width / 200 * size.width, top = at.clientY - height / 200 * size.height;
    target = null;
    clear();
    if (on) {
      const [x, y] = percent(at, on), box = made(type, Number(on.dataset.page), x, y), [dx, dy] = shift(guide(on), box, at);
      target = { page: Number(on.dataset.page), x: box.x + dx + width / 2, y: box.y + dy + height / 2 };
      left = size.left + (box.x + dx) / 100 * size.width;
      top = size.top + (box.y + dy) / 100 * size.height;
    }
    Object.assign(ghost.style, { width: `${width / 100 * size.width}px`, height: `${height / 100 * size.height}px`, transform: `translate(${left}px, ${top}px)` });
  }, (counts) => {
    ghost?.remove();
    if (counts && target) add(type, target.page, target.x, target.y);
  });
}

for (const button of buttons) {
  const { type } = button.dataset;
  button.addEventListener("pointerdown", (event) => {
    delete button.dataset.dragged;
    if (event.button || (event.pointerType !== "mouse" && small())) return; // in the dock a finger scrolls
    drag(button, event, type);
  });
  button.addEventListener("click", (event) => {
    if (button.dataset.dragged) return;
    if (event.detail === 0) return addInView(type); // Enter or Space
    take(model.armed === type ? null : type);
  });
}

export function take(type) {
  if (type && !model.holder) return;
  arm(type);
  say(type ? t("armed", { type: TYPES[type].name }) : t("disarmed"));
}

/** One radio button for each person, built anew when they change. */
export function drawPeople() {
  people.replaceChildren(...holders().map(({ id, name, number }) => h("label", { "data-r": colour(id), "data-holder": id },
    h("input", { type: "radio", name: "holder", value: id, checked: id === model.holder, "aria-keyshortcuts": number < 9 ? String(number) : null }),
    h("span", { class: "dot" }), h("span", { class: "clip", dir: "auto" }, name), h("span", { class: "count" }, "0"))));
  $("#nobody").hidden = holders().length > 0;
  $("#tools").hidden = !holders().length;
}
people.addEventListener("change", (event) => {
  if (model.selected.size) select([]);
  hold(event.target.value);
});

watch(() => {
  for (const label of $$("label", people)) {
    const { holder } = label.dataset;
    $("input", label).checked = holder === model.holder;
    $(".count", label).textContent = model.fields.filter((field) => field.holder === holder).length;
  }
  if (model.holder) palette.dataset.r = colour(model.holder);
  for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.type === model.armed);
});
