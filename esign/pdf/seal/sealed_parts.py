"""Take a sealed file apart: the audit trail in it, and its certificate pages as a sealed file of their own."""

import io
from typing import cast

import pikepdf
from pyhanko.pdf_utils.reader import PdfFileReader

from esign.core.instant import to_datetime
from esign.core.seal_credential import SealCertificate
from esign.pdf.audit import audit_attachment
from esign.pdf.audit.audit_head import read_head
from esign.pdf.drawing import typst_template
from esign.pdf.report import AuditHead
from esign.pdf.seal import cms, self_check
from esign.pdf.seal.seal import SealTerms, fill_file, prepare_file, sign_drafts
from esign.pdf.seal_order import CertificateOrder, SealedParts
from esign.pdf.worker.signature_request import SignDigests


def read_sealed_parts(file: bytes) -> SealedParts:
    """Return what a file carries that was verified before: it has one seal of this installation over all of it.

    The subject in the document information of a certificate page is the id of its document, which no upload can know.
    """
    with io.BytesIO(file) as stream:
        (seal,) = PdfFileReader(stream, strict=False).embedded_signatures
        trail, recorded = audit_attachment.read_trail(seal), read_head(seal)
        _, before, behind, _ = map(int, seal.byte_range)
        as_written = file[before:behind] == b"<%s>" % seal.pkcs7_content.hex().encode()
    with pikepdf.open(io.BytesIO(file)) as pdf:
        subject = str(pdf.docinfo.get("/Subject", ""))
    alone = recorded.head is not None and subject == recorded.head["documentId"]
    return SealedParts(trail or b"", recorded.made, alone, as_written)


def seal_certificate_pages(order: CertificateOrder, certificate: SealCertificate, sign: SignDigests) -> bytes:
    """Return the certificate pages of a sealed file, as they are there, sealed now and without a time stamp.

    `sign` returns the signatures by the key of `certificate`, which is not here. Raises `SealFailed`.
    """
    key = cms.load_key(certificate)
    key.require_current(to_datetime(order.now))
    head = cast(AuditHead, order.head)
    page, count = copy_certificate_pages(order.sealed, order.pages, head["documentId"])
    reason = typst_template.load_labels(order.lang)["event"]["document.completed"]
    terms = SealTerms(order.now, reason, head, order.trail)
    [signed] = sign_drafts([prepare_file(page, key, terms)], key, sign)
    alone = fill_file(signed, key)
    expected = self_check.ExpectedSeal(count, head)
    self_check.check_sealed_file(alone, certificate.anchor_der, order.now, expected)
    audit_attachment.recompute_end.cache_clear()
    return alone


def copy_certificate_pages(sealed: bytes, behind: int, document_id: str) -> tuple[bytes, int]:
    """Return the pages behind those of the document as a file, without the place of the seal, and their number."""
    with pikepdf.open(io.BytesIO(sealed)) as pdf, pikepdf.new() as copy:
        copy.pages.extend(pdf.pages[behind:])
        for page in copy.pages:
            links = [one for one in page.get("/Annots", ()) if one.get("/Subtype") != "/Widget"]
            page.obj["/Annots"] = copy.make_indirect(pikepdf.Array(links))
        copy.docinfo["/Subject"] = document_id
        result = io.BytesIO()
        copy.save(result, min_version="1.7")
        return result.getvalue(), len(copy.pages)
