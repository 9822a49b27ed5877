"""Text as it is compared: letters of any width and case alike."""

import unicodedata


def fold(text: str) -> str:
    """NFKC around case folding; a dotted capital I becomes the plain letter, as nobody types the dot alone."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFKC", folded)
