// The field editor: begins with what is stored, and wires the bar above the pages.

import { $, $$, body } from "./dom.js";
import { canRedo, canUndo, holders, start, stored, tell, watch } from "./model.js";
import { draw, fit, sheets, zoomBy } from "./canvas.js";
import { redo, undo } from "./actions.js";
import { drawPeople } from "./palette.js";
import "./pointer.js";
import "./keys.js";
import * as panel from "./panel.js";
import * as pictures from "./pictures.js";
import * as saving from "./saving.js";
import * as found from "./found.js";

start(stored());
watch(draw);
panel.begin({ undo: canUndo, redo: canRedo });
drawPeople();
pictures.begin();
saving.begin();
tell({ fields: true, all: true });
const offered = found.begin();

$("#undo").addEventListener("click", undo);
$("#redo").addEventListener("click", redo);
$("#zin").addEventListener("click", () => zoomBy(0.25));
$("#zout").addEventListener("click", () => zoomBy(-0.25));
$("#zfit").addEventListener("click", fit);
for (const close of $$("dialog [data-close]")) close.addEventListener("click", () => close.closest("dialog").close());

const pages = $("#pages"), thumbs = $("#thumbs");
function unfold(open) {
  thumbs.hidden = !open;
  pages.setAttribute("aria-expanded", open);
}
pages.addEventListener("click", () => unfold(thumbs.hidden));
thumbs.addEventListener("click", (event) => {
  if (event.target.closest("a") && getComputedStyle(thumbs).position === "absolute") unfold(false); // it lies over the pages
});
unfold(sheets.length > 1 && matchMedia("(min-width: 1180px)").matches);
if (!("untouched" in body.dataset && holders().length) || !await offered) body.dataset.ready = "yes"; // from here on nothing that is pressed gets lost
