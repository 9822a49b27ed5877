"""Render pages as the pictures that recipients see."""

import io
from math import sqrt

import pypdfium2
from PIL import Image

from esign.core.document.document import PageGeometry
from esign.core.errors import Problem

DPI = 110

# So small a page costs 1.2 ms where it has 55 lines of text, and 30 ms at full size. The interpreter runs over the
# same content and finds the same faults; half the time is reading the page, which no flag of the drawing shortens.
DPI_OF_CHECK = 5

# A poster must stay small enough to send, a page like a stamp large enough to read: pixels, pixels of the longer side.
MOST_PIXELS, LONGEST, SHORTEST = 4_000_000, 8_000, 800

# A sharper picture has `size` times the dots of the first each way, up to what a phone can hold of a few pages.
MOST_SHARP = 12_000_000

# With up to so many colours in a sixteenth of its pixels a page is text and drawings: without loss it is sharper,
# smaller and faster to write (12 ms against 16 for a page of text). A photograph takes 90 ms without loss. `method`
# above 1 takes up to four times as long and saves a tenth.
FEW_COLOURS = 768

# Of 256 levels of each colour 32 are kept where nothing is lost otherwise: a difference of at most four is invisible,
# and it halves most pictures (103 KB to 53 for a page of text). Black and white stay what they are.
LEVELS = [round(round(level * 31 / 255) * 255 / 31) for level in range(256)]


def refuse_undrawable(pdf: bytes, pages: tuple[PageGeometry, ...]) -> None:
    """Draw every page small. Raises `invalid_file` if one cannot be drawn or has another size."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        if len(document) != len(pages):
            raise Problem(
                "invalid_file", f"The file has {len(pages)} pages, but only {len(document)} can be displayed."
            )
        for index, page in enumerate(pages):
            _draw_page(document, index, page, DPI_OF_CHECK / 72)
    finally:
        document.close()


def render_page(pdf: bytes, number: int, page: PageGeometry, size: int) -> bytes:
    """Return the picture of one page (WebP) with `size` times the resolution, for zooming in.

    Raises `invalid_file` if the page cannot be drawn or has another size.
    """
    document = pypdfium2.PdfDocument(pdf)
    try:
        bitmap = _draw_page(document, number - 1, page, compute_scale(page, DPI, size))
        return _encode_webp(bitmap.to_pil())
    finally:
        document.close()


def _draw_page(
    document: pypdfium2.PdfDocument, index: int, page: PageGeometry, scale: float
) -> pypdfium2.PdfBitmap:
    try:
        drawn = document[index]
        width, height = drawn.get_size()
        if abs(width - page.width) > 0.5 or abs(height - page.height) > 0.5:
            raise Problem(
                "invalid_file",
                f"Page {index + 1} of the file is displayed in different sizes by different readers.",
            )
        return drawn.render(scale=scale, may_draw_forms=False, rev_byteorder=True)
    except pypdfium2.PdfiumError as error:
        raise Problem("invalid_file", f"Page {index + 1} of the file cannot be displayed.") from error


def compute_scale(page: PageGeometry, dpi: int, size: int = 1) -> float:
    """Return the scale of the picture in pixels per point."""
    longer, pixels = max(page.width, page.height), MOST_PIXELS if size == 1 else MOST_SHARP
    most = min(sqrt(pixels / (page.width * page.height)), LONGEST / longer)
    return min(max(dpi / 72, SHORTEST / longer) * size, most)


def _encode_webp(picture: Image.Image) -> bytes:
    sample = picture.resize(
        (max(1, picture.width // 4), max(1, picture.height // 4)), Image.Resampling.NEAREST
    )
    drawing = sample.getcolors(FEW_COLOURS) is not None
    file = io.BytesIO()
    if drawing:
        picture = picture.point(LEVELS * len(picture.getbands()))
        picture.save(file, "WEBP", lossless=True, method=1, quality=0)
    else:
        picture.save(file, "WEBP", method=0, quality=80)
    return file.getvalue()
