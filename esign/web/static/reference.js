// What the page of the API gains with scripts: buttons that copy, and contents that follow the reader.

const wide = matchMedia("(min-width: 62em)");
const contents = document.querySelector(".contents details");
const fit = () => { contents.open = wide.matches; };
wide.addEventListener("change", fit);
fit();
contents.addEventListener("click", (event) => {
  if (!wide.matches && event.target.closest("a")) contents.open = false;
});

const copyable = navigator.clipboard ? document.querySelectorAll(".code") : []; // there is none without TLS
for (const code of copyable) {
  const block = Object.assign(document.createElement("div"), { className: "block" });
  const button = Object.assign(document.createElement("button"), { className: "copy", type: "button", textContent: "Copy" });
  button.setAttribute("aria-label", `Copy: ${code.getAttribute("aria-label")}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  code.replaceWith(block);
  block.append(code, button);
}

const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const seen = new Set();
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
  const first = [...places].find((place) => seen.has(place));
  if (!first) return;
  contents.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = links.get(first.getAttribute("aria-labelledby"));
  link?.setAttribute("aria-current", "true");
  if (wide.matches) link?.scrollIntoView({ block: "nearest" });
}, { rootMargin: "-80px 0px -50% 0px" });
const places = document.querySelectorAll("article[aria-labelledby]");
for (const place of places) watch.observe(place);
