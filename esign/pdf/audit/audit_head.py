"""Write and read what a sealed file records about its seal, in keys of our own in the document information.

These are the head of the audit trail, the level that was asked for and the level that was reached. The levels
are recorded because a signature without a time stamp does not show whether it was meant to have one: the
authority may have failed, or the time stamp may have been removed later. The entries are written in the
revision that is signed and read from that revision. A later revision may change these entries without any
verifier calling it a change of the document.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pyhanko.pdf_utils.generic import DictionaryObject, IndirectObject, TextStringObject, pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.validation import EmbeddedPdfSignature

from esign.pdf.report import AuditHead
from esign.pdf.verdict_sentences import LEVELS

KEY, ASKED, MADE = "/EsignAudit", "/EsignLevelAsked", "/EsignLevel"
TEXT = re.compile(r"(doc_[0-9a-z]{1,60}) ([1-9][0-9]{0,8}) ([0-9a-f]{64})")


class RecordedSeal(NamedTuple):
    """What the document information records about the seal; None for what is absent or malformed."""

    head: AuditHead | None
    asked: str | None
    made: str | None  # None for seals made before the level was recorded


def build_head(certificate: Mapping[str, Any], *, embedded: bool) -> AuditHead:
    """Return the audit head that the certificate page prints, from the facts of that page."""
    chain = certificate["chain"]
    return {
        "documentId": certificate["document"]["id"],
        "entries": chain["entries"],
        "hash": chain["head"],
        "embedded": embedded,
    }


def write_head(writer: IncrementalPdfFileWriter, head: AuditHead, asked: str, made: str) -> None:
    """Write the audit head and both levels into the document information, beside its present entries."""
    held = writer.trailer.flatten().get("/Info")
    info = writer.get_object(held.reference) if isinstance(held, IndirectObject) else held
    text = f"{head['documentId']} {head['entries']} {head['hash']}"
    kept = info if isinstance(info, DictionaryObject) else {}
    words = {KEY: text, ASKED: asked, MADE: made}
    ours = {pdf_name(key): TextStringObject(word) for key, word in words.items()}
    entries = {**kept, **ours}
    writer.set_info(DictionaryObject(entries))  # type: ignore[no-untyped-call]  # the one class without types


def read_head(embedded: EmbeddedPdfSignature) -> RecordedSeal:
    """Return the audit head and the levels that were recorded when the file was signed.

    `head["embedded"]` is always False here: this function does not look for the attached trail.
    """
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)
    info = signed.trailer_view.get("/Info")
    if isinstance(info, IndirectObject):
        info = signed.get_object(info.reference)  # its own get_object() would give the newest
    held = info if isinstance(info, DictionaryObject) else {}
    return RecordedSeal(
        _parse_head(held.get(KEY)), _parse_level(held.get(ASKED)), _parse_level(held.get(MADE))
    )


def _parse_level(text: object) -> str | None:
    return str(text) if text in LEVELS else None


def _parse_head(text: object) -> AuditHead | None:
    found = TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    return {"documentId": found[1], "entries": int(found[2]), "hash": found[3], "embedded": False}
