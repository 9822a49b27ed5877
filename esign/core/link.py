"""How long a recipient's own link works: until the document ends, and for reading a while longer (contract 7)."""

from esign.core.document import Document
from esign.core.instant import DAY, Instant, Millis

LIVES_AFTER_CLOSING: Millis = 30 * DAY


def ends_at(document: Document) -> Instant | None:
    """When the links of a document stop; None while it has not ended."""
    ended = document.completed_at or document.closed_at
    return None if ended is None else ended + LIVES_AFTER_CLOSING


def has_ended(document: Document, now: Instant) -> bool:
    last = ends_at(document)
    return last is not None and now >= last
