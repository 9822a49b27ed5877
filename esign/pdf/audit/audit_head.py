"""What a sealed file says of its seal, in the document information under keys of our own.

That is the head of the audit trail, the level that was asked for, and the level that it was made with: where no
authority gave a time stamp, or where the time stamp was taken off later, the signature itself has nothing that tells it
from one that was to have none. All are written in the revision that is signed, and read from that revision: a later one
may change these entries without any verifier calling it a change of the document.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pyhanko.pdf_utils.generic import DictionaryObject, IndirectObject, TextStringObject, pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.validation import EmbeddedPdfSignature

from esign.pdf.report import LEVELS, AuditHead

KEY, ASKED, MADE = "/EsignAudit", "/EsignLevelAsked", "/EsignLevel"
TEXT = re.compile(r"(doc_[0-9a-z]{1,60}) ([1-9][0-9]{0,8}) ([0-9a-f]{64})")


class Said(NamedTuple):
    head: AuditHead | None
    asked: str | None
    made: str | None  # unknown of seals made before this was written


def head_of(certificate: Mapping[str, Any], *, embedded: bool) -> AuditHead:
    """The one that the certificate page prints."""
    chain = certificate["chain"]
    return {
        "documentId": certificate["document"]["id"],
        "entries": chain["entries"],
        "hash": chain["head"],
        "embedded": embedded,
    }


def state(writer: IncrementalPdfFileWriter, head: AuditHead, asked: str, made: str) -> None:
    """Beside what the document information holds already."""
    held = writer.trailer.flatten().get("/Info")
    info = writer.get_object(held.reference) if isinstance(held, IndirectObject) else held
    text = f"{head['documentId']} {head['entries']} {head['hash']}"
    kept = info if isinstance(info, DictionaryObject) else {}
    words = {KEY: text, ASKED: asked, MADE: made}
    ours = {pdf_name(key): TextStringObject(word) for key, word in words.items()}
    entries = {**kept, **ours}
    writer.set_info(DictionaryObject(entries))  # type: ignore[no-untyped-call]  # the one class without types


def read(embedded: EmbeddedPdfSignature) -> Said:
    """What stood in the file when it was signed, whether or not the trail is there too."""
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)
    info = signed.trailer_view.get("/Info")
    if isinstance(info, IndirectObject):
        info = signed.get_object(info.reference)  # its own get_object() would give the newest
    held = info if isinstance(info, DictionaryObject) else {}
    return Said(_head(held.get(KEY)), _level(held.get(ASKED)), _level(held.get(MADE)))


def _level(text: object) -> str | None:
    return str(text) if text in LEVELS else None


def _head(text: object) -> AuditHead | None:
    found = TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    return {"documentId": found[1], "entries": int(found[2]), "hash": found[3], "embedded": False}
