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
SLICE = 2**18  # bytes that are decoded at a time; other threads may run in between
LEAST = 65_536  # characters; idempotency takes a shorter text as it is, not its hash
MEMBER = "file"
PREFIX = re.compile(rb"data:application\\?/pdf;base64,", re.IGNORECASE)
# Nothing that may stand behind a text, and no white space: `data:` may follow that, which the whole text is read for.
FIRST = re.compile(rb"[A-Za-z0-9+/]|\\/")
# The escapes that encoders write into base64, and the longest.
ESCAPES = ((b"\\/", b"/"), (b"\\n", b"\n"), (b"\\r", b"\r"), (b"\\u002B", b"+"), (b"\\u002b", b"+"))
LONGEST = 6
CONTROLS = bytes(range(32))


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """The file that a text in base64 stands for, or None if the text is not canonical base64.

    `length` is that of the text in characters, `sha256` its hash in hex.
    """

    content: bytes | None
    length: int
    sha256: str


def load(body: bytes | bytearray) -> object:
    """Return what `strict_json.load` returns, with an EncodedFile for a large text as the member `file`.

    Raise `invalid_json` as it does.
    """
    found = find_long_text(body) if len(body) > LARGE else None
    if found is None:
        return strict_json.load(body)
    strict_json.refuse_many_values(body)
    file = read_text(body, *found)
    if file is None:
        return strict_json.load(body)
    start, end = found
    gap = strict_json.Gap(make_token(), end - start)
    value = strict_json.load(bytes(body[:start]) + gap.mark.encode() + body[end:], gap)
    if isinstance(value, dict) and value.get(MEMBER) == gap.mark:
        return {**value, MEMBER: file}
    return strict_json.load(body)  # the text belongs to another member


def find_long_text(body: bytes | bytearray) -> tuple[int, int] | None:
    """Return where the first long stretch between two quotes begins and ends, or None.

    It begins with a character that cannot stand behind a text. So if the first quote ends a text, parsing fails
    right there, whatever the stretch holds.
    """
    for at in range(0, len(body), PROBE):
        if body.find(b'"', at, at + PROBE) < 0:
            start = body.rfind(b'"', 0, at) + 1
            is_escaped = body[max(start - 2, 0) : start - 1] == b"\\"
            end = find_quote(body, at)
            if not start or is_escaped or end is None or not FIRST.match(body, start):
                return None
            return start, end
    return None


def find_quote(body: bytes | bytearray, start: int) -> int | None:
    """Return where the next quote stands, or None. Other threads may run in between."""
    for at in range(start, len(body), SLICE):
        if (found := body.find(b'"', at, at + SLICE)) >= 0:
            return found
    return None


def read_text(body: bytes | bytearray, start: int, end: int) -> EncodedFile | None:
    """Return the file in a stretch, or None if it may be no text, or one with escapes that base64 has no use for."""
    seen, length, decoder = hashlib.sha256(), 0, Base64Decoder()
    prefix = PREFIX.match(body, start, end)
    at = start
    while at < end:
        stop = choose_stop(body, at, prefix.end() if prefix and at == start else end)
        text = unescape(bytes(body[at:stop]))
        if text is None:
            return None
        seen.update(text)
        length += len(text)
        if at > start or not prefix:
            decoder.feed(text)
        at = stop
    return EncodedFile(decoder.finish(), length, seen.hexdigest()) if length > LEAST else None


def choose_stop(body: bytes | bytearray, at: int, end: int) -> int:
    """Return where the slice ends that begins at `at`: it cuts no escape apart."""
    stop = at + SLICE
    if stop >= end:
        return end
    escape = body.rfind(b"\\", stop - LONGEST + 1, stop)
    return stop if escape < 0 else escape


def unescape(raw: bytes) -> bytes | None:
    """Return the text without its escapes, or None for other escapes, control characters, and text beyond ASCII."""
    if not raw.isascii() or b"\\\\" in raw or len(raw.translate(None, CONTROLS)) < len(raw):
        return None
    if b"\\" in raw:
        for escape, meaning in ESCAPES:
            raw = raw.replace(escape, meaning)
        if b"\\" in raw:
            return None
    return raw


class Base64Decoder:
    """Decode canonical base64 in pieces; white space does not count."""

    def __init__(self) -> None:
        self._content = BytesIO()
        self._rest = b""  # less than four characters
        self._last = b""  # the last four that were decoded
        self._is_canonical = True

    def feed(self, text: bytes) -> None:
        """Decode a piece."""
        if not self._is_canonical:
            return
        bare = self._rest + text.translate(None, b" \r\n")
        whole = len(bare) - len(bare) % 4
        try:
            if bare and self._last.endswith(b"="):
                raise ValueError("more stands behind the padding")
            self._content.write(pybase64.b64decode(bare[:whole], validate=True))
        except ValueError:
            self._is_canonical, self._content = False, BytesIO()
        self._last, self._rest = bare[max(whole - 4, 0) : whole] or self._last, bare[whole:]

    def finish(self) -> bytes | None:
        """Return the content, or None if the text is not canonical."""
        try:
            require_canonical(self._last.decode())
        except ValueError:
            return None
        return self._content.getvalue() if self._is_canonical and not self._rest else None
