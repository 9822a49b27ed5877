"""How long a recipient's own link works, and how it reached them.

A link works until the document ends, and for reading some days longer (contract 7).
"""

from enum import StrEnum

from esign.core.actor import Mode
from esign.core.document.document import Document
from esign.core.instant import DAY, Instant


class LinkRoute(StrEnum):
    """How a link or a code reached the person who used it, as far as this server knows."""

    EMAIL = "email"  # a mail server took the mail that it stood in, and it stood nowhere else
    SENDER = "sender"  # it was given to the sender, or kept where the server's operators can read it
    TEST = "test"  # the document is in test mode, where the sender can read it, or it was simulated


class Reached(StrEnum):
    """What became of the mail that contained a link or a code."""

    EMAIL = "email"
    KEPT = "kept"


def find_route(mode: Mode, reached: str | None, *, to_sender: bool = False) -> LinkRoute | None:
    """Return how a link or code arrived, or None where that was not recorded."""
    if to_sender:
        return LinkRoute.SENDER
    if mode is Mode.TEST:
        return LinkRoute.TEST
    return {Reached.EMAIL.value: LinkRoute.EMAIL, Reached.KEPT.value: LinkRoute.SENDER}.get(reached or "")


def find_end(document: Document, days: int) -> Instant | None:
    """Return when the links of a document stop working, `days` after it ended; None while it has not ended."""
    ended = document.completed_at or document.closed_at
    return None if ended is None else ended + days * DAY


def has_ended(document: Document, days: int, now: Instant) -> bool:
    """Return whether the links of the document have stopped working."""
    last = find_end(document, days)
    return last is not None and now >= last
