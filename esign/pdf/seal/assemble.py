"""Put the values and the certificate pages into the prepared file, as one revision."""

import io
from dataclasses import dataclass

import pikepdf

from esign.pdf.drawing import overlay, stamp_pages
from esign.pdf.intake import conformance_claims
from esign.pdf.page import page_properties as pages
from esign.pdf.page import structure_tags
from esign.pdf.seal_order import SealOrder, Typesetting


@dataclass(frozen=True, slots=True)
class AssembledFile:
    """The file to be sealed: the pages of the document, then those of the certificate."""

    pdf: bytes
    document_pages: int
    certificate_pages: int


def assemble_file(order: SealOrder, certificate_pdf: bytes, watermark: str | None) -> AssembledFile:
    """Lay the values over their pages and a watermark over all pages, and append the certificate pages."""
    lang = order.certificate.get("lang") or "en"
    with pikepdf.open(io.BytesIO(order.prepared)) as pdf:
        views = [pages.read_visible_area(page) for page in pdf.pages]
        sizes = [(view.width, view.height) for view in views]
        setting = Typesetting(order.now, lang, order.font_paths)
        drawn, numbers = overlay.draw_overlay(order.fields, sizes, setting, watermark)
        structure_tags.drop_broken_tree(pdf)
        stamp_pages.stamp_overlays(pdf, {number: (drawn, index) for index, number in enumerate(numbers)})
        added = stamp_pages.append_pages(pdf, certificate_pdf)
        conformance_claims.drop_claims(pdf)  # for files that were prepared before uploads lost their claims
        result = io.BytesIO()
        pdf.save(result, min_version="1.7")
        return AssembledFile(result.getvalue(), len(views), added)
