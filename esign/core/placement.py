"""Where a field may lie: percent of the page as displayed, origin top left (contract 4, Geometry)."""

from collections.abc import Iterable, Sequence
from math import isfinite

from esign.core.document import Field, FieldType, Page
from esign.core.errors import Detail

TOLERANCE = 0.01

SIZES: dict[FieldType, tuple[float, float]] = {
    FieldType.SIGNATURE: (25, 6),
    FieldType.INITIALS: (10, 5),
    FieldType.DATE: (15, 3),
    FieldType.NAME: (25, 3),
    FieldType.EMAIL: (25, 3),
    FieldType.TEXT: (25, 3),
    FieldType.NUMBER: (15, 3),
    FieldType.CHECKBOX: (2.5, 2),
    FieldType.RADIO: (25, 8),
    FieldType.DROPDOWN: (25, 3),
}


def sized(
    kind: FieldType, x: float, y: float, width: float | None, height: float | None
) -> tuple[float, float]:
    """Width and height with the defaults of the type put in; a default is cut to what fits on the page."""
    default_width, default_height = SIZES[kind]
    return (
        min(default_width, 100 - x) if width is None else width,
        min(default_height, 100 - y) if height is None else height,
    )


def out_of_bounds(field: Field, pages: Sequence[Page], path: str) -> Detail | None:
    """The first reason why a field does not lie on its page, with the member it is about."""
    if not 1 <= field.page <= len(pages):
        return Detail(f"{path}/page", f"The document has pages 1 to {len(pages)}.", "range")
    for member, at in (("x", field.x), ("y", field.y)):
        if not (isfinite(at) and 0 <= at < 100):
            return Detail(
                f"{path}/{member}", f"{member} lies between 0 and 100 percent of the page.", "range"
            )
    for member, size, start in (("width", field.width, field.x), ("height", field.height, field.y)):
        if not (isfinite(size) and size > 0):
            return Detail(f"{path}/{member}", f"The {member} must be more than 0 percent.", "range")
        if start + size > 100 + TOLERANCE:
            return Detail(f"{path}/{member}", "The field reaches over the edge of the page.", "range")
    return None


def misplaced(holders: Iterable[Sequence[Field]], pages: Sequence[Page], path: str) -> list[Detail]:
    """Why fields do not lie on their pages; `path` is that of a list, each entry of which holds fields."""
    return [
        problem
        for n, fields in enumerate(holders)
        for m, field in enumerate(fields)
        if (problem := out_of_bounds(field, pages, f"{path}/{n}/fields/{m}"))
    ]
