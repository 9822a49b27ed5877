"""Read the properties of a page, inherited or not, from files in which any value may have any type."""

from decimal import Decimal
from math import isfinite

from pikepdf import Array, Dictionary, Object, Page

from esign.pdf.page import geometry

# Trees of pages and of fields are rarely deeper than three; a loop of parents ends here too.
DEEPEST = 64


def find_inherited(node: object, key: str) -> object:
    """Return the entry of a page or form field, or that of its nearest ancestor that has one, or None."""
    for _ in range(DEEPEST):
        if not isinstance(node, Dictionary):
            return None
        if key in node:
            return node[key]
        node = node.get("/Parent")
    return None


def read_visible_area(page: Page) -> geometry.VisibleArea:
    """Return the visible part of the page, from its boxes and its rotation."""
    return geometry.find_visible_area(
        _read_numbers(find_inherited(page.obj, "/MediaBox")),
        _read_numbers(find_inherited(page.obj, "/CropBox")),
        _read_number(find_inherited(page.obj, "/Rotate")) or 0.0,
    )


def settle_boxes(page: Page, seen: geometry.VisibleArea) -> None:
    """Write boxes and rotation into the page itself, so that every reader sees the same and nothing is inherited."""
    sheet = geometry.find_visible_area(_read_numbers(find_inherited(page.obj, "/MediaBox")), None, 0)
    page.obj.MediaBox = build_box(sheet)
    page.obj.CropBox = build_box(seen)
    page.obj.Rotate = seen.turns * 90


def give_own_resources(page: Page) -> Object:
    """Give the page a resource dictionary that it shares with no other page, with its own /XObject part, and
    return it.
    """
    found = find_inherited(page.obj, "/Resources")
    resources = found.copy() if isinstance(found, Dictionary) else Dictionary()
    forms = resources.get("/XObject")
    resources.XObject = forms.copy() if isinstance(forms, Dictionary) else Dictionary()
    page.obj.Resources = resources
    return resources


def place_form(forms: Object, form: Object) -> bytes:
    """Add a form XObject to an /XObject dictionary. Return the name by which content can paint it."""
    number = len(forms.keys())
    while f"/Esign{number}" in forms:
        number += 1
    forms[f"/Esign{number}"] = form
    return b"/Esign%d" % number


def _read_number(found: object) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float | Decimal):
        return None
    return float(found) if isfinite(found) else None


def build_box(seen: geometry.VisibleArea) -> Array:
    """Return the view as a rectangle of the page's own coordinates."""
    return Array([Decimal(f"{side:.6f}") for side in (seen.x0, seen.y0, seen.x1, seen.y1)])


def _read_numbers(found: object) -> list[float] | None:
    """Return four numbers, or None if the box is anything else."""
    if not isinstance(found, Array) or len(found) != 4:
        return None
    numbers = [_read_number(item) for item in found]
    return [n for n in numbers if n is not None] if None not in numbers else None
