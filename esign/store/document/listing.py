"""Finds a page of documents along the one index that answers, or along that of the most selective filter.

Where one index has both the filters and the order (no filter, statuses, attention, or words in the order of
creation), the page is read along it and nothing is counted. Any other combination is weighed:

1. Each filter is counted up to `few`. One that finds fewer is read whole and sorted.
2. Where each finds more, a page is usually near: `near` rows are read in the wanted order.
3. If these do not fill a page, filters are counted up to `many`, and the smallest is read whole.
4. Where none finds fewer than that, the list is walked until the page is full.
"""

from itertools import groupby
from typing import NamedTuple

from esign.core.actor import Mode
from esign.core.document.document import Document
from esign.core.document.document_filters import EVERYTHING, DocumentFilters
from esign.store.document.documents import JOIN, SELECT, load
from esign.store.engine.database import Reader
from esign.store.engine.document_walks import ListQuery, make_query
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import load_groups


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


async def find_page(
    reader: Reader,
    organisation_id: str,
    mode: Mode,
    limit: int,
    after: PageStart | None = None,
    asked: DocumentFilters = EVERYTHING,
    effort: ListEffort = EFFORT,
) -> list[Document]:
    """Return up to `limit` documents that match, in the wanted order, after the place `after`."""
    query = make_query(organisation_id, mode, asked, after, regular=False)
    way = find_single_walk(query)
    if way is not None:
        return await read_documents(reader, query, way, limit)
    counts = await count_filters(reader, query, effort.few)
    query = make_query(organisation_id, mode, asked, after, regular=await is_regular(reader))
    if min(counts.values()) == effort.few:
        page = await read_documents(reader, query, walk_in_order(query, effort.near), limit)
        if len(page) == limit:
            return page
        counts = await count_filters(reader, query, effort.many)
        if min(counts.values()) == effort.many:
            return await read_documents(reader, query, walk_in_order(query), limit)
    return await read_documents(
        reader, query, read_by_filter(query, min(counts, key=lambda name: counts[name])), limit
    )


def find_place(document: Document, asked: DocumentFilters) -> PageStart:
    """Return the place where the page after this document begins."""
    return PageStart(getattr(document, asked.sort.key), document.id)


def find_single_walk(query: ListQuery) -> str | None:
    """Return the statement along the one index that answers, or None if filters have to be weighed."""
    if query.spans:
        return None
    if not query.words:
        if query.asked.attention:
            return query.walk_by_attention()
        return query.walk_by_status() if query.asked.statuses else query.walk_by_time()
    if query.key == "created_at" and not query.asked.statuses and not query.asked.attention:
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
    return query.walk_by_status() if name == "status" else query.read_by_span(name)


async def count_filters(reader: Reader, query: ListQuery, most: int) -> dict[str, int]:
    """Return how many documents each filter finds, at most `most`."""
    counted = {name: query.count_span(name) for name in query.spans}
    if query.asked.statuses:
        counted["status"] = query.count_status()
    if query.asked.attention:
        counted["attention"] = query.count_attention()
    if query.words:
        counted["words"] = query.count_words()
    columns = [f"(SELECT count(*) FROM ({each})) AS {name}" for name, each in counted.items()]
    row = await reader.one(f"SELECT {', '.join(columns)}", **query.parameters, most=most)
    return dict(row) if row else dict.fromkeys(counted, most)


async def is_regular(reader: Reader) -> bool:
    """Return whether created ≤ completed ≤ updated for every document: the clock was never set back."""
    row = await reader.one(f"SELECT {IRREGULAR} AS found")
    return row is not None and not row["found"]


async def read_documents(reader: Reader, query: ListQuery, way: str, limit: int) -> list[Document]:
    """Return the documents that a statement finds, in order; damaged ones are left out."""
    order = query.order
    rows = await reader.all(
        f"{SELECT} FROM ({way}) p CROSS JOIN document d ON d.id = p.id {JOIN}"
        f" ORDER BY p.at {order}, p.id {order}, r.position",
        **query.parameters,
        limit=limit,
    )
    groups = ((key, list(group)) for key, group in groupby(rows, key=lambda row: row["d_id"]))
    return load_groups(reader, "document", groups, load)
