"""An encoder for DER (tag, length, value), the encoding of certificates and signatures.

It covers only the few structures that this program writes. It does not decode.
"""

BOOLEAN, INTEGER, OCTETS, NULL, OID, SEQUENCE, SET = 0x01, 0x02, 0x04, 0x05, 0x06, 0x30, 0x31
CONTEXT_0, CONTEXT_1 = 0xA0, 0xA1


def encode_der(tag: int, *parts: bytes) -> bytes:
    """Return the DER encoding of a value: `tag`, the length of the joined `parts`, and the parts themselves."""
    body = b"".join(parts)
    if len(body) < 0x80:
        return bytes((tag, len(body))) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + body


def encode_oid(dotted: str) -> bytes:
    """Return the DER encoding of an object identifier such as `1.2.840.113549`."""
    first, second, *rest = map(int, dotted.split("."))
    encoded = b""
    for arc in (first * 40 + second, *rest):
        digits = [arc & 0x7F]
        while arc := arc >> 7:
            digits.append(0x80 | arc & 0x7F)
        encoded += bytes(reversed(digits))
    return encode_der(OID, encoded)


def encode_integer(number: int) -> bytes:
    """Return the DER encoding of an integer in the smallest number of bytes, as DER requires."""
    return encode_der(INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True))


def encode_set(*members: bytes) -> bytes:
    """Return a SET OF its encoded `members`, sorted by their encoding, as DER requires."""
    return encode_der(SET, *sorted(members))


def encode_attribute(kind: str, value: bytes) -> bytes:
    """Return an Attribute: the object identifier `kind` with one encoded `value`."""
    return encode_der(SEQUENCE, encode_oid(kind), encode_der(SET, value))
