"""Draw a typed signature before the document is sealed, with the template that draws it on the sealed page."""

import re
from collections.abc import Sequence

import typst

from esign.core.document import text_fit
from esign.core.sentence import say
from esign.pdf.drawing import missing_glyphs, typst_template
from esign.pdf.inspection import TypedLetters
from esign.pdf.seal_order import SealFailed

WIDTH = re.compile(rb'<svg[^>]* width="([0-9.]+)pt"')


def draw_letters(
    text: str, hand: str | None, lang: str | None, font_paths: Sequence[str] = ()
) -> TypedLetters:
    """Return the letters as SVG, or the characters that no font can draw.

    Raises `SealFailed` if Typst cannot draw them.
    """
    paths = tuple(font_paths)
    missing = missing_glyphs.find_missing_with_system([text], paths)
    if missing:
        return TypedLetters(b"", 0, tuple(missing))
    facts = {
        "text": text,
        "hand": hand,
        "cjk": typst_template.find_families(paths),
        "numbers": text_fit.NUMBERS,
        **({"lang": lang} if lang else {}),
    }
    try:
        svg = typst_template.compile_template("letters", facts, paths, format="svg")
    except typst.TypstError as error:
        raise SealFailed(say("The name cannot be drawn: {error}", error=error.message)) from error
    found = WIDTH.search(svg)
    return TypedLetters(svg, float(found[1]) if found else 0, ())
