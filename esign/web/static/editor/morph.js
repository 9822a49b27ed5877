// Makes what is there look like what it shall be, and leaves everything that is alike where it is: whoever types in it
// or has just pressed on it notices nothing.

const nameOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? `${node.localName} ${node.id || node.name || node.dataset.go || ""} ${node.value && node.type === "checkbox" ? node.value : ""}` : node.nodeName);
const CONTROLS = new Set(["INPUT", "TEXTAREA", "SELECT"]);

/** What a control says is no part of the tree; what somebody types in stays as they typed it. */
function speak(old, fresh) {
  if (!CONTROLS.has(old.tagName)) return;
  if (old.type === "checkbox") old.checked = fresh.checked;
  else if (old.value !== fresh.value && (old !== document.activeElement || old.tagName === "SELECT")) old.value = fresh.value;
}

export function morph(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !(old.localName === "details" && name === "open")) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.tagName !== "TEXTAREA") children(old, fresh);
  speak(old, fresh);
}

export function children(old, fresh) {
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const name = nameOf(next);
    let same = at;
    while (same && nameOf(same) !== name) same = same.nextSibling;
    if (!same) {
      old.insertBefore(next, at);
      continue;
    }
    while (at !== same) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
    if (same.nodeType === Node.ELEMENT_NODE) morph(same, next);
    else if (same.data !== next.data) same.data = next.data;
    at = same.nextSibling;
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}
