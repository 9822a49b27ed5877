"""Lists that are answered page by page: the query parameters, what was found, and the answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from esign.web.values.schema import Limit, QueryParameters, Reply

T = TypeVar("T")
R = TypeVar("R")


class Paging(QueryParameters):
    limit: Limit = 25
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class FoundPage(Generic[T]):
    """One page of a list, with the cursor of the next page, or None at the end."""

    items: Sequence[T]
    cursor: str | None


class ListReply(Reply, Generic[R]):
    data: list[R]
    has_more: bool
    next_cursor: str | None

    @classmethod
    def from_page(cls, found: FoundPage[T], present: Callable[[T], R]) -> Self:
        """Return the answer with each item as `present` shows it. A test validates the items, not each answer."""
        return cls.model_construct(
            data=[present(item) for item in found.items],
            has_more=found.cursor is not None,
            next_cursor=found.cursor,
        )
