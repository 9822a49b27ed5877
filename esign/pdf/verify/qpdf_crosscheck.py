"""What another reader makes of a file that something was added to: it has to find what was signed, all of it.

A table of objects that two readers understand differently shows one of them a page that the other never judged.
"""

import io
from collections.abc import Iterator
from decimal import Decimal
from math import isclose
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Stream

from esign.pdf.verify.evidence import BROKEN

PROOFS = frozenset({"/DSS", "/Extensions", "/Version", "/AcroForm", "/Metadata"})  # what archiving may change
NUMBERS = (int, Decimal)
CLOSE = 1e-5  # a writer may spell the numbers of a page anew
NOTHING = object()
UPWARDS = frozenset({"/Parent", "/P"})


def agrees(file: bytes, signed: int) -> bool:
    """Whether qpdf finds the same pages in the whole file as in what was signed, its first so many bytes."""
    try:
        with pikepdf.open(io.BytesIO(file[:signed])) as was, pikepdf.open(io.BytesIO(file)) as now:
            return _same(was.Root, now.Root)
    except (pikepdf.PdfError, pikepdf.PasswordError, *BROKEN):
        return False


def _same(first: Object, second: Object) -> bool:
    seen: set[tuple[Any, Any]] = set()
    pairs: list[tuple[Any, Any]] = list(_entries(first, second, PROOFS))
    while pairs:
        was, now = pairs.pop()
        if isinstance(was, Object) and was.is_indirect:
            if (was.objgen, getattr(now, "objgen", None)) in seen:
                continue
            seen.add((was.objgen, getattr(now, "objgen", None)))
        if isinstance(was, NUMBERS) and isinstance(now, NUMBERS):
            if not isclose(was, now, rel_tol=CLOSE, abs_tol=CLOSE):
                return False
            continue
        if type(was) is not type(now):
            return False
        if isinstance(was, Stream) and was.read_raw_bytes() != now.read_raw_bytes():
            return False
        if isinstance(was, Dictionary | Stream):
            pairs += _entries(was, now, UPWARDS)
        elif isinstance(was, Array):
            pairs += _items(was, now)
        elif was != now:
            return False
    return True


def _entries(was: Any, now: Any, but: frozenset[str]) -> Iterator[tuple[Any, Any]]:
    """What is to be compared in two dictionaries, and `NOTHING` for what only one of them has."""
    if was.get("/FT") == Name.Sig and "/V" not in was:
        but = but | {"/V"}  # a field made for a time stamp later
    for key in ({*was.keys()} | {*now.keys()}) - but:
        if key == "/Annots" and isinstance(now.get(key), Array):
            yield from _annotations(was.get(key, Array([])), now[key])
        else:
            yield was.get(key, NOTHING), now.get(key, NOTHING)


def _annotations(was: Any, now: Any) -> Iterator[tuple[Any, Any]]:
    """Those that were there, and behind them such as show nothing."""
    yield from _items(was, Array([now[n] for n in range(min(len(was), len(now)))]))
    for added in list(now)[len(was) :]:
        sides = [float(side) for side in added.get("/Rect", Array([0, 0, 1, 1]))]
        shows = added.get("/FT") != Name.Sig or sides[0] != sides[2] or sides[1] != sides[3]
        yield 1, int(not shows)


def _items(was: Any, now: Any) -> Iterator[tuple[Any, Any]]:
    yield len(was), len(now)
    yield from zip(was, now, strict=False)
