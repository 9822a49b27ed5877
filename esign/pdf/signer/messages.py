"""Encode and decode what the server and the signer send one another: a kind, and a few fields of bytes.

The form is so simple that there is nothing to get wrong: one byte for the kind, one for the number of fields, and
before each field its length. Longer messages than the signer needs are refused before they are read.
"""

from collections.abc import Callable, Sequence

LOAD, SIGN = b"L", b"S"
SIGNED, REFUSED = b"O", b"E"
READY = b"R"

MOST_FIELDS, LONGEST_FIELD = 4, 32 * 1024  # RSA keys of 16384 bits have 9 kB, chains are not sent

HEAD = 2
LENGTH = 4


class MessageError(ValueError):
    """The bytes are no message."""


def pack_message(kind: bytes, fields: Sequence[bytes] = ()) -> bytes:
    """Return a message. Raises `MessageError` if it would be too long."""
    if len(fields) > MOST_FIELDS or any(len(field) > LONGEST_FIELD for field in fields):
        raise MessageError("The message is too long.")
    packed = [len(field).to_bytes(LENGTH, "big") + field for field in fields]
    return b"".join((kind, bytes((len(fields),)), *packed))


def parse_head(head: bytes) -> tuple[bytes, int]:
    """Return the kind and the number of fields. Raises `MessageError`."""
    if len(head) != HEAD or head[1] > MOST_FIELDS:
        raise MessageError("The message has too many fields.")
    return head[:1], head[1]


def parse_length(encoded: bytes) -> int:
    """Return the length of the next field in bytes. Raises `MessageError`."""
    length = int.from_bytes(encoded, "big")
    if len(encoded) != LENGTH or length > LONGEST_FIELD:
        raise MessageError("A field is too long.")
    return length


def read_message(read: Callable[[int], bytes]) -> tuple[bytes, list[bytes]] | None:
    """Read a message from a blocking pipe; None at its end. Raises `MessageError`."""
    head = read(HEAD)
    if not head:
        return None
    kind, count = parse_head(head)
    fields = []
    for _ in range(count):
        length = parse_length(read(LENGTH))
        fields.append(read(length))
        if len(fields[-1]) != length:
            raise MessageError("The message is cut off.")
    return kind, fields
