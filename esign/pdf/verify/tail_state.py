"""What the judge of a file's tail remembers from one appended revision to the next.

The tail is all that stands behind the signed part. It may hold only proof: time stamps, and the validation data
(certificates, revocation lists, OCSP answers) that keep a seal verifiable. `TailState` has the objects as they are so
far; `JudgedRevision` is the one that is looked at.
"""

from dataclasses import dataclass, field

import pikepdf
from pikepdf import Pdf

from esign.pdf.verify import proof_entries
from esign.pdf.verify.compare_values import encode_name, is_same, require
from esign.pdf.verify.revisions import AppendedRevision, Kind, RevisionEnd, find_last_start
from esign.pdf.verify.strict_syntax import (
    Entries,
    NotStrict,
    PdfReference,
    PdfStream,
    PdfText,
    Value,
    parse_value,
)


class TailState:
    """The objects of the signed file, under those that the revisions so far have written."""

    def __init__(self, file: bytes, signed: int, pdf: Pdf) -> None:
        self.file = file
        self.pdf = pdf
        self.before = _read_end(file[:signed], signed, pdf)
        self.now: dict[int, Value] = {}  # objects that the revisions so far have written
        self.known: dict[int, Value] = {}
        self.proofs: set[tuple[int, str]] = set()  # objects already found to be a proof of that kind
        self.info = self.before.info

    def get_old(self, number: int) -> Value:
        """Return an object before this revision. A stream of the signed file comes as its dictionary, without data."""
        if number in self.now:
            return self.now[number]
        if number not in self.known:
            held = self.pdf.get_object(number, 0)
            if isinstance(held, pikepdf.Stream):
                entries = pikepdf.Dictionary({key: held[key] for key in held.keys()})  # noqa: SIM118
                found = parse_value(entries.unparse(resolved=True))
                require(isinstance(found, dict), "a dictionary is expected")
                self.known[number] = PdfStream(found, b"")  # type: ignore[arg-type]
            else:
                self.known[number] = parse_value(held.unparse(resolved=True))
        return self.known[number]

    def is_new(self, number: int) -> bool:
        """Return whether neither the signed file nor an earlier revision has such an object or refers to it."""
        return number > self.before.highest and number not in self.now

    def read_data(self, number: int) -> bytes:
        """Return the decoded data of a stream before this revision."""
        held = self.now.get(number)
        if isinstance(held, PdfStream):
            return proof_entries.decode_stream(held)
        found = self.pdf.get_object(number, 0)
        require(isinstance(found, pikepdf.Stream), "a stream is expected")
        return bytes(found.read_bytes())


@dataclass(slots=True)
class JudgedRevision:
    """One revision while it is judged; `parts` are the numbers of its objects that have been assigned a part.

    `new` are its objects. `stamped` are the names of the fields of its time stamps.
    """

    tail: TailState
    revision: AppendedRevision
    new: dict[int, Value]
    parts: set[int] = field(default_factory=set)
    store_changed: bool = False
    stamped: list[str] = field(default_factory=list)

    def take_part(self, number: int) -> None:
        """Assign its part to an object of this revision. Raises `NotStrict` if it has one."""
        require(number not in self.parts, "an object with two parts")
        self.parts.add(number)

    def follow_new(self, value: Value) -> Value:
        """Follow a reference to a new object of this revision, which only one other object may refer to."""
        if not isinstance(value, PdfReference):
            return value
        require(value.number in self.new and self.tail.is_new(value.number), "a reference to something else")
        self.take_part(value.number)
        return self.new[value.number]

    def split_grown_list(self, old: Value, now: Value) -> tuple[list[Value], list[Value]]:
        """Return the items of a list before this revision, and those added at its end.

        The list may be an object of its own. Raises `NotStrict` if it was changed in another way.
        """
        was = self.tail.get_old(old.number) if isinstance(old, PdfReference) else old
        if isinstance(now, PdfReference):
            require(now == old, "a list in another place")
            if now.number in self.new:
                if now.number not in self.parts:
                    self.take_part(now.number)
                now = self.new[now.number]
            else:
                now = was
        else:
            require(not isinstance(old, PdfReference), "a list in another place")
        was, now = was if was is not None else [], now if now is not None else []
        if not isinstance(was, list) or not isinstance(now, list):
            raise NotStrict("a list is expected")
        require(is_same(was, now[: len(was)]), "a list that lost something")
        return was, now[len(was) :]


def _read_end(signed: bytes, end: int, pdf: Pdf) -> RevisionEnd:
    """Return how the signed file ends. Raises `NotStrict`."""
    start = find_last_start(signed)
    kind: Kind = "table" if signed[start : start + 4] == b"xref" else "stream"
    trailer = _read_trailer(pdf)
    root, info = trailer.get(encode_name("Root")), trailer.get(encode_name("Info"))
    size, identifier = trailer.get(encode_name("Size")), trailer.get(encode_name("ID"))
    if (
        not isinstance(root, PdfReference)
        or type(size) is not int
        or not isinstance(info, PdfReference | None)
    ):
        raise NotStrict("a trailer is expected")
    if root.generation != 0 or (info is not None and info.generation != 0):
        raise NotStrict("an object of a later generation")
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
        raise NotStrict("a trailer is expected")
    return found
