"""Seal a completed document: values and certificate pages in one revision, then one PAdES signature over all of it.

A seal with a time stamp is made in two steps, because the worker has no network. `begin_seal` makes the signature,
the caller fetches a token for it, and `finish_seal` puts both into the file and checks it. Without a time stamp,
`seal_document` does both steps at once. The pause between the steps is also the place for other requests to come: a
signature by a remote key, or the proofs of a longer-lived level.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers.cms_embedder import PdfCMSEmbedder, SigIOSetup, SigMDPSetup, SigObjSetup
from pyhanko.sign.signers.pdf_byterange import SignatureObject

from esign.core import timestamp
from esign.core.instant import Instant, to_datetime
from esign.core.seal_credential import SealCertificate
from esign.core.sentence import say
from esign.pdf.audit import audit_attachment
from esign.pdf.audit.audit_head import build_head, write_head
from esign.pdf.drawing import typst_template
from esign.pdf.report import AuditHead
from esign.pdf.seal import cms, self_check
from esign.pdf.seal.assemble import assemble_file
from esign.pdf.seal.write_revision import TailStream, TailWriter, hash_parts
from esign.pdf.seal_order import BegunSeal, Level, SealedFiles, SealFailed, SealOrder, UnsealedFile
from esign.pdf.worker.signature_request import SignDigests

FIELD = "Seal"
SLACK = 512  # bytes that a signature needs besides its key's own parts: 300 for attributes and identifiers


@dataclass(frozen=True, slots=True)
class SealTerms:
    """What a seal says besides its signer, and how it is made.

    `head` is the audit head that it vouches for and `trail` the audit trail to attach. `level` is the level that is
    made, `asked` the one that was asked for.
    """

    now: Instant
    reason: str
    head: AuditHead | None = None
    trail: bytes | None = None
    level: Level = "B-B"
    asked: Level = "B-B"


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A file that waits for its signature over `digest`; the other fields are those of `UnsealedFile`."""

    pdf: bytes
    tail: bytes
    first: int
    last: int
    digest: bytes


def seal_document(order: SealOrder, certificate: SealCertificate, sign: SignDigests) -> SealedFiles:
    """Return the sealed document and its certificate page as a sealed file of its own, both checked, without
    time stamps.

    `sign` returns the signatures by the key of `certificate`, which is not here. Raises `SealFailed` with the reason.
    Nothing of the order is kept.
    """
    try:
        return finish_seal(begin_seal(order, certificate, sign), (), certificate)
    finally:
        audit_attachment.recompute_end.cache_clear()


def begin_seal(order: SealOrder, certificate: SealCertificate, sign: SignDigests) -> BegunSeal:
    """Return both files with everything but the contents of their signatures. Raises `SealFailed`."""
    key = cms.load_key(certificate)
    key.require_current(to_datetime(order.now))
    facts = _build_facts(order, key)
    words = typst_template.load_labels(facts.get("lang") or "en", order.font_paths)
    page = typst_template.draw_template(facts, "certificate", order.now, order.font_paths)
    watermark = words["test_banner"] if facts["mode"] == "test" else None
    revision = assemble_file(order, page, watermark)
    reason = words["event"]["document.completed"]
    head = _check_head(order)
    terms = SealTerms(order.now, reason, head, order.trail, order.level, order.asked)
    drafts = [prepare_file(pdf, key, terms) for pdf in (revision.pdf, page)]
    document, alone = sign_drafts(drafts, key, sign)
    self_check.check_ink(order.prepared, document.whole, order.fields)
    pages = revision.document_pages + revision.certificate_pages
    return BegunSeal(
        document, alone, pages, revision.certificate_pages, head, order.level, order.asked, order.now
    )


def finish_seal(begun: BegunSeal, tokens: Sequence[bytes], certificate: SealCertificate) -> SealedFiles:
    """Return the sealed files after checking them. `tokens` are the time stamps over their signatures, the
    document's first.

    Raises `SealFailed`, also if the number of tokens does not match the level.
    """
    files = (begun.document, begun.certificate)
    if len(tokens) != (len(files) if begun.level == "B-T" else 0):
        raise SealFailed(
            say(
                "A seal of level {level} cannot be made of {stamps} time stamps.",
                level=begun.level,
                stamps=len(tokens),
            )
        )
    key = cms.load_key(certificate)
    given = tokens or (None,) * len(files)
    sealed, alone = (fill_file(file, key, token) for file, token in zip(files, given, strict=True))
    head = cast(AuditHead, begun.head)
    for pdf, pages in ((sealed, begun.page_count), (alone, begun.certificate_pages)):
        expected = self_check.ExpectedSeal(pages, head, begun.level, begun.asked)
        self_check.check_sealed_file(pdf, certificate.anchor_der, begun.now, expected)
    return SealedFiles(sealed, alone, begun.page_count, key.sha256, begun.level)


