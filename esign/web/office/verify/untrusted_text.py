"""Make text from untrusted files safe to show; format times and sizes for this page."""

from esign.core.instant import Instant
from esign.web.office.frame.formats import Times
from esign.web.office.frame.words import load_words

LONGEST = 240
MIB = 2**20
JOINERS = "\u200c\u200d"  # zero-width joiners, which some scripts and many emoji need


def make_printable(text: str) -> str:
    """Return the text on one line, at most 240 characters, without control characters or marks of writing direction."""
    plain = " ".join(
        "".join(c if c.isprintable() or c in JOINERS else " " for c in text[: 4 * LONGEST]).split()
    )
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"


def format_time(at: Instant) -> str:
    """Return `22 Nov 2026, 05:35 UTC`."""
    return f"{Times('UTC', at, load_words('en')).moment(at)} UTC"


def format_size(length: int) -> str:
    """Return a size in bytes as text, in kB or MB of 1024."""
    if length < MIB:
        return f"{max(1, round(length / 1024))} kB"
    return f"{length / MIB:.1f} MB"
