"""The head of the audit trail inside a sealed file: an entry of the document information under a key of our own.

It is written in the revision that is signed, and read from that revision: a later one may change this entry without
any verifier calling it a change of the document.
"""

import re
from collections.abc import Mapping
from typing import Any

from pyhanko.pdf_utils.generic import DictionaryObject, IndirectObject, TextStringObject, pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.validation import EmbeddedPdfSignature

from esign.pdf.verification import AuditHead

KEY = "/EsignAudit"
TEXT = re.compile(r"(doc_[0-9a-z]{1,60}) ([1-9][0-9]{0,8}) ([0-9a-f]{64})")


def head_of(certificate: Mapping[str, Any], *, embedded: bool) -> AuditHead:
    """The one that the certificate page prints."""
    chain = certificate["chain"]
    return {
        "documentId": certificate["document"]["id"],
        "entries": chain["entries"],
        "hash": chain["head"],
        "embedded": embedded,
    }


def set_head(writer: IncrementalPdfFileWriter, head: AuditHead) -> None:
    """Beside what the document information holds already."""
    held = writer.trailer.flatten().get("/Info")
    info = writer.get_object(held.reference) if isinstance(held, IndirectObject) else held
    text = f"{head['documentId']} {head['entries']} {head['hash']}"
    kept = info if isinstance(info, DictionaryObject) else {}
    entries = {**kept, pdf_name(KEY): TextStringObject(text)}
    writer.set_info(DictionaryObject(entries))  # type: ignore[no-untyped-call]  # the one class without types


def read(embedded: EmbeddedPdfSignature) -> AuditHead | None:
    """What stood in the file when it was signed, whether or not the trail is there too."""
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)
    info = signed.trailer_view.get("/Info")
    if isinstance(info, IndirectObject):
        info = signed.get_object(info.reference)  # its own get_object() would give the newest
    text = info.get(KEY) if isinstance(info, DictionaryObject) else None
    found = TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    return {"documentId": found[1], "entries": int(found[2]), "hash": found[3], "embedded": False}
