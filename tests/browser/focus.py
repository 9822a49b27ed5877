"""What has the focus on a page, and whether one sees that it is there."""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page

# The focus may still move on, as when a sheet opens: it has to stay for two frames. The ring may be drawn around what
# holds a control; what Tab does not stop at, as a heading, is only read and needs none.
READ = """async () => {
  let at = document.activeElement;
  for (let left = 2; left; left = at === document.activeElement ? left - 1 : 2) {
    at = document.activeElement;
    await new Promise(requestAnimationFrame);
  }
  if (!at || at === document.body) return null;
  const held = at.closest("label, .drop") ?? at;
  const box = (at === held || at.offsetWidth > 2 ? at : held).getBoundingClientRect();
  const isRing = ({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const middle = (from, to, end) => (Math.max(0, from) + Math.min(end, to)) / 2; // of what is in sight
  const above = document.elementFromPoint(
    middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight));
  window.focuses ??= new Map();
  const part = at.closest("dialog, form, section, nav, header, footer, aside, main") ?? document.body;
  if (!window.focuses.has(part)) window.focuses.set(part, window.focuses.size);
  return {
    what: `${at.tagName} ` + (at.id || at.getAttribute("aria-label") || at.textContent.trim() || at.outerHTML),
    ring: at.tabIndex < 0 || isRing(getComputedStyle(at)) || isRing(getComputedStyle(held)),
    seen: Boolean(above && (held.contains(above) || above.closest("label")?.contains(at))),
    within: at.closest("dialog[open]")?.id ?? "",
    part: window.focuses.get(part),
    left: box.left + scrollX,
    right: box.right + scrollX,
    top: box.top + scrollY,
    bottom: box.bottom + scrollY,
  };
}"""
HAS = "(one) => one === document.activeElement"
BEFORE = """(one) => {
  const at = document.activeElement;
  return at !== document.body && Boolean(at.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING);
}"""


@dataclass(frozen=True)
class Focus:
    """The element with the focus, in dots of the page; `part` numbers the section, form or bar that it stands in."""

    what: str
    ring: bool
    seen: bool
    within: str
    part: int
    left: float
    right: float
    top: float
    bottom: float

    def follows(self, other: "Focus") -> bool:
        """Whether one reads it after the other: below it, or beside it. Parts may stand anywhere."""
        return self.part != other.part or self.bottom > other.top or self.left >= other.right


def read_focus(page: Page) -> Focus | None:
    """Return what has the focus once it has come to rest, or None where nothing of the page has."""
    found = page.evaluate(READ)
    return Focus(**found) if found else None


def has_focus(control: Locator) -> bool:
    return bool(control.evaluate(HAS))


def stands_before_focus(control: Locator) -> bool:
    return bool(control.evaluate(BEFORE))
