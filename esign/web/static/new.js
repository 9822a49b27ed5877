// Files on their way to becoming drafts or templates, one after the other; what a lost connection interrupts is sent again by itself.
import { write } from "./numbers.js";
import { renew } from "./secret.js";
import { t } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const form = $("#new");
const list = $("#takings");
const most = Number(form.dataset.most);
const waiting = [];
const open = new Set();
let count = 0;
let busy = false;
let next = null;

const size = (bytes) => (bytes < 2 ** 20 ? t("file_kB", { n: Math.max(1, Math.round(bytes / 1024)) }) : t("file_MB", { n: write(bytes / 2 ** 20, bytes < 10 * 2 ** 20 ? 1 : 0) }));

const chooser = $("#files");
chooser.addEventListener("change", choose);
form.addEventListener("submit", (event) => event.preventDefault());
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault()); // a file that misses replaces no page
const drop = $(".drop", form);
for (const type of ["dragenter", "dragover"]) drop.addEventListener(type, () => drop.classList.add("over"));
for (const type of ["dragleave", "drop"]) drop.addEventListener(type, () => drop.classList.remove("over"));
addEventListener("drop", (event) => add(event.dataTransfer?.files ?? []));
addEventListener("beforeunload", (event) => {
  if (open.size) event.preventDefault();
});
addEventListener("online", () => next?.());
choose(); // what somebody chose before this script was there

function choose() {
  add(chooser.files);
  chooser.value = "";
}

function add(files) {
  for (const file of files) {
    const row = $("#taking").content.cloneNode(true).firstElementChild;
    const taking = { file, row, once: `${form.elements.once.value}-${(count += 1)}`, tries: 0 };
    $("[data-name]", row).textContent = file.name;
    $("[data-on]", row).setAttribute("aria-label", t("file_continue", { name: file.name }));
    $("[data-drop]", row).setAttribute("aria-label", t("file_remove", { name: file.name }));
    $("[data-drop]", row).addEventListener("click", () => leave(taking));
    $("[data-again]", row).addEventListener("click", () => next?.());
    $("[data-progress]", row).setAttribute("aria-label", t("file_progress", { name: file.name }));
    list.hidden = false;
    list.append(row);
    open.add(taking);
    if (file.size > most * 2 ** 20) refuse(taking, { title: t("file_large"), advice: t("file_large_text", { size: size(file.size), most }) });
    else {
      say(taking, t("file_waiting", { size: size(file.size) }));
      waiting.push(taking);
    }
  }
  work();
}

async function work() {
  if (busy) return;
  busy = true;
  for (let taking; (taking = waiting.shift()); ) while (open.has(taking) && !(await sent(taking))) await pause(taking);
  busy = false;
  over();
}

/** Whether there is an answer; it stands in the row then. */
async function sent(taking) {
  const { status, answer } = await upload(taking);
  if (!open.has(taking)) return true;
  if (status === 401) say(taking, [answer?.error?.message, t("file_sign_in")].filter(Boolean).join(" "));
  else if (answer?.to) done(taking, answer.to);
  else if (answer?.refused) refuse(taking, answer.refused);
  else if (status >= 400 && status < 429 && taking.tries && answer) refuse(taking, { title: t("file_refused"), advice: answer.error?.message ?? "" });
  else say(taking, t(status ? "file_busy" : "file_lost"));
  return !open.has(taking);
}

function upload(taking) {
  const body = new FormData();
  body.set("csrf", form.elements.csrf.value);
  body.set("place", form.elements.place.value);
  body.set("once", taking.once);
  body.set("files", taking.file);
  const request = (taking.request = new XMLHttpRequest());
  const bar = $("[data-progress]", taking.row);
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.value = total ? (100 * loaded) / total : 0;
    say(taking, loaded < total ? t("file_sending", { sent: size(loaded), size: size(total) }) : t("file_reading"));
  });
  return new Promise((resolve) => {
    request.addEventListener("loadend", () => {
      let answer = null;
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // a page, or nothing
      }
      resolve({ status: request.status, answer });
    });
    request.send(body);
  });
}

/** Until the connection is back, somebody presses the button, or a while has gone by. */
async function pause(taking) {
  const again = $("[data-again]", taking.row);
  const seconds = Math.min(30, 2 ** (taking.tries += 1));
  again.hidden = false;
  $("[data-progress]", taking.row).value = 0;
  await new Promise((resolve) => {
    next = resolve;
    setTimeout(resolve, seconds * 1000);
  });
  next = null;
  again.hidden = true;
  if (open.has(taking)) await renew(form);
}

function done(taking, to) {
  open.delete(taking);
  say(taking, t(form.dataset.made, { n: 1 }));
  const on = $("[data-on]", taking.row);
  on.href = to;
  on.hidden = false;
  settle(taking);
}

function refuse(taking, { title, advice }) {
  open.delete(taking);
  const box = $("[data-refused]", taking.row);
  $("[data-title]", box).textContent = title;
  $("[data-advice]", box).textContent = advice;
  say(taking, "");
  box.hidden = false;
  settle(taking);
}

function settle(taking) {
  taking.over = true;
  $("[data-progress]", taking.row).hidden = true;
  if ($("[data-on]", taking.row).href) $("[data-drop]", taking.row).hidden = true;
}

function leave(taking) {
  open.delete(taking);
  taking.request?.abort();
  next?.();
  taking.row.remove();
  list.hidden = !list.children.length;
  chooser.focus();
}

function say(taking, text) {
  const line = $("[data-state]", taking.row);
  if (line.textContent !== text) line.textContent = text;
}

/** Of one file that was taken the next step comes at once. */
function over() {
  const made = [...list.querySelectorAll("[data-on]:not([hidden])")];
  if (made.length === 1 && list.children.length === 1) location.assign(made[0].href);
  else if (made.length) $("#all").textContent = t(form.dataset.made, { n: made.length });
}
