"""Encode and decode jobs and answers on the pipe: a length, a JSON header, then the binary parts that it names.

Values are rebuilt by the types that the receiver declares, never by what the sender says they are. A worker
that a hostile file has taken over can answer wrongly, but cannot make anything run.
"""

import json
import struct
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import BinaryIO, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

PREFIX = struct.Struct(">I")

# The header of an answer, 100 KB for 500 pages with their boxes, is parsed by the server; that of a job holds the
# picture of each signature, a photo a megabyte and a half. The parts of one answer are pages and pictures of one file.
LONGEST_ANSWER, LONGEST_JOB, MOST_BYTES = 1024 * 1024, 160 * 1024 * 1024, 256 * 1024 * 1024

PART = "$part"
PLAIN = (str, int, float, types.NoneType)
SCALARS = (int, str, bool, types.NoneType)

T = TypeVar("T")


class FrameError(ValueError):
    """Raised if the bytes on the pipe are no frame, or do not contain what was expected."""


def pack_frame(body: object) -> list[bytes]:
    """Return the chunks of a frame. `body` may consist of dataclasses, mappings, sequences, bytes and JSON values."""
    parts: list[bytes] = []
    plain = _flatten_value(body, parts)
    header = json.dumps({"body": plain, "parts": [len(part) for part in parts]}, allow_nan=False).encode()
    return [PREFIX.pack(len(header)), header, *parts]


def parse_header_length(prefix: bytes, longest: int = LONGEST_ANSWER) -> int:
    """Return the length of the header in bytes. Raises `FrameError` if it exceeds `longest`."""
    (length,) = PREFIX.unpack(prefix)
    if length > longest:
        raise FrameError("The header is too long.")
    return cast(int, length)


def parse_header(header: bytes) -> tuple[object, list[int]]:
    """Return the body, still with references to its parts, and the sizes of the parts in bytes.

    Raises `FrameError`.
    """
    try:
        read = json.loads(header)
        body, sizes = read["body"], read["parts"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FrameError("The header cannot be read.") from error
    if (
        not isinstance(sizes, list)
        or not all(type(size) is int and size >= 0 for size in sizes)
        or sum(sizes) > MOST_BYTES
    ):
        raise FrameError("The parts are too large.")
    return body, sizes


def read_job(source: BinaryIO) -> tuple[object, list[bytes]] | None:
    """Read the next job from a blocking pipe; None at its end."""
    prefix = source.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    body, sizes = parse_header(_read_exactly(source, parse_header_length(prefix, LONGEST_JOB)))
    return body, [_read_exactly(source, size) for size in sizes]


def rebuild_value(kind: type[T], plain: object, parts: Sequence[bytes]) -> T:
    """Return the value as an instance of `kind`. Raises `FrameError` if the frame holds something else."""
    return cast(T, rebuild_annotated(kind, plain, parts))


def rebuild_annotated(kind: object, plain: object, parts: Sequence[bytes]) -> object:
    """Do the same for anything that may stand in an annotation: also a union, or a literal."""
    if kind is float:
        return float(_expect_number(plain))
    if kind in SCALARS:
        return _expect_kind(cast(type, kind), plain)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _rebuild_either(get_args(kind), plain, parts)
    if origin in (tuple, list, Sequence, Iterable):
        items = [rebuild_annotated(get_args(kind)[0], item, parts) for item in _expect_kind(list, plain)]
        return items if origin is list else tuple(items)
    if origin in (dict, Mapping):
        return {
            name: rebuild_annotated(get_args(kind)[1], item, parts)
            for name, item in _expect_kind(dict, plain).items()
        }
    if origin is Literal:
        return _expect_one_of(get_args(kind), plain)
    if kind is bytes:
        return _get_part(plain, parts)
    if is_dataclass(kind):
        return _rebuild_object(cast(type, kind), _expect_kind(dict, plain), parts)
    return _restore_parts(plain, parts)


def _flatten_value(value: object, parts: list[bytes]) -> object:
    if isinstance(value, PLAIN):  # most values; whether one is a mapping takes ten times as long to find out
        return value
    if isinstance(value, bytes):
        parts.append(value)
        return {PART: len(parts) - 1}
    if is_dataclass(value):
        return {field.name: _flatten_value(getattr(value, field.name), parts) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _flatten_value(item, parts) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_flatten_value(item, parts) for item in value]
    return value


def _read_exactly(source: BinaryIO, size: int) -> bytes:
    found = source.read(size)
    if len(found) != size:
        raise FrameError("The frame is cut off.")
    return found


def _expect_kind(kind: type[T], plain: object) -> T:
    if not isinstance(plain, kind) or (isinstance(plain, bool) and kind is not bool):
        raise FrameError(f"Expected {kind}, found {type(plain).__name__}.")
    return plain


def _expect_number(plain: object) -> float:
    return plain if isinstance(plain, float) else _expect_kind(int, plain)


def _expect_one_of(values: tuple[object, ...], plain: object) -> object:
    if plain not in values:
        raise FrameError("The frame holds none of the values that are allowed.")
    return plain


def _get_part(plain: object, parts: Sequence[bytes]) -> bytes:
    index = _expect_kind(int, _expect_kind(dict, plain).get(PART))
    if not 0 <= index < len(parts):
        raise FrameError("The frame refers to a part it does not have.")
    return parts[index]


def _rebuild_object(kind: type, plain: Mapping[str, object], parts: Sequence[bytes]) -> object:
    hints = _read_hints(kind)
    if plain.keys() != hints.keys():
        raise FrameError(f"The frame holds no {kind.__name__}.")
    return kind(**{name: rebuild_annotated(hints[name], item, parts) for name, item in plain.items()})


def _rebuild_either(kinds: tuple[object, ...], plain: object, parts: Sequence[bytes]) -> object:
    """Return the value as the first member of a union that fits. Raises `FrameError` if none fits."""
    for kind in kinds:
        try:
            return rebuild_annotated(kind, plain, parts)
        except FrameError:
            continue
    raise FrameError("The frame holds no member of a union.")


def _restore_parts(plain: object, parts: Sequence[bytes]) -> object:
    """Return a value of unknown type: JSON with its binary parts put back."""
    if isinstance(plain, dict):
        if plain.keys() == {PART}:
            return _get_part(plain, parts)
        return {name: _restore_parts(item, parts) for name, item in plain.items()}
    return [_restore_parts(item, parts) for item in plain] if isinstance(plain, list) else plain


@cache
def _read_hints(kind: type) -> dict[str, object]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
