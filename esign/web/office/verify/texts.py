"""Text of others, fit to be shown; times and sizes as this page writes them."""

from esign.core.instant import Instant
from esign.web.office.frame.flash_messages import Times

LONGEST = 240
MIB = 2**20
JOINERS = "\u200c\u200d"  # which some scripts and many emoji cannot do without


def printable(text: str) -> str:
    """On one line, without control characters or marks that turn the direction of writing, and not without end."""
    plain = " ".join(
        "".join(c if c.isprintable() or c in JOINERS else " " for c in text[: 4 * LONGEST]).split()
    )
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"


def moment(at: Instant) -> str:
    """`22 Nov 2026, 05:35 UTC`."""
    return f"{Times('UTC', at).moment(at)} UTC"


def size(length: int) -> str:
    if length < MIB:
        return f"{max(1, round(length / 1024))} kB"
    return f"{length / MIB:.1f} MB"
