"""What a password must be (docs/dev/security.md 4): long, not one that everybody tries, in one form of its letters."""

import unicodedata

LEAST = 12
LEAST_WITH_TOTP = 8
MOST_BYTES = 1024
JUDGED = 72  # characters that are weighed: what follows can only make it better


def normal(text: str) -> str:
    """The same password from every keyboard: NFKC (NIST SP 800-63B 5.1.1.2)."""
    return unicodedata.normalize("NFKC", text)


def complaint(text: str, *, with_totp: bool) -> str | None:
    """What is wrong with the form of a normal password; None where nothing is."""
    least = LEAST_WITH_TOTP if with_totp else LEAST
    if len(text) < least:
        return f"A password has {least} characters or more. Several words in a row are easy to keep in mind."
    if len(text.encode()) > MOST_BYTES:
        return f"A password has {MOST_BYTES} bytes at most."
    return None
