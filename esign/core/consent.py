"""What a recipient agrees to before signing: the exact words of each language, their version and their hash.

The words are evidence: change them only together with `VERSION`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

VERSION = "2026-11"
DEFAULT = "en"


@dataclass(frozen=True, slots=True)
class Wording:
    """`agreement` stands beside the box to tick, `disclosure` above it; `{…}` is filled in."""

    agreement: str
    disclosure: str


WORDINGS: Mapping[str, Wording] = {
    "en": Wording(
        "I agree to sign “{title}” electronically.",
        "Your name, your email address, the time and your network address are recorded with the signature. "
        "You can ask {organisation} for a paper copy.",
    ),
}


def text(locale: str, title: str) -> str:
    """The sentence that the recipient ticks, for a document of this title."""
    return wording(locale).agreement.replace("{title}", title)


def disclosure(locale: str, organisation: str) -> str:
    """What is recorded, and the right to paper."""
    return wording(locale).disclosure.replace("{organisation}", organisation)


def sha256(locale: str) -> str:
    """Hash of the words before anything is filled in, in hex: agreement, line feed, disclosure."""
    shown = wording(locale)
    return hashlib.sha256(f"{shown.agreement}\n{shown.disclosure}".encode()).hexdigest()


def wording(locale: str) -> Wording:
    """The words of the locale or of its language, else the English ones."""
    return WORDINGS.get(locale) or WORDINGS.get(locale.split("-")[0].lower()) or WORDINGS[DEFAULT]
