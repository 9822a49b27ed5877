"""Pages through the list of documents, forwards and back; counts it, and exports it."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, replace

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.document.documents import refresh_summaries
from esign.core.actor import Owner
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.summary import DocumentSummary
from esign.runtime import Runtime
from esign.store.document import listing, status_counts
from esign.store.document.status_counts import StatusCounts
from esign.store.engine.database import Transaction
from esign.store.engine.document_pages import BoundedCount
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import has_more
from esign.store.people import api_keys, members

COUNTED = 1_000
AT_ONCE = 200
MOST_SENDERS = 200


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


async def count(runtime: Runtime, owner: Owner, asked: DocumentFilters) -> BoundedCount:
    """Return how many documents match the filters, counted up to `COUNTED`."""
    return await listing.count(runtime.db, owner, asked, COUNTED)


async def find_ids(runtime: Runtime, owner: Owner, limit: int, asked: DocumentFilters) -> list[str]:
    """Return the ids of the first `limit` documents that match."""
    return [one.id async for page in read_all(runtime, owner, asked, limit) for one in page]


async def read_all(
    runtime: Runtime, owner: Owner, asked: DocumentFilters, limit: int = 2**62
) -> AsyncIterator[list[DocumentSummary]]:
    """Yield the first `limit` documents that match, a page at a time, so that any number fits into memory."""
    place, left = None, limit
    while left > 0:
        found = await listing.find_summaries(runtime.db, owner, min(left, AT_ONCE), place, asked)
        if not found:
            return
        yield list(await refresh_summaries(runtime, found, asked))
        place = listing.find_place(found[-1], asked)
        if not has_more(found, min(left, AT_ONCE) - 1):
            return
        left -= AT_ONCE


async def find_senders(runtime: Runtime, owner: Owner) -> list[tuple[str, str, str]]:
    """Return (kind, id, name) of who may have made documents: the members, then the API keys of this mode."""
    people = await members.find(runtime.db, owner.organisation_id, MOST_SENDERS)
    keys = await api_keys.find_page(runtime.db, owner, MOST_SENDERS)
    named = [("member", one.id, one.name or one.email) for one in people]
    named += [("api_key", one.id, one.name) for one in keys]
    return sorted(named, key=lambda one: (one[0] == "api_key", one[2].casefold()))


async def log_export(runtime: Runtime, caller: Caller, filters: Collection[str]) -> None:
    """Enter in the administrative audit log that the list is about to leave as a file.

    The entry names the filters without their values, which may be addresses of people.
    """
    act = AdminAct(
        "documents.listed",
        runtime.clock.now(),
        {"filters": sorted(filters), "mode": caller.owner.mode.value},
    )

    async def write(tx: Transaction) -> None:
        await audit_log.log_act(tx, runtime.vault, caller, act)

    await runtime.db.write(write)
