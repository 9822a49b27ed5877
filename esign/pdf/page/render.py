"""Render pages as the pictures that recipients see."""

import resource
from math import sqrt

import pypdfium2

from esign.core.document.document import PageGeometry
from esign.core.errors import Problem
from esign.core.sentence import say
from esign.pdf.inspection import LOST_PAGES, UNDRAWN_PAGE, UNEQUAL_PAGE
from esign.pdf.page.encode_picture import encode_picture
from esign.system.clock import read_processor_seconds

DPI = 110

# A seal compares pictures of each page that has fields, before and after (`seal.self_check`): at 50 dpi, so that ink
# is distinguished from none; a page like a stamp larger and one like a wall smaller: pixels, of which A4 has 245,000.
DPI_OF_SEAL = 50.4
LEAST_OF_SEAL, MOST_OF_SEAL = 240_000, 4_000_000

# An upload is drawn at this part of that size. So small a page costs 1.6 ms where it has 55 lines of text, half of it
# for reading the page, and 30 ms at full size: the interpreter runs over the same content and finds the same faults.
SMALL = 1 / 6.3

# At the size of the seal a page took at most 1.07 times as much longer as it has more pixels there, with thirty kinds
# of content: shadings over the page were the worst, text takes twice as long.
MOST_TIMES = 1.1 / SMALL**2

# Seconds that all pages of which only this is known may take at that size. The others are drawn at it, and refused by
# the limit of the job.
UNSURE_SECONDS = 4.0

# A poster must stay small enough to send, a page like a stamp large enough to read: pixels, pixels of the longer side.
MOST_PIXELS, LONGEST, SHORTEST = 4_000_000, 8_000, 800

# A sharper picture has `size` times the dots of the first each way, up to what a phone can hold of a few pages.
MOST_SHARP = 12_000_000

# Seconds of processor time in which a job draws pages beyond the first: sending a large file to a worker for each page
# costs more than drawing it.
RUN_SECONDS = 0.015


def refuse_undrawable(pdf: bytes, pages: tuple[PageGeometry, ...]) -> None:
    """Draw every page. Raises `invalid_file` if one cannot be drawn or has another size.

    What the pages cost at the size of the seal is known when this returns, up to `UNSURE_SECONDS`: a page is drawn
    at it unless it costs so little when drawn small that it cannot matter. So a seal, which draws each page twice,
    takes no file that it cannot finish.
    """
    document = pypdfium2.PdfDocument(pdf)
    try:
        if len(document) != len(pages):
            raise Problem("invalid_file", say(LOST_PAGES, pages=len(pages), shown=len(document)))
        unsure = 0.0
        for index, page in enumerate(pages):
            scale = compute_seal_scale(page.width, page.height)
            drawn = _open_page(document, index, page)
            if unsure < UNSURE_SECONDS:
                began = read_processor_seconds()
                _draw_page(drawn, index, scale * SMALL)
                unsure += (read_processor_seconds() - began) * MOST_TIMES
            # From here on, drawing each page small first would only add to what it costs.
            if unsure >= UNSURE_SECONDS:
                _draw_page(drawn, index, scale)
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
    drawn = _open_page(document, number - 1, page)
    return encode_picture(_draw_page(drawn, number - 1, compute_scale(page, DPI, size)).to_pil())


def _read_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _open_page(document: pypdfium2.PdfDocument, index: int, page: PageGeometry) -> pypdfium2.PdfPage:
    try:
        opened = document[index]
        width, height = opened.get_size()
    except pypdfium2.PdfiumError as error:
        raise _build_undrawable(index) from error
    if abs(width - page.width) > 0.5 or abs(height - page.height) > 0.5:
        raise Problem("invalid_file", say(UNEQUAL_PAGE, page=index + 1))
    return opened


def _draw_page(page: pypdfium2.PdfPage, index: int, scale: float) -> pypdfium2.PdfBitmap:
    try:
        return page.render(scale=scale, may_draw_forms=False, rev_byteorder=True)
    except pypdfium2.PdfiumError as error:
        raise _build_undrawable(index) from error


def _build_undrawable(index: int) -> Problem:
    return Problem("invalid_file", say(UNDRAWN_PAGE, page=index + 1))


def compute_seal_scale(width: float, height: float) -> float:
    """Return at how many pixels per point a seal looks for ink on a page of this size in points."""
    area = width * height
    return min(max(DPI_OF_SEAL / 72, sqrt(LEAST_OF_SEAL / area)), sqrt(MOST_OF_SEAL / area))


def compute_scale(page: PageGeometry, dpi: int, size: int = 1) -> float:
    """Return the scale of the picture in pixels per point."""
    longer, pixels = max(page.width, page.height), MOST_PIXELS if size == 1 else MOST_SHARP
    most = min(sqrt(pixels / (page.width * page.height)), LONGEST / longer)
    return min(max(dpi / 72, SHORTEST / longer) * size, most)
