"""Case folding for comparisons: texts that differ only in width or case become equal."""

import unicodedata


def fold(text: str) -> str:
    """Return `text` in NFKC and folded case, for comparison only.

    The dotted capital I (U+0130) becomes a plain `i`: users do not type the combining dot.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFKC", folded)
