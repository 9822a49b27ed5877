"""Turning the pages of the list of documents, forwards and back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from esign.actions.document.documents import up_to_date
from esign.core.actor import Owner
from esign.core.document.document import Document
from esign.core.document.document_filters import Listing
from esign.runtime import Runtime
from esign.store.document import listing, status_counts
from esign.store.document.status_counts import Counts
from esign.store.engine.damage import has_more
from esign.store.engine.paging import Place


@dataclass(frozen=True, slots=True)
class Turn:
    """Which page: the one behind a place, or with `back` the one that ends before it."""

    place: Place
    back: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """`previous` and `next`: where to turn from here; None at the ends of the list."""

    documents: tuple[Document, ...]
    previous: Turn | None
    next: Turn | None


async def find_page(runtime: Runtime, owner: Owner, limit: int, turn: Turn | None, asked: Listing) -> Page:
    """One page of the list; whoever turns back beyond its beginning gets the first page, whole."""
    back = turn is not None and turn.back
    order = replace(asked, sort=asked.sort.turned) if back else asked
    place = turn.place if turn else None
    found = await listing.find_page(runtime.db, owner.organisation_id, owner.mode, limit + 1, place, order)
    if back and not has_more(found, limit):
        return await find_page(runtime, owner, limit, None, asked)
    shown = found[:limit][::-1] if back else found[:limit]
    before = back or turn is not None  # behind a place there is what it was the place of
    after = back or has_more(found, limit)
    return Page(
        await current(runtime, shown, asked),
        Turn(listing.place_of(shown[0], asked), back=True) if before and shown else None,
        Turn(listing.place_of(shown[-1], asked)) if after and shown else None,
    )


async def current(runtime: Runtime, found: Sequence[Document], asked: Listing) -> tuple[Document, ...]:
    """Without those that have just expired and fit no longer."""
    now = [await up_to_date(runtime, document) for document in found]
    return tuple(document for document in now if asked.still_has(document))


async def count(runtime: Runtime, owner: Owner) -> Counts:
    """How many documents there are of each status."""
    return await status_counts.find(runtime.db, owner.organisation_id, owner.mode)
