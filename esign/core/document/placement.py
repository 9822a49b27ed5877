"""Where a field may lie, in percent of the page as displayed, with the origin at the top left (contract 4,
Geometry).
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from esign.core.document.document import Field, FieldType, PageGeometry
from esign.core.document.field_types import FIELD_TYPES
from esign.core.errors import Detail
from esign.core.sentence import say

TOLERANCE = 0.01
# Where a field begins and how long it is, each way, with the sentences about a wrong start and a wrong size.
SIDES = (
    ("x", "width", "x lies between 0 and 100 percent of the page.", "The width must be more than 0 percent."),
    (
        "y",
        "height",
        "y lies between 0 and 100 percent of the page.",
        "The height must be more than 0 percent.",
    ),
)


def complete_size(
    kind: FieldType, x: float, y: float, width: float | None, height: float | None
) -> tuple[float, float]:
    """Return width and height, with the defaults of the type put in; a default is cut to what fits on the page."""
    usual = FIELD_TYPES[kind]
    return (
        cut_to_page(usual.width, x) if width is None else width,
        cut_to_page(usual.height, y) if height is None else height,
    )


def cut_to_page(size: float, start: float) -> float:
    """Return `size` cut at the edge of the page.

    A field that begins outside keeps its size, so that only its position is reported.
    """
    return min(size, 100 - start) if start < 100 else size


def find_out_of_bounds(field: Field, pages: Sequence[PageGeometry], path: str) -> Iterator[Detail]:
    """Yield every reason why a field does not lie on its page, with the member it is about."""
    if not 1 <= field.page <= len(pages):
        yield Detail(f"{path}/page", say("The document has pages 1 to {last}.", last=len(pages)), "range")
    for start, size, outside, empty in SIDES:
        at, length = getattr(field, start), getattr(field, size)
        begins_inside = isfinite(at) and 0 <= at < 100
        if not begins_inside:
            yield Detail(f"{path}/{start}", outside, "range")
        if not (isfinite(length) and length > 0):
            yield Detail(f"{path}/{size}", empty, "range")
        elif (at if begins_inside else 0) + length > 100 + TOLERANCE:
            yield Detail(f"{path}/{size}", "The field reaches over the edge of the page.", "range")


def find_misplaced(
    holders: Iterable[Sequence[Field]], pages: Sequence[PageGeometry], path: str
) -> list[Detail]:
    """Return the problems of fields that do not lie on their pages.

    `path` is that of a list, each entry of which holds fields.
    """
    return [
        problem
        for n, fields in enumerate(holders)
        for m, field in enumerate(fields)
        for problem in find_out_of_bounds(field, pages, f"{path}/{n}/fields/{m}")
    ]
