// While documents are being erased, the list of erasures says how far each has come. The rest of the page stays as it is.
const EVERY = 2000;   // milliseconds
const WATCHED = "script[src$='/erasure.js']";   // a page has it for as long as something is being erased
const wait = () => setTimeout(look, EVERY);

function look() {
  if (document.hidden) return wait();
  const request = new XMLHttpRequest();   // it reads a page as a document without trusted types
  request.open("GET", location.pathname);
  request.responseType = "document";
  request.addEventListener("load", () => (request.status === 200 && request.responseXML ? show(request.responseXML) : wait()));
  request.addEventListener("error", wait);
  request.send();
}

function show(page) {
  const list = document.querySelector(".erasures"), newer = page.querySelector(".erasures");
  if (!newer) return location.reload();   // somebody signed out meanwhile
  if (newer.textContent !== list.textContent) list.replaceWith(newer);
  if (page.querySelector(WATCHED)) wait();
}

wait();
