// Sends the form of the page as soon as a file is chosen or dropped, and shows what the answer says in its place.
import { t } from "./words.js";

const $ = (selector, root = document) => root.querySelector(selector);
const form = $("#verify");
let request = null;

if (form) begin();

function begin() {
  const drop = $("#drop");
  form.elements.file.addEventListener("change", (event) => take(event.target.files));
  for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault()); // a file that misses replaces no page
  for (const type of ["dragenter", "dragover"]) addEventListener(type, () => drop.classList.add("over"));
  for (const type of ["dragleave", "drop"]) addEventListener(type, () => drop.classList.remove("over"));
  addEventListener("drop", (event) => take(event.dataTransfer?.files ?? []));
  $("[data-stop]").addEventListener("click", () => request?.abort());
  take(form.elements.file.files); // what somebody chose before this script was there
}

function take(files) {
  if (request || !form.isConnected || !files.length) return;
  const most = Number(form.dataset.most);
  if (files.length > 1) return refuse(t("one"));
  const [file] = files;
  if (file.size > most * 2 ** 20) return refuse(t("large", { mib: most }));
  send(file);
}

function send(file) {
  const body = new FormData(form);
  body.set("file", file);
  wait(file.name);
  request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.responseType = "document";
  request.setRequestHeader("Accept", "text/html");
  request.upload.addEventListener("progress", (event) => tell(t("reading"), (event.loaded / event.total) * 60));
  request.upload.addEventListener("load", () => tell(t("checking"), 80));
  request.addEventListener("load", () => show(request.response));
  request.addEventListener("error", () => refuse(t("lost")));
  request.addEventListener("abort", () => again());
  request.send(body);
}

function wait(name) {
  $("#file-error").hidden = true;
  $("#drop").hidden = true;
  $("#waiting").hidden = false;
  $("#waiting [data-name]").textContent = name;
  tell(t("reading"), 0);
  $("[data-stop]").focus();
}

function tell(step, percent) {
  const said = $("#waiting [data-step]");
  if (said.textContent !== step) said.textContent = step;
  $("#waiting progress").value = percent;
}

function show(answer) {
  const main = answer && $("main", answer);
  if (!main) return refuse(t("away"));
  const refused = $("#file-error:not([hidden]) [data-sentence]", main);
  if (refused) return refuse(refused.textContent);
  document.title = answer.title;
  for (const button of main.querySelectorAll("[data-copy]")) button.hidden = false;
  $("main").replaceWith(document.adoptNode(main));
  scrollTo(0, 0);
  ($("#verdict", main) ?? main).focus();
}

function refuse(sentence) {
  again();
  $("#file-error [data-sentence]").textContent = sentence;
  $("#file-error").hidden = false;
}

function again() {
  request = null;
  $("#waiting").hidden = true;
  $("#drop").hidden = false;
  form.elements.file.value = "";
  form.elements.file.focus();
}
