"""Draw the values of one page as a transparent picture, to be laid over the picture of the page."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pypdfium2

from esign.core.document.document import PageGeometry
from esign.pdf.drawing import overlay
from esign.pdf.page import render
from esign.pdf.seal_order import DrawnField, Typesetting

CLEAR = (255, 255, 255, 0)


def draw_filled_page(
    fields: Sequence[DrawnField], page: PageGeometry, size: int, setting: Typesetting
) -> bytes:
    """Return a WebP of the page's shape with its field values.

    The template that draws the sealed page draws this picture too, so that both look the same.
    """
    here = [replace(field, page=1) for field in fields]
    drawn, _ = overlay.draw_overlay(here, [(page.width, page.height)], setting)
    document = pypdfium2.PdfDocument(drawn)
    try:
        scale = render.compute_scale(page, render.DPI, size)
        image = document[0].render(scale=scale, fill_color=CLEAR, rev_byteorder=True).to_pil()
        file = io.BytesIO()
        image.save(file, "WEBP", lossless=True, method=1, quality=0)
        return file.getvalue()
    finally:
        document.close()
