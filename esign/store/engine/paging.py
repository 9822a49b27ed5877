"""Pages of lists: where one begins, and whether another follows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from esign.core.instant import Instant
from esign.store.engine.damage import has_more


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of a list begins: behind the row of this id, which the list's order has at this time."""

    at: Instant
    id: str


class Listed(Protocol):
    """A row of a list that is ordered by when it was created."""

    @property
    def created_at(self) -> Instant: ...

    @property
    def id(self) -> str: ...


Entry = TypeVar("Entry", bound=Listed)


def page_of(found: Sequence[Entry], limit: int) -> tuple[list[Entry], Place | None]:
    """The page of a list that was asked for one more, and where the next page begins."""
    page = list(found[:limit])
    return page, Place(page[-1].created_at, page[-1].id) if page and has_more(found, limit) else None
