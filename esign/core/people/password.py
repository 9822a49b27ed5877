"""The rules for passwords: minimum length and one normal form.

`system.passwords` judges whether a password is easily guessed.
"""

import unicodedata

LEAST = 12
LEAST_WITH_TOTP = 8
MOST_BYTES = 1024
JUDGED = 72  # characters whose strength is judged: what follows can only make the password stronger


def normalise_password(text: str) -> str:
    """Return the password in NFKC, so that every keyboard gives the same one (NIST SP 800-63B 5.1.1.2)."""
    return unicodedata.normalize("NFKC", text)


def find_complaint(text: str, *, with_totp: bool) -> str | None:
    """Return what is wrong with the length of a normalised password, or None."""
    least = LEAST_WITH_TOTP if with_totp else LEAST
    if len(text) < least:
        return f"A password has {least} characters or more. Several words in a row are easy to keep in mind."
    if len(text.encode()) > MOST_BYTES:
        return f"A password has {MOST_BYTES} bytes at most."
    return None
