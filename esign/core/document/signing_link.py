"""How long a recipient's own link works, until the document ends and for reading a while longer (contract 7), and how
it reached them (contract, amended 5)."""

from enum import StrEnum

from esign.core.actor import Mode
from esign.core.document.document import Document
from esign.core.instant import DAY, Instant


class Route(StrEnum):
    """How a link or a code reached whoever used it, as far as this server knows."""

    EMAIL = "email"  # a mail server took the mail that it stood in, and it stood nowhere else
    SENDER = "sender"  # it was given to the sender, or lay where those look who run this server
    TEST = "test"  # whoever tests could read it, or it was simulated


class Reached(StrEnum):
    """What became of the mail that a link or a code stood in."""

    EMAIL = "email"
    KEPT = "kept"


def route(mode: Mode, reached: str | None, *, to_sender: bool = False) -> Route | None:
    """Return how it came; None where it was not recorded, which is not guessed."""
    if to_sender:
        return Route.SENDER
    if mode is Mode.TEST:
        return Route.TEST
    return {Reached.EMAIL.value: Route.EMAIL, Reached.KEPT.value: Route.SENDER}.get(reached or "")


def ends_at(document: Document, days: int) -> Instant | None:
    """When the links of a document stop, so many days after it ended; None while it has not."""
    ended = document.completed_at or document.closed_at
    return None if ended is None else ended + days * DAY


def has_ended(document: Document, days: int, now: Instant) -> bool:
    last = ends_at(document, days)
    return last is not None and now >= last
