"""Seals a completed document: values and certificate pages in one revision, then one PAdES signature over all."""

import io
from typing import Any

from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers.cms_embedder import PdfCMSEmbedder, SigIOSetup, SigMDPSetup, SigObjSetup
from pyhanko.sign.signers.pdf_byterange import SignatureObject

from esign.core.credential import Credential
from esign.core.instant import Instant, to_datetime
from esign.pdf import certificate, cms, selfcheck, trail
from esign.pdf.assemble import assemble
from esign.pdf.head import Writer, head_of
from esign.pdf.order import Sealed, SealFailed, SealOrder
from esign.pdf.verification import AuditHead

FIELD = "Seal"
LEVEL = "B-B"
SLACK = 2048  # bytes a signature needs besides its certificates; reserved, so that there is no dry run


def seal(order: SealOrder, credential: Credential) -> Sealed:
    """The sealed document and its certificate as a sealed file of its own, both checked.

    Raises `SealFailed` with what stands in the way; nothing of the order is kept.
    """
    if order.level != LEVEL:
        raise SealFailed(f"Seals of level {order.level} cannot be made yet; use {LEVEL}.")
    key = cms.load(credential)
    key.require_current(to_datetime(order.now))
    facts = _facts(order, key)
    words = certificate.labels(facts.get("lang") or "en", order.font_paths)
    page = certificate.draw(facts, "certificate", order.now, order.font_paths)
    watermark = words["test_banner"] if facts["mode"] == "test" else None
    revision = assemble(order, page, watermark)
    reason = words["event"]["document.completed"]
    head = _head(order)
    sealed = sign(revision.pdf, key, order.now, reason, head, order.trail)
    alone = sign(page, key, order.now, reason, head, order.trail)
    page_count = revision.document_pages + revision.certificate_pages
    selfcheck.check(sealed, page_count, credential.anchor_der, order.now, head)
    selfcheck.check(alone, revision.certificate_pages, credential.anchor_der, order.now, head)
    selfcheck.check_ink(order.prepared, sealed, order.fields)
    return Sealed(sealed, alone, page_count, key.sha256, LEVEL)


def _head(order: SealOrder) -> AuditHead:
    """Raises `SealFailed` for a trail that was changed where it lies: no seal may vouch for it."""
    head = head_of(order.certificate, embedded=order.trail is not None)
    if order.trail is not None and (wrong := trail.fault(order.trail, head)):
        raise SealFailed(
            f"The audit trail is not as it was written: {wrong}. `esign verify-audit` tells more."
        )
    return head


def _facts(order: SealOrder, key: cms.Key) -> dict[str, Any]:
    """The certificate's facts with the seal as it is about to be made."""
    planned = {"level": LEVEL, "subject": key.name, "sha256": key.sha256, "time": {"source": "clock"}}
    return {**order.certificate, "seal": planned, "attached": order.trail is not None}


def sign(
    pdf: bytes,
    key: cms.Key,
    now: Instant,
    reason: str,
    head: AuditHead | None = None,
    attached: bytes | None = None,
) -> bytes:
    """Append the audit trail, its head and an invisible certification signature over the whole file.

    It forbids every change (DocMDP P=1).
    """
    writer = Writer(io.BytesIO(pdf))
    if head is not None:
        writer.set_head(head)
    if attached is not None:
        trail.attach(writer, attached, now)
    embedding = PdfCMSEmbedder(SigFieldSpec(FIELD, on_page=-1)).write_cms(FIELD, writer)
    next(embedding)
    embedding.send(
        SigObjSetup(
            SignatureObject(
                timestamp=to_datetime(now),
                subfilter=SigSeedSubFilter.PADES,
                name=key.name,
                reason=reason,
                bytes_reserved=2 * (len(key.certificates) + SLACK),
            ),
            mdp_setup=SigMDPSetup(key.digest, certify=True, docmdp_perms=MDPPerm.NO_CHANGES),
        )
    )
    prepared, output = embedding.send(SigIOSetup(key.digest, in_place=True))
    embedding.send(key.cms(prepared.document_digest))
    signed: bytes = output.getvalue()
    return signed
