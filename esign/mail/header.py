"""Write header lines that contain data, so that every mail reader decodes exactly what went in (RFC 2047, 5322)."""

import base64
import re
from collections.abc import Iterable, Iterator
from email.policy import Policy

from esign.core.sentence import say
from esign.mail.failure import PermanentFailure

LINE = 76
WORD_OCTETS = 39  # an encoded word of 64 characters fits behind the name of its header


class HeaderLine(str):
    """A header value with its folded form, which the email package keeps as it is.

    `address` is that of the mailbox, empty for text.
    """

    name: str
    lines: tuple[str, ...]
    address: str

    def __new__(cls, name: str, value: str, lines: Iterable[str], address: str = "") -> "HeaderLine":
        header = super().__new__(cls, value)
        header.name, header.lines, header.address = name, tuple(lines), address
        return header

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {(policy.linesep + ' ').join(self.lines)}{policy.linesep}"


def write_text(name: str, value: str) -> HeaderLine:
    """Return a header with free text, such as a subject."""
    refuse_controls(name, value)
    return HeaderLine(
        name, value, [value] if _is_plain(value, LINE - len(name) - 2) else _encode_words(value)
    )


def write_mailbox(name: str, person: str | None, address: str) -> HeaderLine:
    """Return a header with one mailbox; `address` is written as it is."""
    refuse_controls(name, (person or "") + address)
    if not person:
        return HeaderLine(name, address, [address], address)
    return HeaderLine(name, f"{person} <{address}>", [*_write_display_name(person), f"<{address}>"], address)


def refuse_controls(name: str, value: str) -> None:
    """Raise PermanentFailure for characters that could end a line or cannot be encoded."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value):
        raise PermanentFailure(say("{name} contains a control character", name=name))


def _write_display_name(person: str) -> Iterable[str]:
    if not _is_plain(person, LINE // 2):
        return _encode_words(person)
    quoted = re.sub(r'(["\\])', r"\\\1", person)
    return [f'"{quoted}"']


def _is_plain(value: str, longest: int) -> bool:
    return value.isascii() and len(value) <= longest and "=?" not in value and value == value.strip()


def _encode_words(value: str) -> Iterator[str]:
    """Yield encoded words, one for each line. None ends within a character."""
    octets = b""
    for character in value:
        more = character.encode()
        if len(octets) + len(more) > WORD_OCTETS:
            yield _encode_word(octets)
            octets = b""
        octets += more
    yield _encode_word(octets)


def _encode_word(octets: bytes) -> str:
    return f"=?utf-8?b?{base64.b64encode(octets).decode()}?="
