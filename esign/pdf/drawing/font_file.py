"""Read from a TrueType or OpenType file, or a collection of them, which family it is of and what it can draw.

Only the tables `name` and `cmap` are read (OpenType 1.9). A whole library for fonts takes 30 MB of an installation.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import error as StructError
from struct import unpack_from

COLLECTION = b"ttcf"
FAMILY_IDS = (21, 16, 1)  # WWS family, typographic family, family; the first that is there
ENGLISH = ((1, 0), (3, 0x409))  # platform and language
ENCODINGS = {0: "utf-16-be", 1: "mac_roman", 3: "utf-16-be"}  # by platform
UNICODE = (
    (3, 10),
    (3, 1),
    (0, 6),
    (0, 4),
    (0, 3),
    (0, 2),
    (0, 1),
    (0, 0),
)  # platform and encoding, the best first
LAST_CHARACTER = 0x10FFFF


class BadFont(ValueError):
    """Raised if a file is no font, or does not hold what its tables promise."""


@dataclass(frozen=True, slots=True)
class FontFace:
    """One font of a file. `family` is its English name if it has one; `characters` are the code points with a glyph."""

    family: str | None
    characters: frozenset[int]


def read_faces(path: Path) -> list[FontFace]:
    """Return the fonts of a file. Raises OSError and BadFont."""
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return [_read_face(data, start) for start in _list_starts(data)]
    except (StructError, ValueError) as error:  # an empty file cannot be mapped
        raise BadFont(f"{path} is no font, or damaged") from error


def _list_starts(data: mmap) -> tuple[int, ...]:
    """Return the offset of each font in the file."""
    if data[:4] != COLLECTION:
        return (0,)
    (count,) = unpack_from(">I", data, 8)
    return unpack_from(f">{count}I", data, 12)


def _read_face(data: mmap, start: int) -> FontFace:
    (count,) = unpack_from(">H", data, start + 4)
    records = (unpack_from(">4s4xI4x", data, start + 12 + 16 * number) for number in range(count))
    tables = dict(records)
    if b"name" not in tables or b"cmap" not in tables:
        raise BadFont("a table is missing")
    return FontFace(_read_family(data, tables[b"name"]), _read_characters(data, tables[b"cmap"]))


def _read_family(data: mmap, table: int) -> str | None:
    """Return the family by the best id that has a name: the English one, or else the last."""
    names = list(_read_names(data, table))
    for wanted in FAMILY_IDS:
        found = [(key, text) for id, key, text in names if id == wanted and text]
        english = [text for key, text in found if key in ENGLISH]
        if found:
            return english[0] if english else found[-1][1]
    return None


def _read_names(data: mmap, table: int) -> Iterator[tuple[int, tuple[int, int], str]]:
    """Yield id, (platform, language) and text of each name that can be decoded."""
    count, texts = unpack_from(">HH", data, table + 2)
    for number in range(count):
        platform, _, language, id, length, at = unpack_from(">6H", data, table + 6 + 12 * number)
        begin = table + texts + at
        if encoding := ENCODINGS.get(platform):
            yield id, (platform, language), data[begin : begin + length].decode(encoding, "ignore")


def _read_characters(data: mmap, table: int) -> frozenset[int]:
    """Return the code points of the best Unicode map; empty if there is none."""
    (count,) = unpack_from(">H", data, table + 2)
    records = (unpack_from(">HHI", data, table + 4 + 8 * number) for number in range(count))
    maps = {(platform, encoding): table + at for platform, encoding, at in records}
    for key in UNICODE:
        if key in maps:
            (format,) = unpack_from(">H", data, maps[key])
            if format in READERS:
                return frozenset(READERS[format](data, maps[key]))
    return frozenset()


def _read_segments(data: mmap, at: int) -> Iterator[int]:
    """Yield the code points of a map of format 4: segments with a shift, or with an array of glyphs."""
    count = unpack_from(">H", data, at + 6)[0] // 2
    words = f">{count}H"
    ends = unpack_from(words, data, at + 14)
    starts, shifts, offsets = (unpack_from(words, data, at + 16 + 2 * part * count) for part in (1, 2, 3))
    place = at + 16 + 6 * count
    for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
        for code in range(first, last + 1):
            glyph = code
            if offset := offsets[number]:
                (glyph,) = unpack_from(">H", data, place + 2 * number + offset + 2 * (code - first))
                if not glyph:
                    continue
            if (glyph + shifts[number]) & 0xFFFF:
                yield code


def _read_groups(data: mmap, at: int) -> Iterator[int]:
    """Yield the code points of a map of format 12: groups of characters with glyphs in a row."""
    (count,) = unpack_from(">I", data, at + 12)
    for number in range(count):
        first, last, glyph = unpack_from(">III", data, at + 16 + 12 * number)
        yield from range(first if glyph else first + 1, min(last, LAST_CHARACTER) + 1)


READERS = {4: _read_segments, 12: _read_groups}
