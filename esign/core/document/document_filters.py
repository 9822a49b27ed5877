"""The filters and the order of a list of documents (contract 3.2)."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.document.attention import find_trouble
from esign.core.document.document import Status
from esign.core.document.summary import AnyDocument
from esign.core.instant import Instant


class Sort(StrEnum):
    """The orders of a list, the default first."""

    NEWEST = "-createdAt"
    OLDEST = "createdAt"
    LAST_CHANGED = "-updatedAt"
    FIRST_CHANGED = "updatedAt"

    @property
    def key(self) -> str:
        """Return the attribute of a document that this order sorts by."""
        return "created_at" if self in (Sort.NEWEST, Sort.OLDEST) else "updated_at"

    @property
    def descending(self) -> bool:
        """Return whether the latest comes first."""
        return self.startswith("-")

    @property
    def opposite(self) -> "Sort":
        """Return the opposite order."""
        return Sort(self[1:] if self.descending else f"-{self}")


@dataclass(frozen=True, slots=True)
class Span:
    """The times from `after` on, and before `before`. None leaves that end open."""

    after: Instant | None = None
    before: Instant | None = None


ALWAYS = Span()


@dataclass(frozen=True, slots=True)
class DocumentFilters:
    """The filters of one list; a filter that is not given does not narrow the list.

    `q` and `recipient_email` are compared folded. `attention` keeps only documents that need attention
    (core/attention); `sender_id` is the member or API key that made a document.
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
    sender_id: str | None = None

    def still_has(self, document: AnyDocument) -> bool:
        """Return whether a document of this list still belongs in it after its status changed.

        Only the filters on status and attention are checked again.
        """
        there = not self.statuses or document.status in self.statuses
        return there and (not self.attention or find_trouble(document) is not None)


EVERYTHING = DocumentFilters()
