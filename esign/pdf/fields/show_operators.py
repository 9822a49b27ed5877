"""Reads the glyphs that the text operators of a content stream show (ISO 32000-2, 9.4), with codes and widths."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fontTools import agl
from pikepdf import Array, ContentStreamInstruction, Dictionary, Name, Object, Stream, String

SHOWS = {"Tj": 0, "'": 0, '"': 2, "TJ": 0}  # the operand that holds the text
UNKNOWN = "\ufffd"
BFCHAR = re.compile(rb"beginbfchar(.*?)endbfchar", re.DOTALL)
BFRANGE = re.compile(rb"beginbfrange(.*?)endbfrange", re.DOTALL)
PAIR = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]*)>")
RANGE = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(?:<([0-9A-Fa-f]*)>|\[([^\]]*)\])")
LARGEST_RANGE = 65_536
CMAP_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ShownGlyph:
    """One glyph: the instruction, the part of its text and the code within it, what it means, and how far it moves.

    `advance` is in thousandths of the font size, with character and word spacing; None if the font does not say it.
    """

    instruction: int
    part: int
    code: bytes
    text: str
    advance: float | None


@dataclass(frozen=True, slots=True)
class TextState:
    """The parameters of the text state that decide how far a glyph moves."""

    font: "GlyphTable | None" = None
    size: float = 1.0
    char_space: float = 0.0
    word_space: float = 0.0


class GlyphTable:
    """What the codes of a font mean and how wide their glyphs are. Fonts that are written downwards have none."""

    def __init__(self, font: Object) -> None:
        self.length = 2 if font.get("/Subtype") == Name.Type0 else 1
        self.names = read_to_unicode(font.get("/ToUnicode"))
        self.widths: dict[int, float] = {}
        self.default: float | None = None
        if self.length == 2:
            self._read_composite(font)
        else:
            self._read_simple(font)

    def _read_composite(self, font: Object) -> None:
        descendants = font.get("/DescendantFonts")
        below = descendants[0] if isinstance(descendants, Array) and len(descendants) else Dictionary()
        self.default = read_number(below.get("/DW"), 1000)
        given = list(below.get("/W") or ())
        while len(given) > 1:
            first = int(given.pop(0))
            if isinstance(given[0], Array):
                self.widths.update({first + n: float(width) for n, width in enumerate(given.pop(0))})
            elif len(given) > 1:
                last, width = int(given.pop(0)), float(given.pop(0))
                self.widths.update(dict.fromkeys(range(first, min(last, 0xFFFF) + 1), width))
            else:
                break

    def _read_simple(self, font: Object) -> None:
        encoding = font.get("/Encoding")
        plain = {code: chr(code) for code in range(0x20, 0x7F)}
        if isinstance(encoding, Dictionary):
            plain |= read_differences(encoding.get("/Differences"))
        self.names = plain | self.names
        first = int(read_number(font.get("/FirstChar"), 0) or 0)
        for n, width in enumerate(font.get("/Widths") or ()):
            self.widths[first + n] = float(width)

    def split(self, text: bytes) -> Iterator[tuple[bytes, str, float | None]]:
        """Yield the codes of a string, each with its meaning and its width."""
        for at in range(0, len(text), self.length):
            code = text[at : at + self.length]
            number = int.from_bytes(code)
            yield code, self.names.get(number, UNKNOWN), self.widths.get(number, self.default)


def read_differences(given: object) -> dict[int, str]:
    """Return what the codes of an encoding mean where it differs from its base."""
    found: dict[int, str] = {}
    code = 0
    for one in given if isinstance(given, Array) else ():
        if isinstance(one, Name):
            found[code] = agl.toUnicode(str(one)[1:]) or UNKNOWN
            code += 1
        elif isinstance(one, int | Decimal):
            code = int(one)
    return found


def read_to_unicode(stream: object) -> dict[int, str]:
    """Return what codes mean by a ToUnicode CMap."""
    if not isinstance(stream, Stream):
        return {}
    content = stream.read_bytes()[:CMAP_BYTES]
    found: dict[int, str] = {}
    for section in BFCHAR.findall(content):
        found |= {int(code, 16): decode_utf16(text) for code, text in PAIR.findall(section)}
    for section in BFRANGE.findall(content):
        for first, last, start, several in RANGE.findall(section):
            low, high = int(first, 16), min(int(last, 16), int(first, 16) + LARGEST_RANGE)
            if several:
                texts = [decode_utf16(one) for one in re.findall(rb"<([0-9A-Fa-f]*)>", several)]
                found |= dict(zip(range(low, high + 1), texts, strict=False))
            else:
                base = decode_utf16(start)
                found |= {
                    low + n: base[:-1] + chr(min(ord(base[-1]) + n, 0x10FFFF))
                    for n in range(high - low + 1)
                    if base
                }
    return found


def decode_utf16(digits: bytes) -> str:
    """Return the text that hexadecimal digits of UTF-16 stand for."""
    return bytes.fromhex(digits.decode() + "0" * (len(digits) % 2)).decode("utf-16-be", "replace")


def read_number(found: object, otherwise: float | None) -> float | None:
    return float(found) if isinstance(found, int | float | Decimal) else otherwise


def read_glyphs(instructions: list[Any], fonts: object) -> list[ShownGlyph]:
    """Return the glyphs that the instructions of a page show, in their order, without those of unknown fonts."""
    tables: dict[str, GlyphTable | None] = {}
    state, outer, glyphs = TextState(), list[TextState](), list[ShownGlyph]()
    for n, one in enumerate(instructions):
        if not isinstance(one, ContentStreamInstruction):
            continue
        operator, operands = str(one.operator), list(one.operands)
        if operator == "q":
            outer.append(state)
        elif operator == "Q":
            state = outer.pop() if outer else state
        elif operator == "Tf" and len(operands) == 2:
            name = str(operands[0])
            if name not in tables:
                tables[name] = make_table(fonts, name)
            state = replace(state, font=tables[name], size=float(operands[1]))
        elif operator == "Tc" and operands:
            state = replace(state, char_space=float(operands[0]))
        elif operator == "Tw" and operands:
            state = replace(state, word_space=float(operands[0]))
        elif operator == '"' and len(operands) == 3:
            state = replace(state, word_space=float(operands[0]), char_space=float(operands[1]))
        if operator in SHOWS and len(operands) > SHOWS[operator]:
            glyphs += read_shown(n, list_parts(operands[SHOWS[operator]]), state)
    return glyphs


def make_table(fonts: object, name: str) -> GlyphTable | None:
    """Return the table of a font of the page, or None for one whose codes have other lengths or run downwards."""
    font = fonts.get(name) if isinstance(fonts, Dictionary) else None
    if not isinstance(font, Dictionary) or font.get("/Subtype") == Name.Type3:
        return None
    if font.get("/Subtype") == Name.Type0 and font.get("/Encoding") != Name("/Identity-H"):
        return None
    return GlyphTable(font)


def list_parts(operand: Any) -> list[Any]:
    """Return the strings and numbers of a text operand."""
    return list(operand) if isinstance(operand, Array) else [operand]


def read_shown(n: int, parts: list[Any], state: TextState) -> Iterator[ShownGlyph]:
    """Yield the glyphs of one text operand."""
    if state.font is None or not state.size:
        return
    for place, part in enumerate(parts):
        if not isinstance(part, String):
            continue
        for code, text, width in state.font.split(bytes(part)):
            space = state.char_space + (state.word_space if code == b" " else 0.0)
            advance = None if width is None else width + space * 1000 / state.size
            yield ShownGlyph(n, place, code, text, advance)
