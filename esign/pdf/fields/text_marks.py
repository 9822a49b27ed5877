"""Read the marks in a page's text that stand for fields: `{{type}}`, `{{type:person}}`, `{{type:person:label}}`.

The person is the number of a recipient. For a choice or a list the third part names the options, as in
`Yes|No`.
"""

import re
from collections.abc import Iterator
from ctypes import byref, c_double, c_int

import pypdfium2
from pypdfium2 import raw

from esign.core.document.document import FieldType
from esign.core.document.field_types import FIELD_TYPES
from esign.pdf.inspection import DetectedField, UnusableField

MOST = 100_000  # characters of one page
FINE = 1_000_000  # units of a page's side, so that whole numbers are exact enough
MARK = re.compile(r"\{\{(\s*[^{}\s][^{}]{0,2000})\}\}")
PARTS = re.compile(r"\s*([A-Za-z]+)\s*(?::\s*([0-9]{0,3})\s*)?(?::(.*))?", re.DOTALL)

# Names that marks may use for the types, beside the names of the types themselves.
WORDS = {
    **{kind.value: kind for kind in FieldType},
    "sign": FieldType.SIGNATURE,
    "sig": FieldType.SIGNATURE,
    "initial": FieldType.INITIALS,
    "tick": FieldType.CHECKBOX,
    "check": FieldType.CHECKBOX,
    "choice": FieldType.RADIO,
    "list": FieldType.DROPDOWN,
}
LISTS = {FieldType.RADIO: 2, FieldType.DROPDOWN: 1}  # how many options each needs at least

Box = tuple[float, float, float, float]


def read_marks(page: pypdfium2.PdfPage, number: int) -> Iterator[DetectedField | UnusableField]:
    """Yield the marks of a page in the order of its text.

    Characters are examined one by one only if the text has `{{`.
    """
    text = page.get_textpage()
    try:
        written = read_written(text)
        for found in MARK.finditer(written):
            yield parse_mark(found[1], number, measure_mark(page, text, written, *found.span()))
    finally:
        text.close()


def read_written(text: pypdfium2.PdfTextPage) -> str:
    """Return the characters of a page's text, or nothing if no mark begins in it."""
    count = min(text.count_chars(), MOST)
    if "{{" not in text.get_text_range(0, count):
        return ""
    return read_characters(text)


def read_characters(text: pypdfium2.PdfTextPage) -> str:
    """Return the characters of a page's text, one for each of its places."""
    units = [raw.FPDFText_GetUnicode(text, at) for at in range(min(text.count_chars(), MOST))]
    return "".join(chr(unit) if unit < 0xD800 else "\ufffd" for unit in units)


def parse_mark(inside: str, number: int, place: Box | None) -> DetectedField | UnusableField:
    inside = " ".join(inside.split())
    name = f"{{{{{inside[:80]}}}}}"
    parts = PARTS.fullmatch(inside)
    kind = WORDS.get(parts[1].lower()) if parts else None
    if parts is None or kind is None:
        return UnusableField(number, name, "This field type doesn’t exist.")
    if place is None:
        return UnusableField(number, name, "It is outside the visible page.")
    rest = (parts[3] or "").strip()
    options: dict[str, list[str]] = {}
    if kind in LISTS:
        options["options"] = list(dict.fromkeys(one.strip()[:200] for one in rest.split("|") if one.strip()))
        if not LISTS[kind] <= len(options["options"]) <= 50:
            return UnusableField(number, name, "It names no options, as {{choice:1:Yes|No}} does.")
        rest = ""
    return DetectedField(
        kind.value,
        number,
        *place_field(kind, place),
        marked=True,
        label=rest[:100] or None,
        person=int(parts[2] or 1),
        options=options,
    )


def place_field(kind: FieldType, place: Box) -> Box:
    """Return the box of a field of the usual size that begins where the mark begins, on the same line."""
    left, top, right, bottom = place
    width, height = FIELD_TYPES[kind].width, FIELD_TYPES[kind].height
    if kind is not FieldType.CHECKBOX:
        width = max(width, right - left)
    width, height = min(width, 100.0), max(height, bottom - top)
    x, y = min(left, 100 - width), min(max(bottom - height, 0.0), 100 - height)
    return round(x, 2), round(y, 2), round(width, 2), round(height, 2)


def measure_mark(
    page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage, written: str, start: int, end: int
) -> Box | None:
    """Return left, top, right and bottom of the mark in percent of the page as displayed.

    Only the part before a line break counts. Return None if the mark has no place or lies off the page.
    """
    breaks = [at for at in range(start, end) if written[at] in "\r\n"]
    corners = [
        corner
        for at in range(start, breaks[0] if breaks else end)
        for corner in locate_character(page, text, at)
    ]
    if not corners:
        return None
    across, down = [x for x, _ in corners], [y for _, y in corners]
    left, right, top, bottom = min(across), max(across), min(down), max(down)
    if not (0 <= (left + right) / 2 <= 100 and 0 <= (top + bottom) / 2 <= 100):
        return None
    return max(left, 0.0), max(top, 0.0), min(right, 100.0), min(bottom, 100.0)


def locate_character(
    page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage, at: int
) -> list[tuple[float, float]]:
    """Return two opposite corners of a character in percent of the page, or none for a space."""
    left, right, bottom, top = (c_double() for _ in range(4))
    if not raw.FPDFText_GetCharBox(text, at, left, right, bottom, top) or left.value == right.value:
        return []
    x, y, corners = c_int(), c_int(), []
    for east, north in ((left, bottom), (right, top)):
        raw.FPDF_PageToDevice(page, 0, 0, FINE, FINE, 0, east, north, byref(x), byref(y))
        corners.append((x.value / FINE * 100, y.value / FINE * 100))
    return corners
