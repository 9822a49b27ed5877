"""Take the base64 of a large file out of a JSON body before the rest of the body is parsed.

A parser of JSON holds the interpreter for as long as one text lasts: 24 ms for a file of 25 MB, and as long again to
decode UTF-8 before. No other request is answered meanwhile. Here the text is found, checked and decoded in slices, and
only what stands around it is parsed. It is never copied as a whole, so an upload takes less memory too.
"""

import hashlib
import re
from dataclasses import dataclass
from io import BytesIO

import pybase64

from esign.core.strict_base64 import require_canonical
from esign.system.entropy import make_token
from esign.web.http import strict_json

LARGE = 256 * 2**10  # bytes of a body from which on its file is looked for
PROBE = 64 * 2**10  # bytes without a quote, which only a long text has
SLICE = 2**20
LEAST = 65_536  # characters; idempotency takes a shorter text as it is, not its hash
MEMBER = "file"
PREFIX = re.compile(rb"data:application\\?/pdf;base64,", re.IGNORECASE)
ESCAPES = ((b"\\/", b"/"), (b"\\n", b"\n"), (b"\\r", b"\r"))  # those that encoders write into base64


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """The file that a text in base64 stands for: its content, the length of the text, and its SHA-256 in hex."""

    content: bytes
    length: int
    sha256: str


def load(body: bytes | bytearray) -> object:
    """Return what `strict_json.load` returns, with an EncodedFile for a large member `file` of canonical base64.

    Raise `invalid_json` as it does. A text that is not canonical stays a text, and its reader refuses it.
    """
    found = find_long_text(body) if len(body) > LARGE else None
    file = decode_text(body, *found) if found is not None else None
    if found is None or file is None:
        return strict_json.load(body)
    start, end = found
    start = find_end_of_prefix(body, start)
    gap = strict_json.Gap(make_token(), end - start)
    value = strict_json.load(bytes(body[:start]) + gap.mark.encode() + body[end:], gap)
    if isinstance(value, dict):
        text = value.get(MEMBER)
        if isinstance(text, str) and text.endswith(gap.mark):
            return {**value, MEMBER: file}
    return strict_json.load(body)  # the text belongs to another member


def find_long_text(body: bytes | bytearray) -> tuple[int, int] | None:
    """Return where the first long stretch between two quotes begins and ends, or None.

    If the first quote ends a text, the stretch is not JSON, and parsing fails before it, whatever stands there.
    """
    for at in range(0, len(body), PROBE):
        if body.find(b'"', at, at + PROBE) < 0:
            start = body.rfind(b'"', 0, at) + 1
            is_escaped = body[max(start - 2, 0) : start - 1] == b"\\"
            end = find_quote(body, at)
            return None if not start or is_escaped or end is None else (start, end)
    return None


def find_quote(body: bytes | bytearray, start: int) -> int | None:
    """Return where the next quote stands, or None. Other threads may run in between."""
    for at in range(start, len(body), SLICE):
        if (found := body.find(b'"', at, at + SLICE)) >= 0:
            return found
    return None


def find_end_of_prefix(body: bytes | bytearray, start: int) -> int:
    """Return where the base64 begins in a text that may have the prefix of a data URL."""
    prefix = PREFIX.match(body, start)
    return prefix.end() if prefix else start


def decode_text(body: bytes | bytearray, start: int, end: int) -> EncodedFile | None:
    """Return the file, or None if the stretch is anything but canonical base64 with escapes of slashes and line ends.

    So it holds no quote, no control character and nothing beyond ASCII, and no other text is cut out with it.
    """
    at = find_end_of_prefix(body, start)
    prefix = bytes(body[start:at]).replace(b"\\/", b"/")
    content, seen, length = BytesIO(), hashlib.sha256(prefix), len(prefix)
    rest, last = b"", b""  # less than four characters, and the last four that were decoded
    while at < end:
        stop = min(at + SLICE, end)
        stop += stop < end and body[stop - 1 : stop] == b"\\"
        text = unescape(bytes(body[at:stop]))
        if text is None:
            return None
        seen.update(text)
        length += len(text)
        rest += text.translate(None, b"\r\n")
        whole = len(rest) - len(rest) % 4
        if last.endswith(b"=") and rest:
            return None
        try:
            content.write(pybase64.b64decode(rest[:whole], validate=True))
        except ValueError:
            return None
        last, rest, at = rest[whole - 4 : whole] or last, rest[whole:], stop
    try:
        require_canonical(last.decode())
    except ValueError:
        return None
    return None if rest or length <= LEAST else EncodedFile(content.getvalue(), length, seen.hexdigest())


def unescape(raw: bytes) -> bytes | None:
    """Return the text without its escapes, or None if it holds others, or a line end that is not escaped."""
    if b"\n" in raw or b"\r" in raw or b"\\\\" in raw:
        return None
    if b"\\" in raw:
        for escape, meaning in ESCAPES:
            raw = raw.replace(escape, meaning)
    return raw
