"""Read pages of the list of documents: filtered, in any order, each document with its recipients.

`store/engine/document_pages` finds which documents a page has, by the best index; here their rows become
`DocumentSummary`, for everything that shows a list, or `Document`.
"""

from functools import partial
from itertools import groupby

from esign.core.actor import Owner
from esign.core.document.document import Document
from esign.core.document.document_filters import EVERYTHING, DocumentFilters
from esign.core.document.summary import AnyDocument, DocumentSummary
from esign.store.document import summaries
from esign.store.document.documents import JOIN, SELECT, load
from esign.store.engine import document_pages
from esign.store.engine.database import Reader
from esign.store.engine.document_list_statements import PageRequest
from esign.store.engine.document_pages import PageStatement
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import load_groups


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
    points: Reader | None = None,
) -> list[DocumentSummary]:
    """Return the same page as `find_page`, as summaries.

    A page along one index comes from `points`, if given. It is about 200 neighbouring rows at most: on the thread of
    the event loop they take 0.6 ms, while another thread and the loop would wait for each other at every row.
    """
    request = PageRequest(owner, asked, limit, after)
    if points is not None and document_pages.is_short_walk(request):
        reader = points
    return await document_pages.find_page(reader, request, partial(read_summaries, reader))


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
    rows = await reader.all(
        f"{summaries.SELECT} FROM ({page.sql}) p CROSS JOIN document d"
        f" WHERE d.id = p.id ORDER BY p.at {page.order}, p.id {page.order}",
        **page.values,
    )
    return load_groups(reader, "document", ((row["id"], row) for row in rows), summaries.load_summary)