def _check_head(order: SealOrder) -> AuditHead:
    """Return the audit head of the order.

    Raises `SealFailed` if the stored trail was changed: no seal may vouch for it.
    """
    head = build_head(order.certificate, embedded=order.trail is not None)
    if order.trail is not None and (wrong := audit_attachment.find_fault(order.trail, head)):
        raise SealFailed(
            say(
                "The audit trail is not as it was written: {fault}. `esign verify-audit` tells more.",
                fault=wrong,
            )
        )
    return head


def _build_facts(order: SealOrder, key: cms.SealKey) -> dict[str, object]:
    """Return the facts of the certificate page with those of the seal that is about to be made."""
    planned = {"level": order.level, "subject": key.name, "sha256": key.sha256, "time": _describe_time(order)}
    return {**order.certificate, "seal": planned, "attached": order.trail is not None}


def _describe_time(order: SealOrder) -> dict[str, object]:
    """Return where the time of the seal comes from. The page is drawn before any time-stamp authority has answered."""
    if order.level == "B-T":
        return {"source": "tsa", "authority": " / ".join(order.authorities)}
    return {"source": "clock", "missed": order.asked != order.level}


def prepare_file(pdf: bytes, key: cms.SealKey, terms: SealTerms) -> DraftFile:
    """Append the audit trail, its head, both levels, and the place of an invisible certification signature over the
    whole file.

    The signature forbids every change (DocMDP P=1) and has room for the time stamp of its level.
    """
    # The streams are closed here because pyHanko's objects refer to each other and would keep the whole file.
    with io.BytesIO(pdf) as file, TailStream(len(pdf)) as tail:
        writer = TailWriter(file)
        if terms.head is not None:
            write_head(writer, terms.head, terms.asked, made=terms.level)
        if terms.trail is not None:
            audit_attachment.attach_trail(writer, terms.trail, terms.now)
        first, last = _reserve_place(writer, tail, key, terms)
        behind = tail.getvalue()
    digest = hash_parts(key.digest, pdf, behind[: first - 1], behind[last + 1 :])
    return DraftFile(pdf, behind, first, last, digest)


def sign_drafts(drafts: Sequence[DraftFile], key: cms.SealKey, sign: SignDigests) -> list[UnsealedFile]:
    """Return the files with their signatures, all of which are asked for at once. Raises `SealFailed`."""
    signatures = sign([draft.digest for draft in drafts])
    return [
        UnsealedFile(
            draft.pdf,
            draft.tail,
            draft.first,
            draft.last,
            key.build_signer_info(draft.digest, signature),
            signature,
        )
        for draft, signature in zip(drafts, signatures, strict=True)
    ]


def _reserve_place(
    writer: TailWriter, tail: TailStream, key: cms.SealKey, terms: SealTerms
) -> tuple[int, int]:
    """Write everything but the signature. Return the first and last position of its place in the tail.

    pyHanko takes only the tail for its digest; that digest is not used.
    """
    stamp = timestamp.LARGEST if terms.level == "B-T" else 0
    embedding = PdfCMSEmbedder(SigFieldSpec(FIELD, on_page=-1)).write_cms(FIELD, writer)
    next(embedding)
    embedding.send(
        SigObjSetup(
            SignatureObject(
                timestamp=to_datetime(terms.now),
                subfilter=SigSeedSubFilter.PADES,
                name=key.name,
                reason=terms.reason,
                bytes_reserved=2 * (key.longest_cms + SLACK + stamp),
            ),
            mdp_setup=SigMDPSetup(key.digest, certify=True, docmdp_perms=MDPPerm.NO_CHANGES),
        )
    )
    prepared, _ = embedding.send(SigIOSetup(key.digest, output=tail))
    return (
        prepared.reserved_region_start + 1 - tail.start,
        prepared.reserved_region_end - 1 - tail.start,
    )


def fill_file(file: UnsealedFile, key: cms.SealKey, token: bytes | None = None) -> bytes:
    """Return the file with the CMS in its place, including the time stamp if there is one."""
    contents = key.build_cms(file.signer_info, token).hex().encode()
    if len(contents) > file.last - file.first:
        raise SealFailed("The time stamp and the certificates of the seal are too large for their place.")
    return b"".join((file.pdf, file.tail[: file.first], contents, file.tail[file.first + len(contents) :]))
