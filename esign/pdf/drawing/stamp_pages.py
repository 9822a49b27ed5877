"""Lay drawn pages over the pages of a PDF (field values, a watermark), or append them after its last page."""

import io
from collections.abc import Mapping
from contextlib import ExitStack

from pikepdf import Pdf

from esign.pdf.page import content, structure_tags
from esign.pdf.page import page_properties as pages


def stamp_overlays(pdf: Pdf, overlays: Mapping[int, tuple[bytes, int]]) -> None:
    """Lay transparent pages over pages of `pdf`: by number from 1, an overlay PDF and the index of its page in it.

    An overlay covers the visible part of its page and stands upright for the reader, whatever the boxes and the
    rotation.
    """
    with ExitStack() as stack:
        opened: dict[bytes, Pdf] = {}
        for number, (drawing, index) in overlays.items():
            if drawing not in opened:
                opened[drawing] = stack.enter_context(Pdf.open(io.BytesIO(drawing)))
            _lay_over(pdf, number, opened[drawing], index)


def _lay_over(pdf: Pdf, number: int, drawing: Pdf, index: int) -> None:
    page, overlay = pdf.pages[number - 1], drawing.pages[index]
    size = pages.read_visible_area(overlay)
    form = pdf.copy_foreign(overlay.as_form_xobject())
    content.enclose_content(pdf, page)
    matrix = b" ".join(
        b"%.6f" % value for value in pages.read_visible_area(page).build_cover_matrix(size.width, size.height)
    )
    name = pages.place_form(pages.give_own_resources(page).XObject, form)
    before, after = structure_tags.tag_addition(pdf, page)
    content.append_content(pdf, page, b"%sq %s cm %s Do Q%s\n" % (before, matrix, name, after))


def append_pages(pdf: Pdf, addition: bytes) -> int:
    """Append all pages of another PDF, each with its own boxes and rotation. Return how many there are."""
    with Pdf.open(io.BytesIO(addition)) as further:
        for page in further.pages:
            pages.settle_boxes(page, pages.read_visible_area(page))
        count = len(pdf.pages)
        pdf.pages.extend(further.pages)
        structure_tags.join_trees(pdf, further, count)
        return len(further.pages)
