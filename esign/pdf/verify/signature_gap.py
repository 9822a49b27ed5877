"""Check that a signature stands in the gap that its byte range leaves, and that nothing else does.

The hash proves that the bytes outside of the gap are those that were signed. It does not prove where the gap
is, nor what is in it: with the same bytes in the same order around another gap, a forger can insert objects of
their own.
"""

import re
from binascii import unhexlify
from typing import BinaryIO

from asn1crypto import parser
from pyhanko.sign.validation import EmbeddedPdfSignature

from esign.pdf.verify import cms_envelope

HEX = re.compile(rb"<([0-9A-Fa-f]*)>")
BEFORE = re.compile(rb"/Contents\s*\Z")


def is_in_gap(embedded: EmbeddedPdfSignature) -> bool:
    """Return whether the gap contains the hexadecimal text of this signature, inside the object that holds it."""
    numbers = [int(number) for number in embedded.byte_range]
    if len(numbers) != 4 or numbers[0] != 0 or min(numbers) < 0:
        return False
    _, before, behind, _ = numbers
    stream = embedded.reader.stream
    gap = HEX.fullmatch(_read_part(stream, before, behind))
    if gap is None or len(gap[1]) % 2 or unhexlify(gap[1]) != embedded.pkcs7_content:
        return False
    start = _find_start(embedded)
    if start is None or start >= before:
        return False
    dictionary = _read_part(stream, start, before)
    return b"endobj" not in dictionary and BEFORE.search(dictionary) is not None


def is_burdened(embedded: EmbeddedPdfSignature) -> bool:
    """Return whether the signature carries more than what was signed and what proves it, see `cms_envelope`."""
    stamp = embedded.sig_object_type == "/DocTimeStamp"
    check = cms_envelope.is_bare_token if stamp else cms_envelope.is_bare
    return not check(embedded.pkcs7_content)


def carries_more(embedded: EmbeddedPdfSignature) -> bool:
    """Return whether anything but zeros follows the signature (DER or BER) in the space reserved for it."""
    try:
        length = parser.peek(embedded.pkcs7_content)
    except ValueError:
        return True
    return any(embedded.pkcs7_content[length:])


def _find_start(embedded: EmbeddedPdfSignature) -> int | None:
    """Return where the signature's object begins, or None inside an object stream, where no gap can be."""
    reference = embedded.sig_field.raw_get("/V").reference
    place = embedded.reader.xrefs.get_historical_ref(reference, embedded.signed_revision)
    return place if isinstance(place, int) else None


def _read_part(stream: BinaryIO, start: int, end: int) -> bytes:
    stream.seek(start)
    return stream.read(max(0, end - start))
