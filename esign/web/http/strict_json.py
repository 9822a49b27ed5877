"""A strict reader of JSON: it refuses what parsers disagree about (contract 3.1, Bodies)."""

import json
from dataclasses import dataclass
from math import isinf

from esign.core.errors import Problem
from esign.core.sentence import say

DEPTH = 20
VALUES = 1_000_000
SLICE = 2**20  # bytes that are searched at a time; other threads may run in between


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of one text that was left out of a body: the mark in its place, and its length in characters.

    It holds no line end.
    """

    mark: str
    length: int


def load(body: bytes | bytearray, gap: Gap | None = None) -> object:
    """Return the JSON value in `body`. Raise `invalid_json` if it is not exactly one strict value.

    A whole number is an int, however it is written. The places in messages count a `gap` as if it were there.
    """
    refuse_many_values(body)
    try:
        value = DECODER.decode(body.decode())
        if has_escaped_surrogate(body):
            json.dumps(
                value, ensure_ascii=False
            ).encode()  # raises for a lone surrogate, which is not a character
    except UnicodeError:
        raise Problem("invalid_json", "The body is not text in UTF-8.") from None
    except RecursionError:
        raise make_depth_problem() from None
    except ValueError as error:
        raise Problem(
            "invalid_json", say("The body is not one JSON value: {error}.", error=describe(error, gap))
        ) from None
    if is_too_deep(value):
        raise make_depth_problem()
    return value


def refuse_many_values(body: bytes | bytearray) -> None:
    """Raise `invalid_json` if the body may hold more values than are read."""
    if len(body) <= VALUES:
        return
    slices = range(0, len(body), SLICE)
    if sum(body.count(sign, at, at + SLICE) for at in slices for sign in (b",", b"[", b"{")) > VALUES:
        raise Problem("invalid_json", say("The body holds more than {most:,} values.", most=VALUES))


def has_escaped_surrogate(body: bytes | bytearray) -> bool:
    """Return whether a body holds `\\ud` or `\\uD`."""
    return any(
        body.find(escape, at, at + SLICE + 2) >= 0
        for at in range(0, len(body), SLICE)
        if body.find(b"\\", at, at + SLICE) >= 0  # a single byte is found twenty times as fast
        for escape in (b"\\ud", b"\\uD")
    )


def describe(error: ValueError, gap: Gap | None) -> str:
    """Return the message of an error; its place is that in the body with what the gap left out."""
    if gap is None or not isinstance(error, json.JSONDecodeError):
        return str(error)
    at = error.doc.find(gap.mark)
    if error.pos <= at:
        return str(error)
    more = gap.length - len(gap.mark)
    column = error.colno + (0 if "\n" in error.doc[at : error.pos] else more)
    return f"{error.msg}: line {error.lineno} column {column} (char {error.pos + more})"


def make_depth_problem() -> Problem:
    """Return the problem for a body that is nested too deeply."""
    return Problem("invalid_json", say("The body is nested more than {depth} levels deep.", depth=DEPTH))


def is_too_deep(value: object) -> bool:
    """Return whether lists and objects are nested more than 20 levels deep."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEPTH):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def build_object(members: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of an object as a dict. Raise ValueError if a member is given twice."""
    value = dict(members)
    if len(value) != len(members):
        raise ValueError("a member is given twice in one object")
    return value


def parse_whole(digits: str) -> int:
    """Return a number without a fraction as an int. Raise ValueError if a float could not hold it."""
    if len(digits) > 300:
        parse_real(digits)
    return int(digits)


def parse_real(digits: str) -> float | int:
    """Return a number with a fraction or an exponent, as an int if it is whole. Raise ValueError if it is too large."""
    number = float(digits)
    if isinf(number):
        raise ValueError("a number is too large")
    return int(number) if number.is_integer() else number


def refuse_constant(name: str) -> object:
    """Raise ValueError: `NaN` and `Infinity` are not JSON."""
    raise ValueError(f"{name} is no JSON value")


DECODER = json.JSONDecoder(
    object_pairs_hook=build_object,
    parse_int=parse_whole,
    parse_float=parse_real,
    parse_constant=refuse_constant,
)
