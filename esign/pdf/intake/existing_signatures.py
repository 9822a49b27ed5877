"""Find out whether a file carries a digital signature or once did: stamping the file would break it."""

import re
from collections.abc import Sequence

from pikepdf import Dictionary, Name, Object, PikepdfError, Stream

# `/ByteRange` with each character possibly written as #xx, before an array or a reference to one.
_LETTERS = b"".join(b"(?:%c|#%02x|#%02X)" % (c, c, c) for c in b"ByteRange")
WRITTEN = re.compile(rb"/" + _LETTERS + rb"\s*+(?:%[^\r\n]*+\s*+)*+(?:\[|\d++\s++\d++\s++R)")
LANDMARK = re.compile(rb"(?P<open>>>\s*+stream\r?\n)|(?P<close>endstream)|" + WRITTEN.pattern)
NAMED = re.compile(rb"/ByteRange(?![^\s/<>\[\](){}%])")
KIND = re.compile(rb"/(?:FT|Type)\s*/(?:Sig|DocTimeStamp)(?![^\s/<>\[\](){}%])")


def is_signed(upload: bytes, written: Sequence[tuple[Object, bytes]]) -> bool:
    """Return whether the file is or was signed.

    This looks at the bytes of every revision and at every object that can be reached, including compressed
    objects: those that `active_content.write_objects` returns.
    """
    return _has_byte_range(upload) or any(_is_signature(item, text) for item, text in written)


def _has_byte_range(upload: bytes) -> bool:
    """Return whether a `/ByteRange` stands outside streams; page text may mention one, an attached file may
    have its own.
    """
    if not WRITTEN.search(upload):  # ten times as fast as looking at every stream
        return False
    within = False
    for found in LANDMARK.finditer(upload):
        if found["open"] or found["close"]:
            within = found["close"] is None
        elif not within:
            return True
    return False


def _is_signature(item: Object, text: bytes) -> bool:
    if isinstance(item, Stream) and item.get("/Type") == Name.ObjStm:
        # An earlier revision may have packed a signature into it.
        return _has_packed_byte_range(item)
    if not isinstance(item, Dictionary):
        return False
    return bool(NAMED.search(text)) or (bool(KIND.search(text)) and _has_value(item))


def _has_packed_byte_range(item: Stream) -> bool:
    try:
        return bool(WRITTEN.search(item.read_bytes()))
    except PikepdfError:
        return False


def _has_value(item: Dictionary) -> bool:
    """Return whether the dictionary is a signature field with a value, or a signature."""
    if item.get("/FT") == Name.Sig:
        return isinstance(item.get("/V"), Dictionary)
    return item.get("/Type") in (Name.Sig, Name.DocTimeStamp) and "/Contents" in item
