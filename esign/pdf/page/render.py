"""Render pages as the pictures that recipients see."""

import resource
from math import sqrt

import pypdfium2

from esign.core.document.document import PageGeometry
from esign.core.errors import Problem
from esign.core.sentence import say
from esign.pdf.inspection import LOST_PAGES, UNDRAWN_PAGE, UNEQUAL_PAGE
from esign.pdf.page.encode_picture import encode_picture

DPI = 110

# So small a page costs 1.2 ms where it has 55 lines of text, and 30 ms at full size. The interpreter runs over the
# same content and finds the same faults; half the time is reading the page, which no flag of the drawing shortens.
DPI_OF_CHECK = 5

# A poster must stay small enough to send, a page like a stamp large enough to read: pixels, pixels of the longer side.
MOST_PIXELS, LONGEST, SHORTEST = 4_000_000, 8_000, 800

# A sharper picture has `size` times the dots of the first each way, up to what a phone can hold of a few pages.
MOST_SHARP = 12_000_000

# Seconds of processor time in which a job draws pages beyond the first: sending a large file to a worker for each page
# costs more than drawing it.
RUN_SECONDS = 0.015


def refuse_undrawable(pdf: bytes, pages: tuple[PageGeometry, ...]) -> None:
    """Draw every page small. Raises `invalid_file` if one cannot be drawn or has another size."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        if len(document) != len(pages):
            raise Problem("invalid_file", say(LOST_PAGES, pages=len(pages), shown=len(document)))
        for index, page in enumerate(pages):
            _draw_page(document, index, page, DPI_OF_CHECK / 72)
    finally:
        document.close()


def render_pages(
    pdf: bytes, numbers: tuple[int, ...], pages: tuple[PageGeometry, ...], size: int
) -> tuple[bytes, ...]:
    """Return the pictures of the first of these pages, as many as are drawn within `RUN_SECONDS`, at least one.

    `size` multiplies the resolution, for zooming in. Raises `invalid_file` if the first page cannot be drawn or has
    another size; the pictures end before any other such page.
    """
    document = pypdfium2.PdfDocument(pdf)
    ends, pictures = _read_cpu_seconds() + RUN_SECONDS, list[bytes]()
    try:
        for number, page in zip(numbers, pages, strict=True):
            if pictures and _read_cpu_seconds() > ends:
                break
            try:
                pictures.append(_picture_page(document, number, page, size))
            except Problem:
                if not pictures:
                    raise
                break
        return tuple(pictures)
    finally:
        document.close()


def render_page(pdf: bytes, number: int, page: PageGeometry, size: int) -> bytes:
    """Return the picture of one page. Raises `invalid_file` if it cannot be drawn or has another size."""
    return render_pages(pdf, (number,), (page,), size)[0]


def _picture_page(document: pypdfium2.PdfDocument, number: int, page: PageGeometry, size: int) -> bytes:
    bitmap = _draw_page(document, number - 1, page, compute_scale(page, DPI, size))
    return encode_picture(bitmap.to_pil())


def _read_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _draw_page(
    document: pypdfium2.PdfDocument, index: int, page: PageGeometry, scale: float
) -> pypdfium2.PdfBitmap:
    try:
        drawn = document[index]
        width, height = drawn.get_size()
        if abs(width - page.width) > 0.5 or abs(height - page.height) > 0.5:
            raise Problem("invalid_file", say(UNEQUAL_PAGE, page=index + 1))
        return drawn.render(scale=scale, may_draw_forms=False, rev_byteorder=True)
    except pypdfium2.PdfiumError as error:
        raise Problem("invalid_file", say(UNDRAWN_PAGE, page=index + 1)) from error


def compute_scale(page: PageGeometry, dpi: int, size: int = 1) -> float:
    """Return the scale of the picture in pixels per point."""
    longer, pixels = max(page.width, page.height), MOST_PIXELS if size == 1 else MOST_SHARP
    most = min(sqrt(pixels / (page.width * page.height)), LONGEST / longer)
    return min(max(dpi / 72, SHORTEST / longer) * size, most)
