"""Extract the text of a page as lines and paragraphs, for screen readers and for copying."""

import re
from collections.abc import Iterator
from ctypes import byref, c_double, c_int
from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw

from esign.core.errors import Problem
from esign.core.sentence import say
from esign.pdf.inspection import UNREADABLE_PAGE, Paragraph

MOST = 100_000  # characters of one page
FINE = 20_000  # units of a page's height, so that whole numbers are exact enough
ITEM = re.compile(r"[•●▪◦‣*–—-]\s|\(?(\d{1,3}|[A-Za-z])[.)]\s")


@dataclass(slots=True)
class PageLine:
    """A line of text; `top` and `bottom` are fractions of the page's height from its upper edge."""

    text: str
    top: float
    bottom: float

    @property
    def height(self) -> float:
        return max(self.bottom - self.top, 1e-6)


def read_paragraphs(pdf: bytes, number: int) -> tuple[Paragraph, ...]:
    """Return the visible paragraphs of page `number` in the order of the file; none for a scanned page.

    Raises `invalid_file` if the page cannot be read.
    """
    document = pypdfium2.PdfDocument(pdf)
    try:
        page = document[number - 1]
        return tuple(group_lines(read_lines(page, page.get_textpage())))
    except pypdfium2.PdfiumError as error:
        raise Problem("invalid_file", say(UNREADABLE_PAGE, page=number)) from error
    finally:
        document.close()


def read_lines(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage) -> Iterator[PageLine]:
    units: list[int] = []
    box: list[float] = []
    for index in range(min(text.count_chars(), MOST)):
        unit = raw.FPDFText_GetUnicode(text, index)
        if unit in (10, 13):
            yield from build_line(units, box)
            units, box = [], []
        elif raw.FPDFText_IsHyphen(text, index) == 1:
            units.append(0xAD)
        elif unit >= 32 and unit not in (0xFFFE, 0xFFFF):
            place = measure_character(page, text, index)
            if place is not None:
                units.append(unit)
                box += place
    yield from build_line(units, box)


def build_line(units: list[int], box: list[float]) -> Iterator[PageLine]:
    """Yield the line if it has any text and place. Pairs of surrogates become their characters."""
    packed = b"".join(chr(unit).encode("utf-16-le", "surrogatepass") for unit in units if unit < 0x110000)
    words = " ".join(packed.decode("utf-16-le", "replace").split())
    if words and box:
        yield PageLine(words, min(box), max(box))


def measure_character(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage, index: int) -> list[float] | None:
    """Return the upper and lower edge of a character as fractions of the page's height.

    Return an empty list for a space, and None for a character off the page.
    """
    left, right, bottom, top = (c_double() for _ in range(4))
    if not raw.FPDFText_GetCharBox(text, index, left, right, bottom, top) or left.value == right.value:
        return []
    x, y, across, down = c_int(), c_int(), 0.0, []
    for east, north in ((left, bottom), (right, top)):
        raw.FPDF_PageToDevice(page, 0, 0, FINE, FINE, 0, east, north, byref(x), byref(y))
        across += x.value / FINE / 2
        down.append(y.value / FINE)
    return down if 0 <= across <= 1 and 0 <= sum(down) / 2 <= 1 else None


def group_lines(found: Iterator[PageLine]) -> Iterator[Paragraph]:
    """Group lines that follow each other closely into paragraphs.

    An item of a list, larger letters or a gap begins a new paragraph.
    """
    text, first, last = "", None, None
    for one in found:
        if first is not None and last is not None and is_continuation(one, last):
            text = text[:-1] + one.text if text.endswith("\xad") else f"{text} {one.text}"
        else:
            if first is not None:
                yield Paragraph(round(first.top * 100, 2), text.replace("\xad", ""))
            text, first = one.text, one
        last = one
    if first is not None:
        yield Paragraph(round(first.top * 100, 2), text.replace("\xad", ""))


def is_continuation(one: PageLine, last: PageLine) -> bool:
    lower, larger = min(one.height, last.height), max(one.height, last.height)
    if abs(one.top - last.top) < lower / 2:  # cells of one row
        return True
    gap = one.top - last.bottom
    return -lower < gap < 0.9 * larger and larger < 1.5 * lower and not ITEM.match(one.text)
