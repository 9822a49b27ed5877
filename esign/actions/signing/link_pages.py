"""What a signing link shows of a document's pages; None where it shows none."""

from dataclasses import dataclass

from esign.actions.document import page_views
from esign.actions.signing import signing
from esign.actions.signing.signing import Visitor
from esign.core.document.document import Document
from esign.core.people.account import Organisation
from esign.pdf.worker.queue_turn import Kind, Turn
from esign.runtime import Runtime


async def page_image(runtime: Runtime, visitor: Visitor, number: int, size: int) -> bytes | None:
    """The picture of a page as it was uploaded (WebP); None where the link shows no pages."""
    seen = await shown(runtime, visitor, number)
    return (
        None if seen is None else await page_views.picture_of(runtime, seen.document, number, size, seen.turn)
    )


async def filled_image(runtime: Runtime, visitor: Visitor, number: int, done: int, size: int) -> bytes | None:
    """What the first `done` who finished have filled in on a page, as it will be sealed, on clear ground."""
    seen = await shown(runtime, visitor, number)
    if seen is None:
        return None
    return await page_views.filled_picture_of(
        runtime, seen.document, seen.organisation, number, done, size, seen.turn
    )


async def page_text(runtime: Runtime, visitor: Visitor, number: int) -> bytes | None:
    """Return JSON of the page's paragraphs."""
    seen = await shown(runtime, visitor, number)
    return None if seen is None else await page_views.text_of(runtime, seen.document, number, seen.turn)


@dataclass(frozen=True, slots=True)
class Seen:
    """A document whose pages a link shows, and the turn of whoever holds the link."""

    document: Document
    organisation: Organisation
    turn: Turn


async def shown(runtime: Runtime, visitor: Visitor, number: int) -> Seen | None:
    """Return the document, where the link shows its pages and there is one of that number."""
    seen = await signing.find(runtime, visitor)
    if seen.document is None or not signing.shows_pages(seen) or not 1 <= number <= seen.document.page_count:
        return None
    if seen.organisation is None or seen.recipient is None:
        return None
    turn = Turn(Kind.PREVIEW, seen.document.organisation_id, seen.recipient.id)
    return Seen(seen.document, seen.organisation, turn)
