"""Decide whether everything behind a signed file is proof: validation data and time stamps over the document.

ETSI EN 319 142-1, 5.4 and 5.5, define proof: a document security store (DSS) of certificates, revocation lists
and OCSP responses, and document time stamps. `revisions` reads the bytes. This module assigns a part to every
object in them: the catalog that names the DSS, the DSS, the field of a time stamp and what leads to it. If one
object has no part, or contains more than its part needs, the additions are not proof.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isclose

import pikepdf
from pikepdf import Pdf

from esign.pdf.report import Addition
from esign.pdf.verify import proof_entries, xmp_changes
from esign.pdf.verify.evidence import BROKEN
from esign.pdf.verify.proof_writers import BLANK_LOOK, EXTENSIONS, FIELD_NAME, is_producer_change
from esign.pdf.verify.revisions import AppendedRevision, Kind, RevisionEnd, find_last_start, read_revisions
from esign.pdf.verify.strict_syntax import (
    Entries,
    NotStrict,
    PdfName,
    PdfReference,
    PdfStream,
    PdfText,
    Value,
    parse_value,
)

CLOSE = 1e-5  # a writer may format the numbers of a page in another way
DATE = re.compile(
    rb"D:(?:19|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:(?:0[1-9]|[12][0-9]|3[01])(?:(?:[01][0-9]|2[0-3])"
    rb"(?:[0-5][0-9]){0,2})?)?)?(?:Z(?:00'?00'?)?|[+-][0-2][0-9]'?(?:[0-5][0-9]'?)?)?"
)
HANDLERS = frozenset(map(PdfName, (b"Adobe.PPKLite", b"ETSI.RFC3161")))
TOOLTIP = PdfText(b"Timestamp")  # of the fields of pyHanko
CATALOG_PARTS = frozenset(map(PdfName, (b"DSS", b"AcroForm", b"Extensions", b"Metadata")))
STAMP_KEYS = frozenset(map(PdfName, (b"Type", b"Filter", b"SubFilter", b"Contents", b"ByteRange", b"M")))
FIELD_KEYS = frozenset(
    map(PdfName, (b"FT", b"T", b"TU", b"Type", b"Subtype", b"F", b"Rect", b"P", b"V", b"AP"))
)
FORM_KEYS = frozenset(map(PdfName, (b"Length", b"Type", b"Subtype", b"BBox", b"Resources", b"FormType")))
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


def build_name(name: str) -> PdfName:
    return PdfName(name.encode())


@dataclass(frozen=True, slots=True)
class ProofTail:
    """What was added behind a signed file; `fault` is why it is not proof alone, or None if it is.

    `stamps` are the names of the fields of the added time stamps.
    """

    additions: tuple[Addition, ...] = ()
    stamps: frozenset[str] = frozenset()
    fault: str | None = None


def judge_tail(file: bytes, signed: int) -> ProofTail:
    """Judge what stands behind the first `signed` bytes of a file."""
    try:
        with pikepdf.open(io.BytesIO(file[:signed]), attempt_recovery=False) as pdf:
            return _TailJudge(file, signed, pdf).judge()
    except NotStrict as error:
        return ProofTail(fault=str(error))
    except (pikepdf.PdfError, *BROKEN) as error:
        return ProofTail(fault=f"it cannot be read: {error}"[:200])


def _build_failure(what: str) -> NotStrict:
    return NotStrict(what)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise NotStrict(what)


@dataclass(slots=True)
class _JudgedRevision:
    """One revision while it is judged; `parts` are the numbers of its objects that have been assigned a part."""

    revision: AppendedRevision
    parts: set[int] = field(default_factory=set)
    store_changed: bool = False
    stamped: list[str] = field(default_factory=list)


class _TailJudge:
    """Judges the revisions in order, each on top of the state that the earlier ones left."""

    def __init__(self, file: bytes, signed: int, pdf: Pdf) -> None:
        self.file = file
        self.pdf = pdf
        self.before = _read_end(file[:signed], signed, pdf)
        self.now: dict[int, Value] = {}  # objects that the revisions so far have written
        self.known: dict[int, Value] = {}
        self.proofs: set[tuple[int, str]] = set()  # objects already found to be a proof of that kind
        self.info = self.before.info

    def judge(self) -> ProofTail:
        additions: set[Addition] = set()
        stamps: set[str] = set()
        for revision in read_revisions(self.file, self.before):
            turn = self._judge_revision(revision)
            _require(turn.store_changed or bool(turn.stamped), "a revision that adds no proof")
            additions |= {"validation_data"} if turn.store_changed else set()
            additions |= {"document_timestamp"} if turn.stamped else set()
            stamps |= set(turn.stamped)
        _require(bool(additions), "nothing was added")
        return ProofTail(tuple(sorted(additions, reverse=True)), frozenset(stamps))

    # ---------- objects before this revision, and in it ----------

    def _get_old(self, number: int) -> Value:
        """Return an object before this revision. A stream of the signed file comes as its dictionary, without data."""
        if number in self.now:
            return self.now[number]
        if number not in self.known:
            held = self.pdf.get_object(number, 0)
            if isinstance(held, pikepdf.Stream):
                entries = pikepdf.Dictionary({key: held[key] for key in held.keys()})  # noqa: SIM118
                found = parse_value(entries.unparse(resolved=True))
                _require(isinstance(found, dict), "a dictionary is expected")
                self.known[number] = PdfStream(found, b"")  # type: ignore[arg-type]
            else:
                self.known[number] = parse_value(held.unparse(resolved=True))
        return self.known[number]

    def _judge_revision(self, revision: AppendedRevision) -> _JudgedRevision:
        turn = _JudgedRevision(revision)
        for generation, _ in revision.objects.values():
            _require(generation == 0, "an object of a later generation")
        new = {number: value for number, (_, value) in revision.objects.items()}
        old_root, root = self._get_old(self.before.root.number), new.get(self.before.root.number)
        _require(isinstance(old_root, dict), "a catalog is expected")
        assert isinstance(old_root, dict)
        current = old_root
        if root is not None:
            _require(isinstance(root, dict), "a catalog is expected")
            assert isinstance(root, dict)
            self._take_part(turn, self.before.root.number)
            self._judge_catalog(old_root, root)
            current = root
        self._judge_info(turn, new)
        self._judge_metadata(turn, current, new)
        self._judge_store(turn, old_root, current, new)
        self._judge_form(turn, old_root, current, new)
        left = new.keys() - turn.parts
        _require(not left, f"an object that is no proof: {min(left, default=0)}")
        self.now |= new
        return turn

    def _take_part(self, turn: _JudgedRevision, number: int) -> None:
        """Assign its part to an object of this revision. Raises `NotStrict` if it has one."""
        _require(number not in turn.parts, "an object with two parts")
        turn.parts.add(number)

    def _is_new(self, number: int) -> bool:
        """Return whether neither the signed file nor an earlier revision has such an object or refers to it."""
        return number > self.before.highest and number not in self.now

    # ---------- the catalog, the document information, the metadata ----------

    def _judge_catalog(self, old: Entries, new: Entries) -> None:
        _require(old.keys() - CATALOG_PARTS == new.keys() - CATALOG_PARTS, "another entry of the catalog")
        for key in old.keys() - CATALOG_PARTS:
            _require(is_same(old[key], new[key]), f"another {key.decode('latin-1')} of the catalog")
        _require(is_same(old.get(build_name("Metadata")), new.get(build_name("Metadata"))), "other metadata")
        _judge_extensions(old.get(build_name("Extensions")), new.get(build_name("Extensions")))

    def _judge_info(self, turn: _JudgedRevision, new: Mapping[int, Value]) -> None:
        """Raise `NotStrict` unless only the producer and the time of the change differ in the document information."""
        reference = turn.revision.info
        if self.info is None and reference is not None:
            _require(self._is_new(reference.number), "document information in place of something else")
        self.info = reference
        if reference is None or reference.number not in new:
            return
        old = {} if self._is_new(reference.number) else self._get_old(reference.number)
        info = new[reference.number]
        self._take_part(turn, reference.number)
        if not isinstance(old, dict) or not isinstance(info, dict):
            raise _build_failure("document information is expected")
        free = {build_name("ModDate"), build_name("Producer")}
        _require(old.keys() - free == info.keys() - free, "another entry of the document information")
        for key in old.keys() - free:
            _require(is_same(old[key], info[key]), "other document information")
        _judge_writer(old, info)

    def _judge_metadata(self, turn: _JudgedRevision, root: Entries, new: Mapping[int, Value]) -> None:
        reference = root.get(build_name("Metadata"))
        if not isinstance(reference, PdfReference) or reference.number not in new:
            return
        self._take_part(turn, reference.number)
        stream = new[reference.number]
        if not isinstance(stream, PdfStream):
            raise _build_failure("metadata are expected")
        known = {build_name("Type"), build_name("Subtype"), build_name("Length"), build_name("Filter")}
        _require(stream.entries.keys() <= known, "metadata that say more than they need")
        _require(stream.entries.get(build_name("Type")) == build_name("Metadata"), "metadata are expected")
        _require(stream.entries.get(build_name("Subtype")) == build_name("XML"), "metadata are expected")
        before = self._read_data(reference.number)
        _require(xmp_changes.is_touched_only(before, proof_entries.decode_stream(stream)), "other metadata")

    def _read_data(self, number: int) -> bytes:
        """Return the decoded data of a stream before this revision."""
        held = self.now.get(number)
        if isinstance(held, PdfStream):
            return proof_entries.decode_stream(held)
        found = self.pdf.get_object(number, 0)
        _require(isinstance(found, pikepdf.Stream), "a stream is expected")
        return bytes(found.read_bytes())

    # ---------- the document security store ----------

    def _judge_store(
        self, turn: _JudgedRevision, old_root: Entries, root: Entries, new: Mapping[int, Value]
    ) -> None:
        old, store = old_root.get(build_name("DSS")), root.get(build_name("DSS"))
        if store is None:
            return _require(old is None, "the validation data taken away")
        owned = set(self._walk_containers(old))
        before = set(self.proofs)
        entries = self._follow_part(turn, store, new, owned)
        if not isinstance(entries, dict):
            raise _build_failure("validation data are expected")
        self._check_type(entries, b"DSS")
        _require(
            entries.keys() <= {build_name("Type"), build_name("VRI"), *map(PdfName, STORE_LISTS)},
            "validation data that say more",
        )
        count = self._judge_lists(turn, entries, STORE_LISTS, new, owned)
        _require(0 < count <= MOST_ENTRIES, "no validation data, or too many")
        digests = self._follow_part(turn, entries.get(build_name("VRI"), {}), new, owned)
        if not isinstance(digests, dict):
            raise _build_failure("validation data by signature are expected")
        self._check_type(digests, b"VRI")
        for key in digests.keys() - {build_name("Type")}:
            self._judge_digest(turn, key, digests[key], new, owned)
        touched = any(number in new for number in self._walk_containers(store, new)) or self.proofs != before
        turn.store_changed = touched or not is_same(old, store)
        return None

    def _judge_digest(
        self, turn: _JudgedRevision, key: PdfName, value: Value, new: Mapping[int, Value], owned: set[int]
    ) -> None:
        """Judge the entry of the DSS for one signature."""
        _require(DIGEST.fullmatch(key) is not None, "validation data of something that is no signature")
        entries = self._follow_part(turn, value, new, owned)
        if not isinstance(entries, dict):
            raise _build_failure("validation data are expected")
        self._check_type(entries, b"VRI")
        known = {build_name("Type"), build_name("TU"), *map(PdfName, DIGEST_LISTS)}
        _require(entries.keys() <= known, "validation data that say more")
        made = entries.get(build_name("TU"))
        _require(made is None or _is_date(made), "a time is expected")
        self._judge_lists(turn, entries, DIGEST_LISTS, new, owned)

    def _judge_lists(
        self,
        turn: _JudgedRevision,
        entries: Entries,
        kinds: Mapping[bytes, proof_entries.EntryKind],
        new: Mapping[int, Value],
        owned: set[int],
    ) -> int:
        count = 0
        for name, kind in kinds.items():
            listed = self._follow_part(turn, entries.get(PdfName(name), []), new, owned)
            if not isinstance(listed, list):
                raise _build_failure("a list of validation data is expected")
            for entry in listed:
                self._judge_entry(turn, entry, kind, new)
            count += len(listed)
        return count

    def _judge_entry(
        self, turn: _JudgedRevision, entry: Value, kind: proof_entries.EntryKind, new: Mapping[int, Value]
    ) -> None:
        """Judge one proof, which several lists may name."""
        if not isinstance(entry, PdfReference):
            raise _build_failure("a reference to a proof is expected")
        _require(entry.generation == 0, "a reference to an object that is not there")
        number = entry.number
        if number not in new:
            if (number, kind) not in self.proofs:
                proof_entries.check_data(self._read_data(number), kind)
                self.proofs.add((number, kind))
            return
        stream = new[number]
        if not isinstance(stream, PdfStream):
            raise _build_failure("a proof is expected")
        if number not in turn.parts:
            self._take_part(turn, number)
            # PDFBox writes proofs again that are there already.
            again = not self._is_new(number) and self._read_data(number) == proof_entries.decode_stream(
                stream
            )
            _require(again or self._is_new(number), "a proof in place of something else")
            proof_entries.check_entry(stream, kind)
        if (number, kind) not in self.proofs:
            proof_entries.check_entry(stream, kind)
            self.proofs.add((number, kind))

    def _follow_part(
        self, turn: _JudgedRevision, value: Value, new: Mapping[int, Value], owned: set[int]
    ) -> Value:
        """Follow a reference to a dictionary or list of the DSS, and assign its part to it if it belongs to
        this revision.
        """
        if not isinstance(value, PdfReference):
            return value
        if value.number not in new:
            return self._get_old(value.number)
        _require(
            self._is_new(value.number) or value.number in owned, "validation data in place of something else"
        )
        if value.number not in turn.parts:
            self._take_part(turn, value.number)
        return new[value.number]

    def _walk_containers(self, store: Value, new: Mapping[int, Value] | None = None) -> Iterator[int]:
        """Yield the object numbers of the dictionaries and lists of which a DSS consists."""
        pending = [store]
        while pending:
            value = pending.pop()
            if isinstance(value, PdfReference):
                held = new[value.number] if new and value.number in new else self._get_old(value.number)
                if isinstance(held, dict | list):
                    yield value.number
                    pending.append(held)
            elif isinstance(value, dict):
                pending += value.values()
            elif isinstance(value, list):
                pending += [one for one in value if not isinstance(one, PdfReference)]

    def _check_type(self, entries: Entries, name: bytes) -> None:
        _require(
            entries.get(build_name("Type"), PdfName(name)) == PdfName(name), "a dictionary of another type"
        )

    # ---------- the form, the fields of time stamps, and the pages that hold these ----------

    def _judge_form(
        self, turn: _JudgedRevision, old_root: Entries, root: Entries, new: Mapping[int, Value]
    ) -> None:
        old_form, form = old_root.get(build_name("AcroForm")), root.get(build_name("AcroForm"))
        if isinstance(form, PdfReference):
            _require(is_same(old_form, form), "another form")
            old = self._get_old(form.number)
            if form.number in new:
                self._take_part(turn, form.number)
            now = new.get(form.number, old)
        else:
            _require(not isinstance(old_form, PdfReference), "another form")
            old, now = old_form, form
        if not isinstance(old, dict) or not isinstance(now, dict):
            raise _build_failure("a form is expected")
        free = {build_name("Fields"), build_name("SigFlags")}
        _require(old.keys() - free == now.keys() - free, "another entry of the form")
        for key in old.keys() - free:
            _require(is_same(old[key], now[key]), "another entry of the form")
        _require(
            now.get(build_name("SigFlags")) in (old.get(build_name("SigFlags")), 3), "other flags of the form"
        )
        before, fields = self._split_grown_list(
            turn, old.get(build_name("Fields")), now.get(build_name("Fields")), new
        )
        self._judge_fields(turn, before, fields, new)

    def _split_grown_list(
        self, turn: _JudgedRevision, old: Value, now: Value, new: Mapping[int, Value]
    ) -> tuple[list[Value], list[Value]]:
        """Return the items of a list before this revision, and those added at its end.

        The list may be an object of its own. Raises `NotStrict` if it was changed in another way.
        """
        was = self._get_old(old.number) if isinstance(old, PdfReference) else old
        if isinstance(now, PdfReference):
            _require(now == old, "a list in another place")
            if now.number in new:
                if now.number not in turn.parts:
                    self._take_part(turn, now.number)
                now = new[now.number]
            else:
                now = was
        else:
            _require(not isinstance(old, PdfReference), "a list in another place")
        was, now = was if was is not None else [], now if now is not None else []
        if not isinstance(was, list) or not isinstance(now, list):
            raise _build_failure("a list is expected")
        _require(is_same(was, now[: len(was)]), "a list that lost something")
        return was, now[len(was) :]

    def _judge_fields(
        self, turn: _JudgedRevision, before: Sequence[Value], added: Sequence[Value], new: Mapping[int, Value]
    ) -> None:
        names = {self._read_field_name(one) for one in before}
        pages: dict[int, list[PdfReference]] = {}
        for reference in added:
            if not isinstance(reference, PdfReference) or reference.number not in new:
                raise _build_failure("a field is expected")
            _require(self._is_new(reference.number), "a field in place of something else")
            self._take_part(turn, reference.number)
            entries = self._judge_field(turn, new[reference.number], new)
            name = entries.get(build_name("T"))
            _require(
                isinstance(name, PdfText) and bytes(name) not in names, "a field without a name of its own"
            )
            assert isinstance(name, PdfText)
            names.add(bytes(name))
            turn.stamped.append(decode_text(name))
            _require(FIELD_NAME.fullmatch(turn.stamped[-1]) is not None, "a field whose name says something")
            if isinstance(page := entries.get(build_name("P")), PdfReference):
                pages.setdefault(page.number, []).append(reference)
        for reference in before:
            self._judge_field_again(turn, reference, new, pages)
        self._judge_pages(turn, pages, new)

    def _read_field_name(self, reference: Value) -> bytes:
        held = self._get_old(reference.number) if isinstance(reference, PdfReference) else reference
        name = held.get(build_name("T")) if isinstance(held, dict) else None
        return bytes(name) if isinstance(name, PdfText) else b""

    def _judge_field(self, turn: _JudgedRevision, value: Value, new: Mapping[int, Value]) -> Entries:
        """Judge the invisible field of a time stamp, which is merged with its widget, and return it."""
        if not isinstance(value, dict):
            raise _build_failure("a field is expected")
        _require(value.keys() <= FIELD_KEYS, "a field that says more than it needs")
        _require(value.get(build_name("FT")) == build_name("Sig"), "a field of another type")
        _require(
            value.get(build_name("Type"), build_name("Annot")) == build_name("Annot"),
            "a field of another type",
        )
        _require(value.get(build_name("Subtype")) == build_name("Widget"), "a field of another type")
        _require(_is_nowhere(value.get(build_name("Rect"))), "a field that can be seen")
        _require(type(value.get(build_name("F"), 0)) is int, "flags are expected")
        _require(
            value.get(build_name("TU"), TOOLTIP) in (TOOLTIP, value.get(build_name("T"))),
            "a field that says more than it needs",
        )
        self._judge_look(turn, value.get(build_name("AP")), new)
        self._judge_stamp(turn, value.get(build_name("V")), new)
        return value

    def _judge_look(self, turn: _JudgedRevision, look: Value, new: Mapping[int, Value]) -> None:
        """Judge the appearance of an invisible field: none, or a form without size and content (EU DSS, PDFBox)."""
        if look is None:
            return
        looks = self._follow_new(turn, look, new)
        if not isinstance(looks, dict) or looks.keys() != {build_name("N")}:
            raise _build_failure("a look is expected")
        stream = self._follow_new(turn, looks[build_name("N")], new)
        if not isinstance(stream, PdfStream):
            raise _build_failure("a look is expected")
        _require(stream.entries.keys() <= FORM_KEYS, "a look that draws something")
        _require(
            BLANK_LOOK.fullmatch(proof_entries.decode_stream(stream)) is not None,
            "a look that draws something",
        )
        _require(
            stream.entries.get(build_name("Type"), build_name("XObject")) == build_name("XObject"),
            "a look is expected",
        )
        _require(stream.entries.get(build_name("Subtype")) == build_name("Form"), "a look is expected")
        _require(stream.entries.get(build_name("FormType"), 1) == 1, "a look is expected")
        _require(_is_nowhere(stream.entries.get(build_name("BBox"))), "a look that can be seen")
        _require(stream.entries.get(build_name("Resources"), {}) == {}, "a look that draws something")

    def _follow_new(self, turn: _JudgedRevision, value: Value, new: Mapping[int, Value]) -> Value:
        """Follow a reference to a new object of this revision, which only one other object may refer to."""
        if not isinstance(value, PdfReference):
            return value
        _require(value.number in new and self._is_new(value.number), "a reference to something else")
        self._take_part(turn, value.number)
        return new[value.number]

    def _judge_stamp(self, turn: _JudgedRevision, value: Value, new: Mapping[int, Value]) -> None:
        """Judge the time stamp itself: it covers everything to the end of its revision except its own place."""
        _require(isinstance(value, PdfReference), "a time stamp is expected")
        entries = self._follow_new(turn, value, new)
        if not isinstance(entries, dict) or not entries.keys() <= STAMP_KEYS:
            raise _build_failure("a time stamp is expected")
        _require(entries.get(build_name("Type")) == build_name("DocTimeStamp"), "a time stamp is expected")
        _require(
            entries.get(build_name("SubFilter")) == build_name("ETSI.RFC3161"), "a time stamp is expected"
        )
        _require(entries.get(build_name("Filter")) in HANDLERS, "a time stamp is expected")
        _require(build_name("M") not in entries or _is_date(entries[build_name("M")]), "a time is expected")
        token = entries.get(build_name("Contents"))
        if not isinstance(token, PdfText):
            raise _build_failure("a token is expected")
        proof_entries.check_padding(bytes(token))
        end = turn.revision.end
        _require(
            entries.get(build_name("ByteRange")) == [0, token.start, token.end, end - token.end],
            "another range",
        )

    def _judge_field_again(
        self,
        turn: _JudgedRevision,
        reference: Value,
        new: Mapping[int, Value],
        pages: dict[int, list[PdfReference]],
    ) -> None:
        """Judge a field that was written again unchanged, as PDFBox does, or an empty one that received a time
        stamp.
        """
        if not isinstance(reference, PdfReference) or reference.number not in new:
            return
        self._take_part(turn, reference.number)
        old, now = self._get_old(reference.number), new[reference.number]
        if is_same(old, now):
            return
        if not isinstance(old, dict) or not isinstance(now, dict) or build_name("V") in old:
            raise _build_failure("a field that was changed")
        rest = {key: value for key, value in now.items() if key != build_name("V")}
        _require(
            is_same(old, rest) and old.get(build_name("FT")) == build_name("Sig"), "a field that was changed"
        )
        self._judge_stamp(turn, now.get(build_name("V")), new)
        turn.stamped.append(decode_text(PdfText(self._read_field_name(reference))))

    def _judge_pages(
        self, turn: _JudgedRevision, pages: Mapping[int, Sequence[PdfReference]], new: Mapping[int, Value]
    ) -> None:
        """Judge pages, which may list the added fields and must otherwise be unchanged."""
        for number, fields in pages.items():
            old = self._get_old(number)
            if not isinstance(old, dict) or old.get(build_name("Type")) != build_name("Page"):
                raise _build_failure("a page is expected")
            page = old
            if number in new:
                self._take_part(turn, number)
                found = new[number]
                if not isinstance(found, dict):
                    raise _build_failure("a page is expected")
                page = found
                rest = {build_name("Annots")}
                _require(old.keys() - rest == page.keys() - rest, "a page that was changed")
                for key in old.keys() - rest:
                    _require(is_same(old[key], page[key]), "a page that was changed")
            annotations, first = page.get(build_name("Annots")), old.get(build_name("Annots"))
            if isinstance(annotations, PdfReference) and first is None:
                raise _build_failure("annotations in another place")
            _, added = self._split_grown_list(turn, first, annotations, new)
            _require(all(one in fields for one in added), "an annotation that is no time stamp")


def _read_end(signed: bytes, end: int, pdf: Pdf) -> RevisionEnd:
    """Return how the signed file ends. Raises `NotStrict`."""
    start = find_last_start(signed)
    kind: Kind = "table" if signed[start : start + 4] == b"xref" else "stream"
    trailer = _read_trailer(pdf)
    root, info = trailer.get(build_name("Root")), trailer.get(build_name("Info"))
    size, identifier = trailer.get(build_name("Size")), trailer.get(build_name("ID"))
    if (
        not isinstance(root, PdfReference)
        or type(size) is not int
        or not isinstance(info, PdfReference | None)
    ):
        raise _build_failure("a trailer is expected")
    if root.generation != 0 or (info is not None and info.generation != 0):
        raise _build_failure("an object of a later generation")
    first = identifier[0] if isinstance(identifier, list) and identifier else None
    highest = max((held.objgen[0] for held in pdf.objects), default=0)
    return RevisionEnd(
        end, start, kind, size, highest, root, info, bytes(first) if isinstance(first, PdfText) else None
    )


def _read_trailer(pdf: Pdf) -> Entries:
    held = pikepdf.Dictionary(
        {key: pdf.trailer[key] for key in ("/Root", "/Info", "/Size", "/ID") if key in pdf.trailer}
    )
    found = parse_value(held.unparse())
    if not isinstance(found, dict):
        raise _build_failure("a trailer is expected")
    return found


def is_same(was: Value, now: Value) -> bool:
    """Return whether two values mean the same, however they are written."""
    numbers = (int, Decimal)
    if isinstance(was, bool) or isinstance(now, bool):
        return was is now
    if isinstance(was, int) and isinstance(now, int):
        return was == now
    if isinstance(was, numbers) and isinstance(now, numbers):
        return isclose(was, now, rel_tol=CLOSE, abs_tol=CLOSE)
    if type(was) is not type(now):
        return False
    if isinstance(was, dict) and isinstance(now, dict):
        return was.keys() == now.keys() and all(is_same(was[key], now[key]) for key in was)
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(is_same, was, now))
    if isinstance(was, PdfText) and isinstance(now, PdfText):
        return bytes(was) == bytes(now) or decode_text(was) == decode_text(now)
    return was == now


def decode_text(text: PdfText) -> str:
    """Decode a text string in any of its encodings (ISO 32000-2, 7.9.2.2). Raises UnicodeDecodeError."""
    return str(pikepdf.String(bytes(text)))


def _is_date(value: Value) -> bool:
    return isinstance(value, PdfText) and DATE.fullmatch(bytes(value)) is not None


def _is_nowhere(rectangle: Value) -> bool:
    """Return whether a rectangle is all zeros."""
    if not isinstance(rectangle, list) or len(rectangle) != 4:
        return False
    return all(isinstance(side, int | Decimal) and side == 0 for side in rectangle)


def _judge_writer(old: Entries, info: Entries) -> None:
    """Raise `NotStrict` for a malformed time, or a producer that is not a known writer of proof."""
    changed, producer = info.get(build_name("ModDate")), info.get(build_name("Producer"))
    _require(
        changed is None or is_same(old.get(build_name("ModDate")), changed) or _is_date(changed),
        "a time is expected",
    )
    if producer is None or is_same(old.get(build_name("Producer")), producer):
        return _require((producer is None) <= (build_name("Producer") not in old), "the producer taken away")
    held = old.get(build_name("Producer"))
    before = decode_text(held) if isinstance(held, PdfText) else ""
    now = decode_text(producer) if isinstance(producer, PdfText) else ""
    return _require(is_producer_change(before, now), "another producer")


def _judge_extensions(old: Value, new: Value) -> None:
    """Raise `NotStrict` for extensions other than those that come with proof."""
    before, now = old if old is not None else {}, new if new is not None else {}
    if is_same(before, now):
        return
    if not isinstance(before, dict) or not isinstance(now, dict) or not before.keys() <= now.keys():
        raise _build_failure("other extensions")
    for key in before:
        _require(is_same(before[key], now[key]), "other extensions")
    for key in now.keys() - before.keys():
        declared = now[key]
        _require(
            isinstance(declared, dict)
            and declared.keys() - {build_name("Type")}
            == {build_name("BaseVersion"), build_name("ExtensionLevel")}
            and declared.get(build_name("Type"), build_name("DeveloperExtensions"))
            == build_name("DeveloperExtensions")
            and declared[build_name("BaseVersion")] == build_name("1.7")
            and type(declared[build_name("ExtensionLevel")]) is int
            and declared[build_name("ExtensionLevel")] in EXTENSIONS.get(bytes(key), set()),
            "an extension that proof does not need",
        )
