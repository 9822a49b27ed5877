"""What a list of documents is asked for: filters, each narrowing it further, and the order (contract 3.2)."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.document.attention import trouble
from esign.core.document.document import Document, Status
from esign.core.instant import Instant


class Sort(StrEnum):
    """The orders of a list; the default comes first."""

    NEWEST = "-createdAt"
    OLDEST = "createdAt"
    LAST_CHANGED = "-updatedAt"
    FIRST_CHANGED = "updatedAt"

    @property
    def key(self) -> str:
        """The member of a document that orders."""
        return "created_at" if self in (Sort.NEWEST, Sort.OLDEST) else "updated_at"

    @property
    def descending(self) -> bool:
        return self.startswith("-")

    @property
    def turned(self) -> "Sort":
        """The same order from its other end."""
        return Sort(self[1:] if self.descending else f"-{self}")


@dataclass(frozen=True, slots=True)
class Span:
    """From `after` on, up to but without `before`; None is open."""

    after: Instant | None = None
    before: Instant | None = None


ALWAYS = Span()


@dataclass(frozen=True, slots=True)
class Listing:
    """One question: what is not given does not narrow. `q` and `recipient_email` are compared folded.

    `attention`: only what needs somebody's (core/attention).
    """

    statuses: frozenset[Status] = frozenset()
    q: str | None = None
    recipient_email: str | None = None
    external_id: str | None = None
    template_id: str | None = None
    created: Span = ALWAYS
    updated: Span = ALWAYS
    completed: Span = ALWAYS
    sort: Sort = Sort.NEWEST
    attention: bool = False

    def still_has(self, document: Document) -> bool:
        """Whether a document that was found fits after it changed its status."""
        there = not self.statuses or document.status in self.statuses
        return there and (not self.attention or trouble(document) is not None)


EVERYTHING = Listing()
