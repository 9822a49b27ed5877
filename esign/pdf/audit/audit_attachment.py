"""The whole audit trail inside a sealed file: its one attachment, written in the revision that is signed.

Like the head it is read from that revision. Only a file whose head we can read has one: attachments of others are
theirs.
"""

from collections.abc import Mapping

from pyhanko.pdf_utils.embed import EmbeddedFileObject, EmbeddedFileParams, FileSpec
from pyhanko.pdf_utils.generic import (
    ArrayObject,
    DictionaryObject,
    IndirectObject,
    PdfObject,
    StreamObject,
    TextStringObject,
    pdf_name,
    pdf_string,
)
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.validation import EmbeddedPdfSignature

from esign.core.document import audit_file
from esign.core.instant import Instant, to_datetime
from esign.pdf.report import AuditHead

DESCRIPTION = "Audit trail, as it was when the document was sealed"


def attach(writer: IncrementalPdfFileWriter, trail: bytes, now: Instant) -> None:
    """As PDF/A-3 asks for it: with its kind, its time, and what it is to the document.

    pyHanko's own way calls the file PDF 2.0 for the last of these, which the certificate must not be.
    """
    held = EmbeddedFileObject.from_file_data(
        writer,
        trail,
        params=EmbeddedFileParams(embed_checksum=False, modification_date=to_datetime(now)),
        mime_type="application/json",
    )
    spec = FileSpec(
        audit_file.NAME,
        file_name=audit_file.NAME,
        embedded_data=held,
        description=DESCRIPTION,
        af_relationship=pdf_name("/Data"),
    )
    reference = writer.add_object(spec.as_pdf_object())
    tree = _dictionary({"/Names": ArrayObject([pdf_string(audit_file.NAME), reference])})
    names = writer.root.get("/Names")
    others = {key: names.raw_get(key) for key in names} if isinstance(names, DictionaryObject) else {}
    files = {"/EmbeddedFiles": writer.add_object(tree)}
    writer.root[pdf_name("/Names")] = writer.add_object(_dictionary({**others, **files}))
    writer.root[pdf_name("/AF")] = ArrayObject([reference])
    writer.update_root()  # type: ignore[no-untyped-call]  # pyHanko's writer has no types here


def _dictionary(entries: Mapping[str, PdfObject]) -> DictionaryObject:
    named = {pdf_name(key): value for key, value in entries.items()}
    return DictionaryObject(named)  # type: ignore[no-untyped-call]  # nor has this class


def read(embedded: EmbeddedPdfSignature) -> bytes | None:
    """What was attached when the file was signed."""
    signed = embedded.reader.get_historical_resolver(embedded.signed_revision)

    def there(found: PdfObject | None) -> PdfObject | None:
        return signed.get_object(found.reference) if isinstance(found, IndirectObject) else found

    def at(holder: PdfObject | None, key: str) -> PdfObject | None:
        return there(holder.raw_get(key)) if isinstance(holder, DictionaryObject) and key in holder else None

    files = at(at(at(signed.root, "/Names"), "/EmbeddedFiles"), "/Names")
    if not isinstance(files, ArrayObject):
        return None
    for n in range(0, len(files) - 1, 2):
        name = there(files.raw_get(n))
        if isinstance(name, TextStringObject) and name == audit_file.NAME:
            held = at(at(there(files.raw_get(n + 1)), "/EF"), "/F")
            return bytes(held.data) if isinstance(held, StreamObject) else b""
    return None


def fault(trail: bytes, head: AuditHead) -> str | None:
    """What keeps it from recomputing up to the entry that the seal names."""
    chain = audit_file.recompute(trail)
    if chain.broken:
        return chain.broken
    if (chain.document_id, chain.entries, chain.head.hex()) != (
        head["documentId"],
        head["entries"],
        head["hash"],
    ):
        return f"it ends with entry {chain.entries} of {chain.document_id}, {chain.head.hex()}"
    return None
