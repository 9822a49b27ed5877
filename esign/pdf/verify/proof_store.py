"""Judge the document security store (DSS) of an added revision: certificates, revocation lists and OCSP responses."""

import re
from collections.abc import Iterator, Mapping

from esign.pdf.verify import proof_entries
from esign.pdf.verify.compare_values import encode_name, is_date, is_same, require
from esign.pdf.verify.strict_syntax import (
    Entries,
    NotStrict,
    PdfName,
    PdfReference,
    PdfStream,
    Value,
)
from esign.pdf.verify.tail_state import JudgedRevision, TailState

STORE_LISTS: Mapping[bytes, proof_entries.EntryKind] = {
    b"Certs": "certificate",
    b"CRLs": "list",
    b"OCSPs": "answer",
}
DIGEST_LISTS: Mapping[bytes, proof_entries.EntryKind] = {
    b"Cert": "certificate",
    b"CRL": "list",
    b"OCSP": "answer",
}
DIGEST = re.compile(rb"[0-9A-F]{40}")
MOST_ENTRIES = 1_000


def judge_store(turn: JudgedRevision, old_root: Entries, root: Entries) -> None:
    old, store = old_root.get(encode_name("DSS")), root.get(encode_name("DSS"))
    if store is None:
        return require(old is None, "the validation data taken away")
    owned = set(_walk_containers(turn.tail, old, {}))
    before = set(turn.tail.proofs)
    entries = _follow_part(turn, store, owned)
    if not isinstance(entries, dict):
        raise NotStrict("validation data are expected")
    _check_type(entries, b"DSS")
    require(
        entries.keys() <= {encode_name("Type"), encode_name("VRI"), *map(PdfName, STORE_LISTS)},
        "validation data that say more",
    )
    count = _judge_lists(turn, entries, STORE_LISTS, owned)
    require(0 < count <= MOST_ENTRIES, "no validation data, or too many")
    digests = _follow_part(turn, entries.get(encode_name("VRI"), {}), owned)
    if not isinstance(digests, dict):
        raise NotStrict("validation data by signature are expected")
    _check_type(digests, b"VRI")
    for key in digests.keys() - {encode_name("Type")}:
        _judge_digest(turn, key, digests[key], owned)
    containers = _walk_containers(turn.tail, store, turn.new)
    touched = any(number in turn.new for number in containers) or turn.tail.proofs != before
    turn.store_changed = touched or not is_same(old, store)
    return None


def _judge_digest(turn: JudgedRevision, key: PdfName, value: Value, owned: set[int]) -> None:
    """Judge the entry of the DSS for one signature."""
    require(DIGEST.fullmatch(key) is not None, "validation data of something that is no signature")
    entries = _follow_part(turn, value, owned)
    if not isinstance(entries, dict):
        raise NotStrict("validation data are expected")
    _check_type(entries, b"VRI")
    known = {encode_name("Type"), encode_name("TU"), *map(PdfName, DIGEST_LISTS)}
    require(entries.keys() <= known, "validation data that say more")
    made = entries.get(encode_name("TU"))
    require(made is None or is_date(made), "a time is expected")
    _judge_lists(turn, entries, DIGEST_LISTS, owned)


def _judge_lists(
    turn: JudgedRevision,
    entries: Entries,
    kinds: Mapping[bytes, proof_entries.EntryKind],
    owned: set[int],
) -> int:
    count = 0
    for name, kind in kinds.items():
        listed = _follow_part(turn, entries.get(PdfName(name), []), owned)
        if not isinstance(listed, list):
            raise NotStrict("a list of validation data is expected")
        for entry in listed:
            _judge_entry(turn, entry, kind)
        count += len(listed)
    return count


def _judge_entry(turn: JudgedRevision, entry: Value, kind: proof_entries.EntryKind) -> None:
    """Judge one proof, which several lists may name."""
    if not isinstance(entry, PdfReference):
        raise NotStrict("a reference to a proof is expected")
    require(entry.generation == 0, "a reference to an object that is not there")
    number = entry.number
    if number not in turn.new:
        if (number, kind) not in turn.tail.proofs:
            proof_entries.check_data(turn.tail.read_data(number), kind)
            turn.tail.proofs.add((number, kind))
        return
    stream = turn.new[number]
    if not isinstance(stream, PdfStream):
        raise NotStrict("a proof is expected")
    if number not in turn.parts:
        turn.take_part(number)
        # PDFBox writes proofs again that are there already.
        again = not turn.tail.is_new(number) and turn.tail.read_data(number) == proof_entries.decode_stream(
            stream
        )
        require(again or turn.tail.is_new(number), "a proof in place of something else")
        proof_entries.check_entry(stream, kind)
    if (number, kind) not in turn.tail.proofs:
        proof_entries.check_entry(stream, kind)
        turn.tail.proofs.add((number, kind))


def _follow_part(turn: JudgedRevision, value: Value, owned: set[int]) -> Value:
    """Follow a reference to a dictionary or list of the DSS, and assign its part to it if it belongs to
    this revision.
    """
    if not isinstance(value, PdfReference):
        return value
    if value.number not in turn.new:
        return turn.tail.get_old(value.number)
    require(
        turn.tail.is_new(value.number) or value.number in owned, "validation data in place of something else"
    )
    if value.number not in turn.parts:
        turn.take_part(value.number)
    return turn.new[value.number]


def _walk_containers(tail: TailState, store: Value, new: Mapping[int, Value]) -> Iterator[int]:
    """Yield the object numbers of the dictionaries and lists of which a DSS consists; `new` objects come first."""
    pending = [store]
    while pending:
        value = pending.pop()
        if isinstance(value, PdfReference):
            held = new[value.number] if value.number in new else tail.get_old(value.number)
            if isinstance(held, dict | list):
                yield value.number
                pending.append(held)
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += [one for one in value if not isinstance(one, PdfReference)]


def _check_type(entries: Entries, name: bytes) -> None:
    require(entries.get(encode_name("Type"), PdfName(name)) == PdfName(name), "a dictionary of another type")
