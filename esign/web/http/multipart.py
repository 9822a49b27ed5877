"""Forms that bring files, as browsers write them (RFC 7578): fields and files side by side, nothing nested.

The push parser of python-multipart takes them apart; nothing is spooled to disk.
"""

import re
from dataclasses import dataclass

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header

from esign.core.errors import Problem

MEDIA = re.compile(rb'multipart/form-data\s*;\s*boundary=("?)([!#-~]{1,70})\1', re.IGNORECASE)
ESCAPED = {"%22": '"', "%0D": "\r", "%0A": "\n"}  # the only three that browsers write otherwise
MOST = 100
HEADERS, HEAD = 8, 8 * 2**10  # of a part, and the bytes of each
CHUNK = 256 * 2**10


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as the browser calls it, which nobody has looked at yet."""

    field: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    fields: dict[str, str]
    files: tuple[SentFile, ...] = ()


def parse(media: bytes, body: bytearray) -> Form:
    """Raises `invalid_request` where the body is cut, or a field stands there twice; files may share their field."""
    found = MEDIA.fullmatch(media.strip())
    if found is None:
        raise Problem("unsupported_media_type", "Send the form of the page.")
    parts = Parts()
    parser = MultipartParser(
        found[2],
        {
            "on_part_begin": parts.begin,
            "on_header_field": parts.header_name,
            "on_header_value": parts.header_value,
            "on_header_end": parts.header_end,
            "on_part_data": parts.data,
            "on_part_end": parts.end,
            "on_end": parts.finish,
        },
        max_header_count=HEADERS,
        max_header_size=HEAD,
    )
    try:
        for at in range(0, len(body), CHUNK):
            parser.write(bytes(memoryview(body)[at : at + CHUNK]))
    except MultipartParseError:
        raise Problem("invalid_request", "The form is not whole, or its parts have no head.") from None
    if not parts.whole:
        raise Problem("invalid_request", "The form is not whole.")
    return Form(parts.fields, tuple(parts.files))


class Parts:
    """What the parser has told so far: the parts that ended, and the one it is in."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.files: list[SentFile] = []
        self.whole = False
        self._count = 0
        self._name = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._content = bytearray()

    def begin(self) -> None:
        self._count += 1
        if self._count > MOST:
            raise Problem("invalid_request", "The form has too many parts.")
        self._disposition, self._content = b"", bytearray()

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def data(self, data: bytes, start: int, end: int) -> None:
        self._content += memoryview(data)[start:end]

    def end(self) -> None:
        _, told = parse_options_header(self._disposition)
        if b"name" not in told:
            raise Problem("invalid_request", "A part of the form has no name.")
        name = unescaped(told[b"name"])
        if b"filename" in told:
            file_name = unescaped(told[b"filename"])
            if file_name or self._content:  # where no file was chosen, an empty one without a name is sent
                self.files.append(SentFile(name, file_name, bytes(self._content)))
            return
        if name in self.fields:
            raise Problem("invalid_request", "A field of the form was sent twice.")
        self.fields[name] = text(self._content)

    def finish(self) -> None:
        self.whole = True


def unescaped(raw: bytes) -> str:
    return re.sub("|".join(ESCAPED), lambda hit: ESCAPED[hit[0]], text(raw))


def text(raw: bytes | bytearray) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Problem("invalid_request", "The form is not text in UTF-8.") from None
