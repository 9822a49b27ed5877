"""Lay drawn pages over the pages of a PDF (field values, a watermark), or append them after its last page."""

import io
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from pikepdf import Object, Page, Pdf

from esign.pdf.page import content, structure_tags
from esign.pdf.page import page_properties as pages


@dataclass(frozen=True, slots=True)
class OverlayForm:
    """An overlay as a form XObject of the file that it is laid over, and its size in points."""

    content: Object
    width: float
    height: float


def stamp_overlays(pdf: Pdf, overlays: Mapping[int, tuple[bytes, int]]) -> None:
    """Lay transparent pages over pages of `pdf`: by number from 1, an overlay PDF and the index of its page in it.

    An overlay covers the visible part of its page and stands upright for the reader, whatever the boxes and the
    rotation.
    """
    with ExitStack() as stack:
        opened: dict[bytes, Pdf] = {}
        forms: dict[tuple[bytes, int], OverlayForm] = {}
        tags = structure_tags.AdditionTags(pdf)
        for number, (drawing, index) in overlays.items():
            if drawing not in opened:
                opened[drawing] = stack.enter_context(Pdf.open(io.BytesIO(drawing)))
            if (drawing, index) not in forms:
                forms[drawing, index] = _copy_overlay(pdf, opened[drawing].pages[index])
            _lay_over(pdf, pdf.pages[number - 1], forms[drawing, index], tags)
        tags.join_tree()


def _copy_overlay(pdf: Pdf, overlay: Page) -> OverlayForm:
    size = pages.read_visible_area(overlay)
    return OverlayForm(pdf.copy_foreign(overlay.as_form_xobject()), size.width, size.height)


def _lay_over(pdf: Pdf, page: Page, form: OverlayForm, tags: structure_tags.AdditionTags) -> None:
    content.enclose_content(pdf, page)
    matrix = pages.read_visible_area(page).build_cover_matrix(form.width, form.height)
    name = pages.place_form(pages.give_own_resources(page).XObject, form.content)
    before, after = tags.tag_addition(page)
    cover = b"%.6f %.6f %.6f %.6f %.6f %.6f" % matrix
    content.append_content(pdf, page, b"%sq %s cm %s Do Q%s\n" % (before, cover, name, after))


def append_pages(pdf: Pdf, addition: bytes) -> int:
    """Append all pages of another PDF, each with its own boxes and rotation. Return how many there are."""
    with Pdf.open(io.BytesIO(addition)) as further:
        for page in further.pages:
            pages.settle_boxes(page, pages.read_visible_area(page))
        count = len(pdf.pages)
        pdf.pages.extend(further.pages)
        structure_tags.join_trees(pdf, further, count)
        return len(further.pages)
