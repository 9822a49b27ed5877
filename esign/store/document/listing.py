"""Read pages of the list of documents: filtered, in any order, each document with its recipients.

`store/engine/document_pages` finds which documents a page has, by the best index; here their rows become
`DocumentSummary`, for everything that shows a list, or `Document`.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from esign.core.actor import Owner
from esign.core.document.document import Document
from esign.core.document.document_filters import EVERYTHING, DocumentFilters
from esign.core.document.summary import AnyDocument, DocumentSummary
from esign.store.document import summaries
from esign.store.document.documents import JOIN, SELECT, load
from esign.store.engine import document_pages
from esign.store.engine.database import Reader, Row
from esign.store.engine.document_list_statements import PageRequest
from esign.store.engine.document_pages import PageStatement
from esign.store.engine.paging import PageStart
from esign.store.engine.readers import PointReader
from esign.store.engine.unreadable_rows import ReadableRows, load_groups

STEPS = 60_000  # of SQLite, for a page on the thread of the event loop: 100 documents with eight recipients, in 1.6 ms
PIECE = (
    64 * 2**10
)  # characters of recipients that are loaded at once: those of four documents with 50, in 0.7 ms


async def find_page(
    reader: Reader,
    owner: Owner,
    limit: int,
    after: PageStart | None = None,
    asked: DocumentFilters = EVERYTHING,
) -> list[Document]:
    """Return up to `limit` documents that match, in the wanted order, after the place `after`."""
    request = PageRequest(owner, asked, limit, after)
    return await document_pages.find_page(reader, request, partial(read_documents, reader))


async def find_summaries(
    reader: Reader,
    owner: Owner,
    limit: int,
    after: PageStart | None = None,
    asked: DocumentFilters = EVERYTHING,
    points: PointReader | None = None,
) -> list[DocumentSummary]:
    """Return the same page as `find_page`, as summaries.

    A page along one index comes from `points`, if given, unless its documents have many recipients: on the thread of
    the event loop the usual 200 neighbouring rows take 0.6 ms, while another thread and the loop would wait for each
    other at every row.
    """
    request = PageRequest(owner, asked, limit, after)
    if points is None or not document_pages.is_short_walk(request):
        return await document_pages.find_page(reader, request, partial(read_summaries, reader))

    async def read(page: PageStatement) -> list[DocumentSummary]:
        sql, values = select_summaries(page)
        rows = await points.all_within(STEPS, sql, **values)
        return await load_rows(reader, await reader.all(sql, **values) if rows is None else rows)

    return await document_pages.find_page(points, request, read)


async def count(
    reader: Reader, owner: Owner, asked: DocumentFilters, most: int
) -> document_pages.BoundedCount:
    """Return how many documents match, counted up to `most`."""
    return await document_pages.count_documents(reader, owner, asked, most)


def find_place(document: AnyDocument, asked: DocumentFilters) -> PageStart:
    """Return the place where the page after this document begins."""
    return PageStart(getattr(document, asked.sort.key), document.id)


async def read_documents(reader: Reader, page: PageStatement) -> list[Document]:
    """Return the documents that a statement finds, in order; damaged ones are left out."""
    rows = await reader.all(
        f"{SELECT} FROM ({page.sql}) p CROSS JOIN document d {JOIN}"
        f" WHERE d.id = p.id ORDER BY p.at {page.order}, p.id {page.order}, r.position",
        **page.values,
    )
    groups = ((key, list(group)) for key, group in groupby(rows, key=lambda row: row["d_id"]))
    return load_groups(reader, "document", groups, load)


async def read_summaries(reader: Reader, page: PageStatement) -> list[DocumentSummary]:
    """Return the summaries of the documents that a statement finds, in order; damaged ones are left out."""
    sql, values = select_summaries(page)
    return await load_rows(reader, await reader.all(sql, **values))


def select_summaries(page: PageStatement) -> tuple[str, Mapping[str, object]]:
    """Return the statement that reads the summaries of a page, and its values."""
    sql = (
        f"{summaries.SELECT} FROM ({page.sql}) p CROSS JOIN document d"
        f" WHERE d.id = p.id ORDER BY p.at {page.order}, p.id {page.order}"
    )
    return sql, page.values


async def load_rows(reader: Reader, rows: Sequence[Row]) -> list[DocumentSummary]:
    """Return the summaries of rows, loaded in pieces between which other requests come; damaged ones are left out."""
    found = ReadableRows[DocumentSummary]()
    found.asked = len(rows)
    for piece in cut_rows(rows):
        if found:
            await asyncio.sleep(0)
        found += load_groups(reader, "document", ((row["id"], row) for row in piece), summaries.load_summary)
    return found


def cut_rows(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield the rows in pieces of up to `PIECE` characters of recipients, or of one row."""
    first = size = 0
    for at, row in enumerate(rows):
        size += len(row["recipients"])
        if size > PIECE and at > first:
            yield rows[first:at]
            first, size = at, len(row["recipients"])
    yield rows[first:]
