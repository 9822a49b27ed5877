"""Put drawn pages over the pages of a PDF and behind them."""

import io
from collections.abc import Mapping
from contextlib import ExitStack

from pikepdf import Pdf

from esign.pdf.page import content, structure_tags
from esign.pdf.page import page as pages


def stamp(pdf: Pdf, overlays: Mapping[int, tuple[bytes, int]]) -> None:
    """Lay transparent pages over pages of `pdf`: by number from 1, an overlay PDF and the index of its page in it.

    An overlay covers the visible part of its page and stands upright for the reader, whatever the boxes and the
    rotation.
    """
    with ExitStack() as stack:
        opened: dict[bytes, Pdf] = {}
        for number, (drawing, index) in overlays.items():
            if drawing not in opened:
                opened[drawing] = stack.enter_context(Pdf.open(io.BytesIO(drawing)))
            _lay(pdf, number, opened[drawing], index)


def _lay(pdf: Pdf, number: int, drawing: Pdf, index: int) -> None:
    page, overlay = pdf.pages[number - 1], drawing.pages[index]
    size = pages.view(overlay)
    form = pdf.copy_foreign(overlay.as_form_xobject())
    content.enclose(pdf, page)
    matrix = b" ".join(b"%.6f" % value for value in pages.view(page).cover(size.width, size.height))
    name = pages.place(pages.own_resources(page).XObject, form)
    before, after = structure_tags.around(pdf, page)
    content.append(pdf, page, b"%sq %s cm %s Do Q%s\n" % (before, matrix, name, after))


def append(pdf: Pdf, addition: bytes) -> int:
    """Append all pages of another PDF, each with its own boxes and rotation. Return how many there are."""
    with Pdf.open(io.BytesIO(addition)) as further:
        for page in further.pages:
            pages.settle(page, pages.view(page))
        count = len(pdf.pages)
        pdf.pages.extend(further.pages)
        structure_tags.join(pdf, further, count)
        return len(further.pages)
