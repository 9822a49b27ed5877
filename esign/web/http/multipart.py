"""Forms with files, as browsers send them (RFC 7578). Nested multipart bodies are not read.

The push parser of python-multipart parses the body in memory. Nothing is written to disk.
"""

import re
from dataclasses import dataclass
from io import BytesIO

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header

from esign.core.errors import Problem

MEDIA = re.compile(rb'multipart/form-data\s*;\s*boundary=("?)([!#-~]{1,70})\1', re.IGNORECASE)
ESCAPED = {"%22": '"', "%0D": "\r", "%0A": "\n"}  # the only three characters that browsers escape
MOST = 100  # parts of one form
HEADERS, HEAD = 8, 8 * 2**10  # the headers of a part, and the bytes of each header
CHUNK = 256 * 2**10


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as the browser named it. Its content has not been checked."""

    field: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class MultipartForm:
    """The fields and files of a submitted form."""

    fields: dict[str, str]
    files: tuple[SentFile, ...] = ()


def parse_form(media: bytes, body: bytearray) -> MultipartForm:
    """Return the form in `body`. `media` is the value of its Content-Type header.

    Raise `invalid_request` if the body is truncated or a field is given twice. Several files may share one
    field.
    """
    found = MEDIA.fullmatch(media.strip())
    if found is None:
        raise Problem("unsupported_media_type", "Send the form of the page.")
    parts = PartCollector()
    parser = MultipartParser(
        found[2],
        {
            "on_part_begin": parts.begin_part,
            "on_header_field": parts.add_header_name,
            "on_header_value": parts.add_header_value,
            "on_header_end": parts.end_header,
            "on_part_data": parts.add_content,
            "on_part_end": parts.end_part,
            "on_end": parts.finish_form,
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
    return MultipartForm(parts.fields, tuple(parts.files))


class PartCollector:
    """The callbacks of the parser: they collect the parts that have ended, and the part being read."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.files: list[SentFile] = []
        self.whole = False
        self._count = 0
        self._name = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._content = BytesIO()  # it gives out what was written without a copy

    def begin_part(self) -> None:
        self._count += 1
        if self._count > MOST:
            raise Problem("invalid_request", "The form has too many parts.")
        self._disposition, self._content = b"", BytesIO()

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def add_content(self, data: bytes, start: int, end: int) -> None:
        self._content.write(memoryview(data)[start:end])

    def end_part(self) -> None:
        """Keep the part that has ended as a field or a file.

        Where the user chose no file, a browser sends an empty one without a name. It is dropped.
        """
        _, options = parse_options_header(self._disposition)
        if b"name" not in options:
            raise Problem("invalid_request", "A part of the form has no name.")
        name, content = unescape(options[b"name"]), self._content.getvalue()
        if b"filename" in options:
            file_name = unescape(options[b"filename"])
            if file_name or content:
                self.files.append(SentFile(name, file_name, content))
            return
        if name in self.fields:
            raise Problem("invalid_request", "A form field was sent twice.")
        self.fields[name] = decode_text(content)

    def finish_form(self) -> None:
        self.whole = True


def unescape(raw: bytes) -> str:
    """Return a name with the three escapes of browsers undone."""
    return re.sub("|".join(ESCAPED), lambda hit: ESCAPED[hit[0]], decode_text(raw))


def decode_text(raw: bytes | bytearray) -> str:
    """Return the bytes as text. Raise `invalid_request` unless they are UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Problem("invalid_request", "The form is not text in UTF-8.") from None
