"""Check with qpdf that a file with additions still contains everything that was signed.

If two readers understand the object table differently, one of them shows a page that the other never judged.
"""

import io
from collections.abc import Iterator
from decimal import Decimal
from math import isclose
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Stream

from esign.pdf.verify.certificate_evidence import BROKEN

PROOFS = frozenset(
    {"/DSS", "/Extensions", "/Version", "/AcroForm", "/Metadata"}
)  # entries of the catalog that added proof may change
NUMBERS = (int, Decimal)
CLOSE = 1e-5  # a writer may format the numbers of a page in another way
NOTHING = object()
UPWARDS = frozenset({"/Parent", "/P"})


def is_confirmed_by_qpdf(file: bytes, signed: int) -> bool:
    """Return whether qpdf finds the same pages in the whole file as in its first `signed` bytes."""
    try:
        with pikepdf.open(io.BytesIO(file[:signed])) as was, pikepdf.open(io.BytesIO(file)) as now:
            return _is_same(was.Root, now.Root)
    except (pikepdf.PdfError, pikepdf.PasswordError, *BROKEN):
        return False


def _is_same(first: Object, second: Object) -> bool:
    seen: set[tuple[Any, Any]] = set()
    pairs: list[tuple[Any, Any]] = list(_pair_entries(first, second, PROOFS))
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
            pairs += _pair_entries(was, now, UPWARDS)
        elif isinstance(was, Array):
            pairs += _pair_items(was, now)
        elif was != now:
            return False
    return True


def _pair_entries(was: Any, now: Any, but: frozenset[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of values to compare in two dictionaries, with `NOTHING` for a missing entry."""
    if was.get("/FT") == Name.Sig and "/V" not in was:
        but = but | {"/V"}  # an empty field, meant for a later time stamp
    for key in ({*was.keys()} | {*now.keys()}) - but:
        if key == "/Annots" and isinstance(now.get(key), Array):
            yield from _pair_annotations(was.get(key, Array([])), now[key])
        else:
            yield was.get(key, NOTHING), now.get(key, NOTHING)


def _pair_annotations(was: Any, now: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of old annotations, and for each added one a pair that differs if it is visible."""
    yield from _pair_items(was, Array([now[n] for n in range(min(len(was), len(now)))]))
    for added in list(now)[len(was) :]:
        sides = [float(side) for side in added.get("/Rect", Array([0, 0, 1, 1]))]
        shows = added.get("/FT") != Name.Sig or sides[0] != sides[2] or sides[1] != sides[3]
        yield 1, int(not shows)


def _pair_items(was: Any, now: Any) -> Iterator[tuple[Any, Any]]:
    yield len(was), len(now)
    yield from zip(was, now, strict=False)
