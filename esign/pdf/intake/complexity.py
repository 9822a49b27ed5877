"""Refuse at once what would keep a reader busy without end.

This is a cheap first look: the worker's limits protect.
"""

import warnings
from collections.abc import Callable
from decimal import Decimal

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Page, Pdf, Stream

from esign.core.errors import Problem
from esign.pdf.inspection import TOO_COMPLEX
from esign.pdf.intake import active_content
from esign.pdf.page import page_properties as pages

# A pattern this fine takes a reader over 4 seconds to lay across a page: 10,000 by 10,000 tiles.
MOST_TILES = 100_000_000


def refuse_endless(pdf: Pdf) -> None:
    """Raise `invalid_file` for forms that paint themselves and for patterns of too many tiles."""
    shared: set[tuple[int, int]] = set()
    for page in pdf.pages:
        resources = pages.find_inherited(page.obj, "/Resources")
        if not isinstance(resources, Dictionary) or resources.objgen in shared:
            continue
        if resources.is_indirect:
            shared.add(resources.objgen)
        if _has_fine_pattern(resources, page) or _has_circular_form(resources):
            raise Problem("invalid_file", TOO_COMPLEX)


def _list_entries(resources: Object, kind: str) -> dict[str, Object]:
    """Return the streams of one kind of resource, by name."""
    found = resources.get(kind)
    items = found.items() if isinstance(found, Dictionary) else ()
    return {name: item for name, item in items if isinstance(item, Stream)}


def _has_fine_pattern(resources: Object, page: Page) -> bool:
    patterns = _list_entries(resources, "/Pattern").values()
    if not patterns:
        return False
    seen = pages.read_visible_area(page)
    return any(_count_tiles(pattern, seen.width * seen.height) > MOST_TILES for pattern in patterns)


def _count_tiles(pattern: Object, area: float) -> float:
    """Return how many tiles of the pattern cover `area`, in square points; 0 if the pattern is malformed."""
    steps = [pattern.get(key) for key in ("/XStep", "/YStep")]
    matrix = pattern.get("/Matrix")
    numbers = list(matrix) if isinstance(matrix, Array) and len(matrix) == 6 else [1, 0, 0, 1, 0, 0]
    if not all(isinstance(n, int | Decimal) for n in (*steps, *numbers)):
        return 0
    across, down, a, b, c, d = (float(n) for n in (*steps, *numbers[:4]))
    tile = abs(across * down * (a * d - b * c))
    return area / tile if tile else 0


def _has_circular_form(resources: Object) -> bool:
    """Return whether a form that is reached from here paints itself.

    A form that only names itself among its resources is harmless. Names are checked first because that needs no
    parsing.
    """

    def named(form: Object) -> list[Object]:
        own = form.get("/Resources")
        return _list_forms(own if isinstance(own, Dictionary) else resources)

    def painted(form: Object) -> list[Object]:
        own = form.get("/Resources")
        forms = _list_entries(own if isinstance(own, Dictionary) else resources, "/XObject")
        return [forms[name] for name in _find_painted_names(form) if name in forms]

    return _has_circle(_list_forms(resources), named) and _has_circle(_list_forms(resources), painted)


def _list_forms(resources: Object) -> list[Object]:
    return [
        item for item in _list_entries(resources, "/XObject").values() if item.get("/Subtype") == Name.Form
    ]


def _find_painted_names(form: Object) -> set[str]:
    """Return the names of the XObjects that the form's content paints."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pikepdf.parse_content_stream(form, "Do")
    except (pikepdf.PikepdfError, ValueError, TypeError):
        return set()
    return {active_content.read_name(operand) for each in found for operand in each.operands[-1:]}


def _has_circle(starts: list[Object], onward: Callable[[Object], list[Object]]) -> bool:
    """Return whether a depth-first walk comes back to an item that it has not finished."""
    done: set[tuple[int, int]] = set()
    under_way: set[tuple[int, int]] = set()
    waiting = [(start, True) for start in starts]
    while waiting:
        item, entering = waiting.pop()
        if not entering:
            under_way.remove(item.objgen)
            done.add(item.objgen)
        elif item.objgen in under_way:
            return True
        elif item.objgen not in done:
            under_way.add(item.objgen)
            waiting.append((item, False))
            waiting += [(next_, True) for next_ in onward(item)]
    return False
