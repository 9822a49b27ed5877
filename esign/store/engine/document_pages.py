"""Finds a page of documents along the one index that answers, or along that of the most selective filter.

Where one index has both the filters and the order (no filter, statuses, attention, or a sender or words in the
order of creation), the page is read along it and nothing is counted. Any other combination is weighed:

1. Each filter is counted up to `few`. One that finds fewer is read whole and sorted.
2. Where each finds more, a page is usually near: `near` rows are read in the wanted order.
3. If these do not fill a page, filters are counted up to `many`, and the smallest is read whole.
4. Where none finds fewer than that, the list is walked until the page is full.

An engine whose planner knows such statistics has only one way. It answers `find_page` with a single statement.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from esign.core.actor import Owner
from esign.core.document.document_filters import DocumentFilters
from esign.store.engine.database import Reader
from esign.store.engine.document_list_statements import ListQuery, PageRequest, make_query

T = TypeVar("T")


class ListEffort(NamedTuple):
    """Limits in rows. Reading and checking one takes about 4 µs, counting it 0.1 µs."""

    few: int
    near: int
    many: int


EFFORT = ListEffort(few=2_000, near=1_000, many=200_000)

IRREGULAR = """
    EXISTS (
        SELECT 1 FROM document INDEXED BY document_out_of_time
        WHERE updated_at < created_at OR completed_at < created_at OR updated_at < completed_at
    )
"""


@dataclass(frozen=True, slots=True)
class PageStatement:
    """A statement that returns `id` and `at`, the time that orders, of the documents of a page, and its values.

    `order` is the direction of both, in SQL.
    """

    sql: str
    order: str
    values: Mapping[str, object]


ReadPage = Callable[[PageStatement], Awaitable[list[T]]]


async def find_page(
    reader: Reader, request: PageRequest, read: ReadPage[T], effort: ListEffort = EFFORT
) -> list[T]:
    """Return the page of documents that is asked for, as `read` loads them."""
    query = make_query(request, regular=False)

    async def read_along(way: str) -> list[T]:
        """Return the documents that a statement finds."""
        return await read(PageStatement(way, query.order, query.parameters | {"limit": request.limit}))

    way = find_single_walk(query)
    if way is not None:
        return await read_along(way)
    counts = await count_filters(reader, query, effort.few)
    query = make_query(request, regular=await is_regular(reader))
    if min(counts.values()) == effort.few:
        page = await read_along(walk_in_order(query, effort.near))
        if len(page) == request.limit:
            return page
        counts = await count_filters(reader, query, effort.many)
        if min(counts.values()) == effort.many:
            return await read_along(walk_in_order(query))
    return await read_along(read_by_filter(query, min(counts, key=lambda name: counts[name])))


def is_short_walk(request: PageRequest) -> bool:
    """Return whether the page is read along one index of documents, and nothing beside its own rows is."""
    query = make_query(request, regular=False)
    return not query.words and find_single_walk(query) is not None


def find_single_walk(query: ListQuery) -> str | None:
    """Return the statement along the one index that answers, or None if filters have to be weighed."""
    if query.spans:
        return None
    narrowed = bool(query.asked.statuses) or query.asked.attention
    if query.asked.sender_id is not None:
        alone = not query.words and not narrowed and query.key == "created_at"
        return query.walk_by_sender() if alone else None
    if not query.words:
        if query.asked.attention:
            return query.walk_by_attention()
        return query.walk_by_status() if query.asked.statuses else query.walk_by_time()
    if query.key == "created_at" and not narrowed:
        return query.walk_by_words()
    return None


def walk_in_order(query: ListQuery, near: int | None = None) -> str:
    """Return the statement in the wanted order, over at most `near` rows if that is given."""
    ordered = query.words and query.key == "created_at"
    return query.walk_by_words(near) if ordered else query.walk_by_time(near)


def read_by_filter(query: ListQuery, name: str) -> str:
    """Return the statement that reads everything that one filter finds."""
    if name == "words":
        return query.walk_by_words()
    if name == "attention":
        return query.walk_by_attention()
    if name == "sender":
        return query.walk_by_sender()
    return query.walk_by_status() if name == "status" else query.read_by_span(name)


@dataclass(frozen=True, slots=True)
class BoundedCount:
    """How many documents match. If it is not `exact`, there are at least so many."""

    number: int
    exact: bool


async def count_documents(
    reader: Reader, owner: Owner, asked: DocumentFilters, most: int, effort: ListEffort = EFFORT
) -> BoundedCount:
    """Return how many documents match, counted up to `most`.

    The work is bounded whatever the table holds: rows are read along the index that finds a page, up to one more
    than `most`. Where no filter finds few, only the `near` rows of the wanted order are read, and what matches
    among them is the least that there is.
    """
    query = make_query(PageRequest(owner, asked, most), regular=False)
    way, whole = find_single_walk(query), True
    if way is None:
        counts = await count_filters(reader, query, effort.few)
        whole = min(counts.values()) < effort.few
        smallest = min(counts, key=lambda name: counts[name])
        way = read_by_filter(query, smallest) if whole else walk_in_order(query, effort.near)
    row = await reader.one(f"SELECT count(*) AS n FROM ({way})", **query.parameters, limit=most + 1)
    found = int(row["n"]) if row else 0
    return BoundedCount(min(found, most), whole and found <= most)


async def count_filters(reader: Reader, query: ListQuery, most: int) -> dict[str, int]:
    """Return how many documents each filter finds, at most `most`."""
    counted = {name: query.count_span(name) for name in query.spans}
    if query.asked.statuses:
        counted["status"] = query.count_status()
    if query.asked.attention:
        counted["attention"] = query.count_attention()
    if query.asked.sender_id is not None:
        counted["sender"] = query.count_sender()
    if query.words:
        counted["words"] = query.count_words()
    columns = [f"(SELECT count(*) FROM ({each})) AS {name}" for name, each in counted.items()]
    row = await reader.one(f"SELECT {', '.join(columns)}", **query.parameters, most=most)
    return dict(row) if row else dict.fromkeys(counted, most)


async def is_regular(reader: Reader) -> bool:
    """Return whether created ≤ completed ≤ updated for every document: the clock was never set back."""
    row = await reader.one(f"SELECT {IRREGULAR} AS found")
    return row is not None and not row["found"]
