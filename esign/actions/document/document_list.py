"""Pages through the list of documents, forwards and back."""

from dataclasses import dataclass, replace

from esign.actions.document.documents import refresh_summaries
from esign.core.actor import Owner
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.summary import DocumentSummary
from esign.runtime import Runtime
from esign.store.document import listing, status_counts
from esign.store.document.status_counts import StatusCounts
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import has_more


@dataclass(frozen=True, slots=True)
class PageTurn:
    """Which page to read: the page behind a place, or with `back` the page that ends before it."""

    place: PageStart
    back: bool = False


@dataclass(frozen=True, slots=True)
class DocumentListPage:
    """A page of documents.

    `previous` and `next` lead to the neighbouring pages, and are None at the ends of the list.
    """

    documents: tuple[DocumentSummary, ...]
    previous: PageTurn | None
    next: PageTurn | None


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, turn: PageTurn | None, asked: DocumentFilters
) -> DocumentListPage:
    """Return one page of the list. Paging back beyond the beginning returns the whole first page."""
    back = turn is not None and turn.back
    order = replace(asked, sort=asked.sort.opposite) if back else asked
    place = turn.place if turn else None
    db = runtime.db
    found = await listing.find_summaries(db, owner, limit + 1, place, order, db.points)
    if back and not has_more(found, limit):
        return await find_page(runtime, owner, limit, None, asked)
    shown = found[:limit][::-1] if back else found[:limit]
    before = back or turn is not None  # the document of the place itself stands before this page
    after = back or has_more(found, limit)
    return DocumentListPage(
        tuple(await refresh_summaries(runtime, shown, asked)),
        PageTurn(listing.find_place(shown[0], asked), back=True) if before and shown else None,
        PageTurn(listing.find_place(shown[-1], asked)) if after and shown else None,
    )


async def count_by_status(runtime: Runtime, owner: Owner) -> StatusCounts:
    """Return the number of documents of each status."""
    return await status_counts.find(runtime.db, owner)
