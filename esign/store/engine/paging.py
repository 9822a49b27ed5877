"""Pages of lists: where a page begins, and whether another one follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from esign.core.instant import Instant
from esign.store.engine.unreadable_rows import has_more


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page of a list begins: after the row of this id, at this time in the list's order."""

    at: Instant
    id: str


class ListedRow(Protocol):
    """A row of a list that is ordered by its creation."""

    @property
    def created_at(self) -> Instant: ...

    @property
    def id(self) -> str: ...


Entry = TypeVar("Entry", bound=ListedRow)


def cut_page(found: Sequence[Entry], limit: int) -> tuple[list[Entry], PageStart | None]:
    """Return the page of a list that was fetched with one row more, and where the next page begins, or None."""
    page = list(found[:limit])
    return page, PageStart(page[-1].created_at, page[-1].id) if page and has_more(found, limit) else None
