"""Compare values of the signed file with those of a revision appended to it, as `strict_syntax` parses them.

A revision that only adds proof (time stamps and validation data) leaves all other values as they are. What differs
ends in `NotStrict`.
"""

import re
from decimal import Decimal
from math import isclose

import pikepdf

from esign.pdf.verify.strict_syntax import NotStrict, PdfName, PdfText, Value

CLOSE = 1e-5  # a writer may format the numbers of a page in another way
DATE = re.compile(
    rb"D:(?:19|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:(?:0[1-9]|[12][0-9]|3[01])(?:(?:[01][0-9]|2[0-3])"
    rb"(?:[0-5][0-9]){0,2})?)?)?(?:Z(?:00'?00'?)?|[+-][0-2][0-9]'?(?:[0-5][0-9]'?)?)?"
)


def encode_name(name: str) -> PdfName:
    """Return the name as the parser returns it."""
    return PdfName(name.encode())


def require(holds: bool, what: str) -> None:
    """Raise `NotStrict` with what was found instead."""
    if not holds:
        raise NotStrict(what)


def is_same(was: Value, now: Value) -> bool:
    """Return whether two values mean the same, however they are written."""
    numbers = (int, Decimal)
    if isinstance(was, bool) or isinstance(now, bool):
        return was is now
    if isinstance(was, int) and isinstance(now, int):
        return was == now
    if isinstance(was, numbers) and isinstance(now, numbers):
        return isclose(was, now, rel_tol=CLOSE, abs_tol=CLOSE)
    if type(was) is not type(now):
        return False
    if isinstance(was, dict) and isinstance(now, dict):
        return was.keys() == now.keys() and all(is_same(was[key], now[key]) for key in was)
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(is_same, was, now))
    if isinstance(was, PdfText) and isinstance(now, PdfText):
        return bytes(was) == bytes(now) or decode_text(was) == decode_text(now)
    return was == now


def decode_text(text: PdfText) -> str:
    """Decode a text string in any of its encodings (ISO 32000-2, 7.9.2.2). Raises UnicodeDecodeError."""
    return str(pikepdf.String(bytes(text)))


def is_date(value: Value) -> bool:
    return isinstance(value, PdfText) and DATE.fullmatch(bytes(value)) is not None


def is_nowhere(rectangle: Value) -> bool:
    """Return whether a rectangle is all zeros."""
    if not isinstance(rectangle, list) or len(rectangle) != 4:
        return False
    return all(isinstance(side, int | Decimal) and side == 0 for side in rectangle)
