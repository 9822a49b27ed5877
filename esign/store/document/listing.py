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
from esign.core.document.document_filters import EVERYTHING, Listing
from esign.store.document.documents import JOIN, SELECT, load
from esign.store.document.list_queries import Query, query_of
from esign.store.engine.damage import load_groups
from esign.store.engine.database import Reader
from esign.store.engine.paging import Place


class Effort(NamedTuple):
    """Limits in rows. Reading and checking one takes about 4 µs, counting it 0.1 µs."""

    few: int
    near: int
    many: int


EFFORT = Effort(few=2_000, near=1_000, many=200_000)

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
    after: Place | None = None,
    asked: Listing = EVERYTHING,
    effort: Effort = EFFORT,
) -> list[Document]:
    """Return up to `limit` documents that match, in the wanted order, after the place `after`."""
    query = query_of(organisation_id, mode, asked, after, regular=False)
    way = obvious(query)
    if way is not None:
        return await read(reader, query, way, limit)
    counts = await count(reader, query, effort.few)
    query = query_of(organisation_id, mode, asked, after, regular=await is_regular(reader))
    if min(counts.values()) == effort.few:
        page = await read(reader, query, along(query, effort.near), limit)
        if len(page) == limit:
            return page
        counts = await count(reader, query, effort.many)
        if min(counts.values()) == effort.many:
            return await read(reader, query, along(query), limit)
    return await read(reader, query, whole(query, min(counts, key=lambda name: counts[name])), limit)


def place_of(document: Document, asked: Listing) -> Place:
    """Return the place where the page after this document begins."""
    return Place(getattr(document, asked.sort.key), document.id)


def obvious(query: Query) -> str | None:
    """Return the statement along the one index that answers, or None if filters have to be weighed."""
    if query.spans:
        return None
    if not query.words:
        if query.asked.attention:
            return query.by_attention()
        return query.by_status() if query.asked.statuses else query.by_time()
    if query.key == "created_at" and not query.asked.statuses and not query.asked.attention:
        return query.by_words()
    return None


def along(query: Query, near: int | None = None) -> str:
    """Return the statement in the wanted order, over at most `near` rows if that is given."""
    ordered = query.words and query.key == "created_at"
    return query.by_words(near) if ordered else query.by_time(near)


def whole(query: Query, name: str) -> str:
    """Return the statement that reads everything that one filter finds."""
    if name == "words":
        return query.by_words()
    if name == "attention":
        return query.by_attention()
    return query.by_status() if name == "status" else query.by_span(name)


async def count(reader: Reader, query: Query, most: int) -> dict[str, int]:
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


async def read(reader: Reader, query: Query, way: str, limit: int) -> list[Document]:
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
