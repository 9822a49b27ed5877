"""Find the characters that no font can draw, before a document is sent, so that no empty box is printed.

The serving process calls `find_missing`, which reads one small table. The workers call `find_missing_with_system`,
which knows the CJK fonts too; so does the command line before it names an organisation.
"""

import json
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

FONTS = Path(__file__).parents[1] / "fonts"

Ranges = tuple[tuple[int, int], ...]

# Unicode's Default_Ignorable_Code_Point, controls and line ends leave no mark whatever the font: kit.typ drops them or
# makes a space of them.
FREE: Ranges = (
    (0x0000, 0x001F),
    (0x007F, 0x009F),
    (0x00AD, 0x00AD),
    (0x061C, 0x061C),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE0FFF),
)


SCRIPTS = {"CJK": "Chinese", "HANGUL": "Korean", "HIRAGANA": "Japanese", "KATAKANA": "Japanese"}


@cache
def _load_shipped_ranges() -> Ranges:
    table = json.loads((FONTS / "coverage.json").read_text())
    return tuple((first, last) for first, last in table["base"])


def _is_in_ranges(ranges: Ranges, character: str) -> bool:
    at = bisect_right(ranges, (ord(character), 0x110000)) - 1
    return at >= 0 and ranges[at][0] <= ord(character) <= ranges[at][1]


def _collect_characters(texts: Iterable[str]) -> set[str]:
    """Return the characters that leave a mark, in NFC as they are drawn."""
    return {c for text in texts for c in unicodedata.normalize("NFC", text) if not _is_in_ranges(FREE, c)}


def find_missing(texts: Iterable[str]) -> list[str]:
    """Return the characters that no shipped font can draw, each once and sorted."""
    return sorted(c for c in _collect_characters(texts) if not _is_in_ranges(_load_shipped_ranges(), c))


def find_script(character: str) -> str:
    """Return the script of a character by its Unicode name, such as `Tamil` or `Chinese`, or `symbol` for other
    characters.
    """
    if unicodedata.category(character)[0] not in "LM":
        return "symbol"
    name = unicodedata.name(character, "unknown").split()[0].split("-")[0]
    return SCRIPTS.get(name, name.capitalize())


def spell_characters(text: str, left: Iterable[str]) -> str:
    """Return the text in NFC with the characters in `left` replaced by their Unicode numbers."""
    numbers = {ord(c): f"[U+{ord(c):04X}]" for c in left}
    return unicodedata.normalize("NFC", text).translate(numbers) if numbers else text


def find_missing_with_system(texts: Iterable[str], font_paths: Sequence[str] = ()) -> list[str]:
    """Return the characters that neither a shipped font nor a CJK font can draw.

    CJK fonts come from the given folders, or from the system if these hold none.
    """
    left = find_missing(texts)
    if not left:
        return []
    from esign.pdf.drawing import cjk_fonts

    drawn = cjk_fonts.read_characters(tuple(font_paths))
    return [c for c in left if ord(c) not in drawn]
