"""A strict reader of JSON: it refuses what parsers disagree about (contract 3.1, Bodies)."""

import json
from math import isinf

from esign.core.errors import Problem

DEPTH = 20
VALUES = 1_000_000


def load(body: bytes | bytearray) -> object:
    """Return the JSON value in `body`. Raise `invalid_json` if it is not exactly one strict value.

    A whole number is an int, however it is written.
    """
    if len(body) > VALUES and sum(map(body.count, (b",", b"[", b"{"))) > VALUES:
        raise Problem("invalid_json", f"The body holds more than {VALUES:,} values.")
    try:
        value = DECODER.decode(body.decode())
        if b"\\ud" in body or b"\\uD" in body:
            json.dumps(
                value, ensure_ascii=False
            ).encode()  # raises for a lone surrogate, which is not a character
    except UnicodeError:
        raise Problem("invalid_json", "The body is not text in UTF-8.") from None
    except RecursionError:
        raise make_depth_problem() from None
    except ValueError as error:
        raise Problem("invalid_json", f"The body is not one JSON value: {error}.") from None
    if is_too_deep(value):
        raise make_depth_problem()
    return value


def make_depth_problem() -> Problem:
    """Return the problem for a body that is nested too deeply."""
    return Problem("invalid_json", f"The body is nested more than {DEPTH} levels deep.")


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
