"""How long a recipient's own link works: until the document ends, and for reading a while longer (contract 7)."""

from esign.core.document import Document
from esign.core.instant import DAY, Instant


def ends_at(document: Document, days: int) -> Instant | None:
    """When the links of a document stop, so many days after it ended; None while it has not."""
    ended = document.completed_at or document.closed_at
    return None if ended is None else ended + days * DAY


def has_ended(document: Document, days: int, now: Instant) -> bool:
    last = ends_at(document, days)
    return last is not None and now >= last
