"""Judge the catalog, the document information and the metadata of a revision appended to a sealed file.

"Proof" is what may be appended to a sealed file without breaking the seal: time stamps and validation data
(certificates, revocation lists and OCSP answers). Only the entries that these need may change; any other change raises
`NotStrict`.
"""

from esign.pdf.verify import proof_entries, xmp_changes
from esign.pdf.verify.compare_values import decode_text, encode_name, is_date, is_same, require
from esign.pdf.verify.proof_writers import EXTENSIONS, is_producer_change
from esign.pdf.verify.strict_syntax import (
    Entries,
    NotStrict,
    PdfName,
    PdfReference,
    PdfStream,
    PdfText,
    Value,
)
from esign.pdf.verify.tail_state import JudgedRevision

CATALOG_PARTS = frozenset(map(PdfName, (b"DSS", b"AcroForm", b"Extensions", b"Metadata")))


def judge_catalog(old: Entries, new: Entries) -> None:
    require(old.keys() - CATALOG_PARTS == new.keys() - CATALOG_PARTS, "another entry of the catalog")
    for key in old.keys() - CATALOG_PARTS:
        require(is_same(old[key], new[key]), f"another {key.decode('latin-1')} of the catalog")
    require(is_same(old.get(encode_name("Metadata")), new.get(encode_name("Metadata"))), "other metadata")
    _judge_extensions(old.get(encode_name("Extensions")), new.get(encode_name("Extensions")))


def judge_info(turn: JudgedRevision) -> None:
    """Raise `NotStrict` unless only the producer and the time of the change differ in the document information."""
    reference = turn.revision.info
    if turn.tail.info is None and reference is not None:
        require(turn.tail.is_new(reference.number), "document information in place of something else")
    turn.tail.info = reference
    if reference is None or reference.number not in turn.new:
        return
    old = {} if turn.tail.is_new(reference.number) else turn.tail.get_old(reference.number)
    info = turn.new[reference.number]
    turn.take_part(reference.number)
    if not isinstance(old, dict) or not isinstance(info, dict):
        raise NotStrict("document information is expected")
    free = {encode_name("ModDate"), encode_name("Producer")}
    require(old.keys() - free == info.keys() - free, "another entry of the document information")
    for key in old.keys() - free:
        require(is_same(old[key], info[key]), "other document information")
    _judge_writer(old, info)


def judge_metadata(turn: JudgedRevision, root: Entries) -> None:
    reference = root.get(encode_name("Metadata"))
    if not isinstance(reference, PdfReference) or reference.number not in turn.new:
        return
    turn.take_part(reference.number)
    stream = turn.new[reference.number]
    if not isinstance(stream, PdfStream):
        raise NotStrict("metadata are expected")
    known = {encode_name("Type"), encode_name("Subtype"), encode_name("Length"), encode_name("Filter")}
    require(stream.entries.keys() <= known, "metadata that say more than they need")
    require(stream.entries.get(encode_name("Type")) == encode_name("Metadata"), "metadata are expected")
    require(stream.entries.get(encode_name("Subtype")) == encode_name("XML"), "metadata are expected")
    before = turn.tail.read_data(reference.number)
    require(xmp_changes.is_touched_only(before, proof_entries.decode_stream(stream)), "other metadata")


def _judge_writer(old: Entries, info: Entries) -> None:
    """Raise `NotStrict` for a malformed time, or a producer that is not a known writer of proof."""
    changed, producer = info.get(encode_name("ModDate")), info.get(encode_name("Producer"))
    require(
        changed is None or is_same(old.get(encode_name("ModDate")), changed) or is_date(changed),
        "a time is expected",
    )
    if producer is None or is_same(old.get(encode_name("Producer")), producer):
        return require((producer is None) <= (encode_name("Producer") not in old), "the producer taken away")
    held = old.get(encode_name("Producer"))
    before = decode_text(held) if isinstance(held, PdfText) else ""
    now = decode_text(producer) if isinstance(producer, PdfText) else ""
    return require(is_producer_change(before, now), "another producer")


def _judge_extensions(old: Value, new: Value) -> None:
    """Raise `NotStrict` for extensions other than those that come with proof."""
    before, now = old if old is not None else {}, new if new is not None else {}
    if is_same(before, now):
        return
    if not isinstance(before, dict) or not isinstance(now, dict) or not before.keys() <= now.keys():
        raise NotStrict("other extensions")
    for key in before:
        require(is_same(before[key], now[key]), "other extensions")
    for key in now.keys() - before.keys():
        declared = now[key]
        require(
            isinstance(declared, dict)
            and declared.keys() - {encode_name("Type")}
            == {encode_name("BaseVersion"), encode_name("ExtensionLevel")}
            and declared.get(encode_name("Type"), encode_name("DeveloperExtensions"))
            == encode_name("DeveloperExtensions")
            and declared[encode_name("BaseVersion")] == encode_name("1.7")
            and type(declared[encode_name("ExtensionLevel")]) is int
            and declared[encode_name("ExtensionLevel")] in EXTENSIONS.get(bytes(key), set()),
            "an extension that proof does not need",
        )
