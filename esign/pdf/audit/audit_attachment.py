"""Write and read the audit trail that is attached to a sealed file.

The attachment is written in the revision that the seal signs, and read from that revision. The caller reads it
only from files whose audit head is readable: attachments of other files belong to their authors.
"""

from collections.abc import Mapping
from functools import lru_cache

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


def attach_trail(writer: IncrementalPdfFileWriter, trail: bytes, now: Instant) -> None:
    """Attach the audit trail to the file as PDF/A-3 requires, with its media type, time and relationship.

    pyHanko's own function would raise the file to PDF 2.0 for `/AF`, but a PDF/A-3 certificate must not be PDF
    2.0.
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
    tree = _build_dictionary({"/Names": ArrayObject([pdf_string(audit_file.NAME), reference])})
    names = writer.root.get("/Names")
    others = {key: names.raw_get(key) for key in names} if isinstance(names, DictionaryObject) else {}
    files = {"/EmbeddedFiles": writer.add_object(tree)}
    writer.root[pdf_name("/Names")] = writer.add_object(_build_dictionary({**others, **files}))
    writer.root[pdf_name("/AF")] = ArrayObject([reference])
    writer.update_root()  # type: ignore[no-untyped-call]  # pyHanko's writer has no types here


def _build_dictionary(entries: Mapping[str, PdfObject]) -> DictionaryObject:
    named = {pdf_name(key): value for key, value in entries.items()}
    return DictionaryObject(named)  # type: ignore[no-untyped-call]  # nor has this class


def read_trail(embedded: EmbeddedPdfSignature) -> bytes | None:
    """Return the audit trail that was attached when the file was signed, or None if there was none."""
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


def find_fault(trail: bytes, head: AuditHead) -> str | None:
    """Return why the trail does not recompute to the entry that the seal names, or None if it does."""
    broken, *end = recompute_end(trail)
    if broken:
        return broken
    document_id, entries, last = end
    if (document_id, entries, last) != (head["documentId"], head["entries"], head["hash"]):
        return f"it ends with entry {entries} of {document_id}, {last}"
    return None


@lru_cache(maxsize=1)
def recompute_end(trail: bytes) -> tuple[str | None, str, int, str]:
    """Return the fault of a trail, or None, then its document, its number of entries and the hash of the last one.

    A seal asks for the same bytes three times: before it is made, and for each of its two files. `seal` forgets them.
    """
    chain = audit_file.recompute(trail)
    return chain.broken, chain.document_id, chain.entries, chain.head.hex()
