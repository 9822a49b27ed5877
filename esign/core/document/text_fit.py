"""The sizes in which values are drawn. The seal draws with them, and the signing page previews with the same
ones.

Lengths are points. Shares are relative to the font size (`up`, `down`, `gap…`, `before…`, `after…`) or to the box.
"""

from collections.abc import Mapping

from esign.core.document.document import Field, FieldType, PageGeometry

NUMBERS: Mapping[str, float] = {
    # text: from the largest down to the smallest size; of a line's box, of several lines
    **{"largest": 12, "several": 10, "smallest": 6, "share": 0.66},
    **{"edge": 2, "edge_share": 0.04, "up": 0.86, "down": 0.24, "gap": 0.12, "gap_high": 0.3},
    # check boxes and choices
    **{"stroke": 0.6, "corner": 0.08, "tick": 0.12},
    **{"mark": 10, "mark_share": 0.8, "mark_gap": 3, "mark_spare": 4, "ring": 0.92, "dot": 0.5},
    # typed signatures: in a hand, or in the plain face; a long name on lines of so many letters, so far apart
    **{"hand": 44, "plain": 20, "standing": 0.04},
    # how far strokes reach before the first letter (p, j) and after the last (T, W), by face
    **{
        "before_a": 0.3,
        "after_a": 0.56,
        "before_b": 0.36,
        "after_b": 0.27,
        "before_c": 0.12,
        "after_c": 0.33,
    },
    **{"before_plain": 0.06, "after_plain": 0.06},
    **{"letters": 32, "lines": 4, "pitch": 1},
}


def find_factors(width: float, height: float) -> tuple[float, float]:
    """Return the factors by which sizes shrink on pages smaller than A5 and grow on pages larger than A3."""
    longest = max(width, height)
    return min(1, longest / 560, height / 220), max(1, longest / 1200)


def find_line_height(field: Field, page: PageGeometry) -> float:
    """Return the height in points of one line of the field; of one option where several stand below each other."""
    height = field.height / 100 * page.height
    if field.type is FieldType.RADIO and field.options.get("layout", "vertical") == "vertical":
        return height / len(field.options["options"])
    return height


def find_font_size(field: Field, page: PageGeometry) -> float:
    """Return the font size in points at which fitting the value starts; it shrinks from there."""
    small, large = find_factors(page.width, page.height)
    least = NUMBERS["smallest"] * small
    if field.type is FieldType.RADIO or not field.font_size:
        lines = bool(field.options.get("multiline"))
        usual = NUMBERS["several" if lines else "largest"] * large
        return max(least, usual if lines else min(usual, find_line_height(field, page) * NUMBERS["share"]))
    return max(least, field.font_size)


def find_mark_size(field: Field, page: PageGeometry) -> float:
    """Return the side in points of a check box, or of the circle before an option."""
    if field.type is FieldType.RADIO:
        _, large = find_factors(page.width, page.height)
        return min(NUMBERS["mark"] * large, find_line_height(field, page) * NUMBERS["mark_share"])
    return min(field.width / 100 * page.width, field.height / 100 * page.height)
