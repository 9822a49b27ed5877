"""The rules for passwords: minimum length and one normal form.

`system.passwords` judges whether a password is easily guessed.
"""

import unicodedata

from esign.core.sentence import say

LEAST = 12
LEAST_WITH_TOTP = 8
MOST_BYTES = 1024
JUDGED = 72  # characters whose strength is judged: what follows can only make the password stronger

TOO_SHORT = "Use at least {least} characters, such as four unrelated words."


def normalise_password(text: str) -> str:
    """Return the password in NFKC, so that every keyboard gives the same one (NIST SP 800-63B 5.1.1.2)."""
    return unicodedata.normalize("NFKC", text)


def find_complaint(text: str, *, with_totp: bool) -> str | None:
    """Return what is wrong with the length of a normalised password, or None."""
    least = LEAST_WITH_TOTP if with_totp else LEAST
    if len(text) < least:
        return say(TOO_SHORT, least=least)
    if len(text.encode()) > MOST_BYTES:
        return say("This password is too long: use at most {most} bytes.", most=MOST_BYTES)
    return None
