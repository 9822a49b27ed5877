"""Read the revisions behind a signed file strictly: every byte belongs to an object that their tables list.

This is ISO 32000-2, 7.5.4 to 7.5.8, without its freedoms. A table has entries of 20 bytes and exact offsets, a
cross-reference stream has plain rows, `/Size` and `/Prev` are exact, and nothing is compressed into object
streams. Writers of proof (pyHanko, PDFBox and with it EU DSS) keep to that. If a table leads exactly to
everything there is, no reader has a reason to search for objects itself, and none finds others when it does.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeGuard

from esign.pdf.verify.strict_syntax import (
    Entries,
    NotStrict,
    PdfName,
    PdfReference,
    PdfStream,
    PdfText,
    StrictParser,
    Value,
)

MOST_REVISIONS = 200
MOST_OBJECTS = 20_000  # in one revision
MOST_INFLATED = 64 * 2**20  # bytes of one stream

LINE_ENDS = re.compile(rb"[\r\n]{0,4}")
OBJECT = re.compile(rb"([1-9][0-9]{0,8}) (0|[1-9][0-9]{0,4}) obj(?=[ \t\r\n<\[(/0-9])")
OBJECT_END = re.compile(rb"[ \t\r\n]{0,4}endobj(?=[\r\n])")
TABLE = re.compile(rb"xref(?:\r\n|\n)")
SECTION = re.compile(rb"(0|[1-9][0-9]{0,8}) ([1-9][0-9]{0,5})(?: ?)(?:\r\n|\n)")
ENTRY = re.compile(rb"([0-9]{10}) ([0-9]{5}) ([nf])(?: \n|\r\n)")
TRAILER = re.compile(rb"trailer[ \t\r\n]{1,4}")
START = re.compile(rb"[\r\n]{1,4}startxref(?:\r\n|\n)([1-9][0-9]{0,11})(?:\r\n|\n)%%EOF(?:\r\n|\n|\r)?")
LAST_START = re.compile(rb"startxref\s+([0-9]{1,12})\s+%%EOF\s*\Z")
# The marks for which readers search when they rebuild a table. Additions may contain them only where the grammar does.
LANDMARKS = re.compile(rb"[0-9][\s\x00]+[0-9]+[\s\x00]*obj|endobj|endstream|trailer|startxref|%%EOF|/ObjStm")

TRAILER_KEYS = frozenset(map(PdfName, (b"Root", b"Size", b"Info", b"ID", b"Prev")))
STREAM_KEYS = TRAILER_KEYS | frozenset(map(PdfName, (b"Type", b"W", b"Index", b"Length", b"Filter")))

Kind = Literal["table", "stream"]


@dataclass(frozen=True, slots=True)
class RevisionEnd:
    """The end of the signed file or of the revision before, which the next revision has to continue.

    `highest` is the highest number of an object that exists or is referred to.
    """

    end: int
    start_of_table: int
    kind: Kind
    size: int
    highest: int
    root: PdfReference
    info: PdfReference | None
    identifier: bytes | None


@dataclass(frozen=True, slots=True)
class AppendedRevision:
    """One revision: its `objects` by number, without its cross-reference stream; `end` is behind its end mark
    and line end.
    """

    objects: Mapping[int, tuple[int, Value]]
    info: PdfReference | None
    end: int


def find_last_start(signed: bytes) -> int:
    """Return the offset of the last table of a file. Raises `NotStrict`."""
    found = LAST_START.search(signed, max(0, len(signed) - 64))
    if found is None:
        raise NotStrict("what was signed does not end with an end mark")
    return int(found[1])


def read_revisions(file: bytes, before: RevisionEnd) -> list[AppendedRevision]:
    """Return the revisions from the end of what was signed to the end of the file. Raises `NotStrict`."""
    found: list[AppendedRevision] = []
    while before.end < len(file):
        if len(found) == MOST_REVISIONS:
            raise NotStrict("too many revisions")
        revision, before = _RevisionReader(file, before).revision()
        found.append(revision)
    return found


class _RevisionReader:
    """Reads one revision."""

    def __init__(self, file: bytes, before: RevisionEnd) -> None:
        self.file = file
        self.before = before
        self.parser = StrictParser(file, before.end)
        self.places: dict[
            int, tuple[int, int, int]
        ] = {}  # by number: generation, start and end of the whole object
        self.objects: dict[int, tuple[int, Value]] = {}
        self.table_number = 0  # of a cross-reference stream

    def revision(self) -> tuple[AppendedRevision, RevisionEnd]:
        parser = self.parser
        self._take_line_ends()
        while OBJECT.match(self.file, parser.at):
            self._take_object()
        table = parser.at
        if TABLE.match(self.file, table):
            trailer, kind = self._take_table(), "table"
        else:
            trailer, table, kind = *self._take_table_stream(), "stream"
        if kind != self.before.kind:
            raise parser.build_failure("a table of another kind than that of the revision before")
        start = parser.take(START, "the end of the revision")
        if int(start[1]) != table:
            raise parser.build_failure("an offset of the table that is not exact")
        info = self._check_trailer(trailer)
        self._check_landmarks(kind)
        size = trailer[PdfName(b"Size")]
        assert isinstance(size, int)
        after = RevisionEnd(
            parser.at,
            table,
            self.before.kind,
            size,
            # A table need not list its own stream, whose number writers then give away again (PDFBox).
            max(self.before.highest, *self.objects),
            self.before.root,
            info,
            self.before.identifier,
        )
        return AppendedRevision(self.objects, info, parser.at), after

    def _take_line_ends(self) -> None:
        self.parser.take(LINE_ENDS, "a line end")

    def _take_object(self) -> None:
        parser = self.parser
        start = parser.at
        head = parser.take(OBJECT, "an object")
        number = int(head[1])
        if number in self.objects or len(self.objects) == MOST_OBJECTS:
            raise parser.build_failure("an object twice, or too many of them")
        parser.take_space()
        value = parser.take_stream_or_value()
        parser.take(OBJECT_END, "the end of the object")
        self.objects[number] = int(head[2]), value
        self.places[number] = int(head[2]), start, parser.at
        self._take_line_ends()

    def _take_table(self) -> Entries:
        parser = self.parser
        parser.take(TABLE, "a table")
        listed: dict[int, tuple[int, int]] = {}
        following = 0
        while section := SECTION.match(self.file, parser.at):
            parser.at = section.end()
            first, count = int(section[1]), int(section[2])
            if first < following:
                raise parser.build_failure("sections of the table out of order")
            following = first + count
            for number in range(first, following):
                self._take_entry(number, listed)
        self._check_listed(listed)
        parser.take(TRAILER, "a trailer")
        trailer = parser.value()
        if not isinstance(trailer, dict) or not trailer.keys() <= TRAILER_KEYS:
            raise parser.build_failure("a trailer that says more than it needs")
        return trailer

    def _take_entry(self, number: int, listed: dict[int, tuple[int, int]]) -> None:
        entry = self.parser.take(ENTRY, "an entry of 20 bytes")
        if entry[3] == b"n":
            listed[number] = int(entry[1]), int(entry[2])
        elif number != 0 or int(entry[1]) != 0 or int(entry[2]) != 65_535:
            raise self.parser.build_failure("an entry that frees an object")

    def _check_listed(self, listed: Mapping[int, tuple[int, int]]) -> None:
        there = {number: (start, generation) for number, (generation, start, _) in self.places.items()}
        if not there or there != listed:
            raise self.parser.build_failure("a table that does not list exactly the objects before it")

    def _take_table_stream(self) -> tuple[Entries, int]:
        """Return the entries of the cross-reference stream, which was read as the last object, and where it begins."""
        parser = self.parser
        if not self.objects:
            raise parser.build_failure("a table is expected")
        number = next(reversed(self.objects))
        generation, stream = self.objects.pop(number)
        _, start, end = self.places[number]
        if not isinstance(stream, PdfStream) or generation != 0 or not stream.entries.keys() <= STREAM_KEYS:
            raise parser.build_failure("a cross-reference stream is expected")
        if stream.entries.get(PdfName(b"Type")) != PdfName(b"XRef"):
            raise parser.build_failure("a cross-reference stream is expected")
        self.table_number, parser.at = number, end
        listed = dict(self._read_rows(stream))
        if number not in listed:
            del self.places[number]
        self._check_listed(listed)
        return stream.entries, start

    def _read_rows(self, stream: PdfStream) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the objects that a cross-reference stream lists: number, then offset and generation."""
        widths, index = stream.entries.get(PdfName(b"W")), stream.entries.get(PdfName(b"Index"))
        if not _are_numbers(widths) or len(widths) != 3 or widths[0] != 1 or max(widths) > 8:
            raise self.parser.build_failure("widths of columns as nobody writes them")
        if not _are_numbers(index) or len(index) % 2:
            raise self.parser.build_failure("an index is expected")
        numbers = _expand_index(index)
        data = inflate_stream(stream)
        width = sum(widths)
        if len(data) != width * len(numbers) or numbers != sorted(set(numbers)):
            raise self.parser.build_failure("rows that are not those of the index")
        for at, number in enumerate(numbers):
            row = data[at * width : (at + 1) * width]
            place = int.from_bytes(row[1 : 1 + widths[1]], "big")
            generation = int.from_bytes(row[1 + widths[1] :], "big")
            if row[0] == 1:
                yield number, (place, generation)
            elif row[0] != 0 or number != 0 or place != 0:
                raise self.parser.build_failure("a row that is no object of this revision")

    def _check_trailer(self, trailer: Entries) -> PdfReference | None:
        """Return the reference to the document information.

        Raises `NotStrict` if the trailer does not continue the last one.
        """
        parser, before = self.parser, self.before
        if trailer.get(PdfName(b"Size")) != max(
            before.size, self.table_number + 1, *(n + 1 for n in self.objects)
        ):
            raise parser.build_failure("a size that is not exact")
        if (
            trailer.get(PdfName(b"Prev")) != before.start_of_table
            or trailer.get(PdfName(b"Root")) != before.root
        ):
            raise parser.build_failure("a way back, or a root, that is not that of the revision before")
        info = trailer.get(PdfName(b"Info"))
        if info is not None and not isinstance(info, PdfReference):
            raise parser.build_failure("document information that is not an object")
        if before.info is not None and info != before.info:
            raise parser.build_failure("other document information than before")
        self._check_identifier(trailer.get(PdfName(b"ID")))
        return info

    def _check_identifier(self, found: Value) -> None:
        if found is None and self.before.identifier is None:
            return
        parts = found if isinstance(found, list) else []
        if len(parts) != 2 or not all(isinstance(part, PdfText) and len(part) <= 64 for part in parts):
            raise self.parser.build_failure("an identifier is expected")
        if self.before.identifier is not None and parts[0] != self.before.identifier:
            raise self.parser.build_failure("the identifier of another file")

    def _check_landmarks(self, kind: Kind) -> None:
        """Raise `NotStrict` if a reader that searches for objects itself would find another one."""
        objects = len(self.objects) + (kind == "stream")
        streams = sum(isinstance(value, PdfStream) for _, value in self.objects.values()) + (kind == "stream")
        least = 2 * objects + streams + 2 + (kind == "table")
        found = sum(1 for _ in LANDMARKS.finditer(self.file, self.before.end, self.parser.at))
        if found != least:
            raise self.parser.build_failure("the mark of an object where none is")


def _are_numbers(value: Value) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)


def _expand_index(index: list[int]) -> list[int]:
    """Return the object numbers that an index names by first and count. Raises `NotStrict` for too many."""
    counts = index[1::2]
    if sum(counts) > MOST_OBJECTS:
        raise NotStrict("too many objects")
    return [
        number
        for first, count in zip(index[::2], counts, strict=True)
        for number in range(first, first + count)
    ]


def inflate_stream(stream: PdfStream) -> bytes:
    """Return the data of a stream with one filter or none.

    Raises `NotStrict`, also for bytes behind the compressed data.
    """
    used = stream.entries.get(PdfName(b"Filter"))
    if isinstance(used, list) and len(used) == 1:
        used = used[0]
    if used is None:
        return stream.data
    if used != PdfName(b"FlateDecode"):
        raise NotStrict("a filter that writers of proof do not use")
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(stream.data, MOST_INFLATED)
    except zlib.error as error:
        raise NotStrict("a damaged stream") from error
    if not reader.eof or reader.unused_data:
        raise NotStrict("a stream that is too large, or goes on behind its end")
    return data
