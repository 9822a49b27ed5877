"""Make text from untrusted files safe to show, and format times for this page."""

from markupsafe import Markup

from esign.core.instant import Instant
from esign.web.office.frame.formats import Times
from esign.web.office.frame.words import OfficeWords

LONGEST = 240
JOINERS = "\u200c\u200d"  # zero-width joiners, which some scripts and many emoji need


def make_printable(text: str) -> str:
    """Return the text on one line, at most 240 characters, without control characters or marks of writing direction."""
    plain = " ".join(
        "".join(c if c.isprintable() or c in JOINERS else " " for c in text[: 4 * LONGEST]).split()
    )
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"


def format_time(at: Instant, t: OfficeWords) -> Markup:
    """Return `22 Nov 2026, 05:35 UTC`."""
    return t("verify.utc", moment=Times("UTC", at, t).moment(at))


def isolate(text: str) -> Markup:
    """Return untrusted text for the inside of a sentence, isolated from the sentence's writing direction."""
    return Markup("<bdi>{}</bdi>").format(text)
