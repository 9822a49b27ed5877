"""Parse PDF objects strictly (ISO 32000-2, 7.3): accept what careful writers produce, and refuse everything else.

PDF readers tolerate oddities, each in its own way. A file that two of them read differently can show one page
to the program that judges it and another page to a person. Input that this parser accepts is unambiguous: no
comments, no duplicate keys, no stream whose length differs from what it declares.
"""

import re
from binascii import unhexlify
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

DEEPEST = 24  # levels of arrays and dictionaries
LONGEST_SPACE = 64  # bytes of white space in one place: writers pad a byte range with spaces, nothing else

SPACE = re.compile(rb"[ \t\r\n]*")
NUMBER = re.compile(rb"-?(?:(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?=[ \t\r\n/<>\[\]()]|\Z)")
REFERENCE = re.compile(rb"([1-9][0-9]{0,9})[ \t\r\n]([0-9]{1,5})[ \t\r\n]R(?=[ \t\r\n/<>\[\]()]|\Z)")
NAME = re.compile(rb"/([^\x00-\x20()<>\[\]{}/%\x7f-\xff]*)")
ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
WORD = re.compile(rb"(true|false|null)(?=[ \t\r\n/<>\[\]()]|\Z)")
HEX = re.compile(rb"<([0-9A-Fa-f]*)>")
LITERAL = re.compile(rb"[()\\]")
OCTAL = re.compile(rb"[0-7]{1,3}")
STREAM = re.compile(rb"[ \t\r\n]{0,2}stream(?:\r\n|\n)")
STREAM_END = re.compile(rb"(?:\r\n|\n)endstream(?=[ \t\r\n])")
SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


class NotStrict(ValueError):
    """Raised if the bytes violate the strict grammar; the message says where and why."""


class PdfName(bytes):
    """A name without its solidus."""


class PdfText(bytes):
    """A decoded string; `start` and `end` are its place in the parsed bytes, including its delimiters."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class PdfReference:
    number: int
    generation: int


@dataclass(frozen=True, slots=True)
class PdfStream:
    """A stream with its `data` as written; decoding is up to the caller."""

    entries: "Entries"
    data: bytes


Entries: TypeAlias = "dict[PdfName, Value]"
Value: TypeAlias = (
    "bool | int | Decimal | PdfName | PdfText | PdfReference | list[Value] | Entries | PdfStream | None"
)


class StrictParser:
    """Reads values from `data`, forward from `at`."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def build_failure(self, what: str) -> NotStrict:
        return NotStrict(f"{what} at byte {self.at}")

    def take(self, pattern: "re.Pattern[bytes]", what: str) -> "re.Match[bytes]":
        """Consume what the pattern matches at the current position. Raises `NotStrict` if it does not match."""
        found = pattern.match(self.data, self.at)
        if found is None:
            raise self.build_failure(f"{what} is expected")
        self.at = found.end()
        return found

    def take_space(self) -> None:
        """Consume white space between tokens."""
        found = self.take(SPACE, "white space")
        if len(found[0]) > LONGEST_SPACE:
            raise self.build_failure("more white space than any writer needs")

    def value(self, depth: int = 0) -> Value:
        """Consume one object that is not a stream, and return it. Raises `NotStrict`."""
        if depth > DEEPEST:
            raise self.build_failure("too many levels")
        head = self.data[self.at : self.at + 2]
        if head == b"<<":
            return self._take_dictionary(depth)
        match head[:1]:
            case b"[":
                return self._take_array(depth)
            case b"/":
                return self._take_name()
            case b"(":
                return self._take_literal()
            case b"<":
                return self._take_hexadecimal()
        return self._take_plain()

    def take_stream_or_value(self) -> Value:
        """Consume the body of a whole object, and return it: a stream is a dictionary followed by its data."""
        found = self.value()
        if not isinstance(found, dict) or STREAM.match(self.data, self.at) is None:
            return found
        self.take(STREAM, "a stream")
        length = found.get(PdfName(b"Length"))
        if not isinstance(length, int) or isinstance(length, bool) or length < 0:
            raise self.build_failure("a stream that does not say its length itself")
        data = self.data[self.at : self.at + length]
        self.at += length
        self.take(STREAM_END, "the end of a stream where its length says")
        return PdfStream(found, data)

    def _take_plain(self) -> Value:
        found = REFERENCE.match(self.data, self.at)
        if found:
            self.at = found.end()
            return PdfReference(int(found[1]), int(found[2]))
        word = WORD.match(self.data, self.at)
        if word:
            self.at = word.end()
            return {b"true": True, b"false": False, b"null": None}[word[1]]
        number = self.take(NUMBER, "a value")[0]
        return Decimal(number.decode()) if b"." in number else int(number)

    def _take_name(self) -> PdfName:
        found = self.take(NAME, "a name")[1]
        return PdfName(ESCAPED.sub(lambda escaped: unhexlify(escaped[1]), found))

    def _take_hexadecimal(self) -> PdfText:
        found = self.take(HEX, "a hexadecimal string")
        if len(found[1]) % 2:
            raise self.build_failure("half a byte")
        return _build_text(unhexlify(found[1]), found.start(), found.end())

    def _take_literal(self) -> PdfText:
        start, made, level = self.at, bytearray(), 0
        while True:
            found = LITERAL.search(self.data, self.at)
            if found is None:
                raise self.build_failure("a string without end")
            made += self.data[self.at : found.start()]
            self.at = found.end()
            if found[0] == b"\\":
                made += self._take_escape()
                continue
            level += 1 if found[0] == b"(" else -1
            if level == 0:
                return _build_text(bytes(made[1:]), start, self.at)
            made += found[0]

    def _take_escape(self) -> bytes:
        octal = OCTAL.match(self.data, self.at)
        if octal:
            self.at = octal.end()
            return bytes([int(octal[0], 8) & 0xFF])
        following = self.data[self.at : self.at + 1]
        self.at += 1
        if following in SIMPLE:
            return SIMPLE[following]
        if following in (b"(", b")", b"\\"):
            return following
        raise self.build_failure("an escape that no writer needs")

    def _take_array(self, depth: int) -> list[Value]:
        self.at += 1
        found: list[Value] = []
        while True:
            self.take_space()
            if self.data[self.at : self.at + 1] == b"]":
                self.at += 1
                return found
            found.append(self.value(depth + 1))

    def _take_dictionary(self, depth: int) -> Entries:
        self.at += 2
        found: Entries = {}
        while True:
            self.take_space()
            if self.data[self.at : self.at + 2] == b">>":
                self.at += 2
                return found
            key = self._take_name()
            if key in found:
                raise self.build_failure("the same key twice")
            self.take_space()
            found[key] = self.value(depth + 1)


def _build_text(content: bytes, start: int, end: int) -> PdfText:
    made = PdfText(content)
    made.start, made.end = start, end
    return made


def parse_value(data: bytes) -> Value:
    """Return the one value of which the bytes consist. Raises `NotStrict`."""
    parser = StrictParser(data)
    found = parser.value()
    if parser.at != len(data):
        raise parser.build_failure("more than one value")
    return found
