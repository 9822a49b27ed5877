"""Shows the pages of a document to the visitor of a signing link.

All functions return None if the link shows no pages.
"""

from dataclasses import dataclass

from esign.actions.document import page_cache
from esign.actions.document.page_cache import FilledView
from esign.actions.signing import signing
from esign.actions.signing.visits import Visitor
from esign.core.document.document import Document
from esign.core.people.account import Organisation
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime


async def page_image(runtime: Runtime, visitor: Visitor, number: int, size: int) -> bytes | None:
    """Return the picture of a page as it was uploaded (WebP), or None."""
    seen = await find_shown_document(runtime, visitor, number)
    return (
        None
        if seen is None
        else await page_cache.read_picture(runtime, seen.document, number, size, seen.turn)
    )


async def filled_image(runtime: Runtime, visitor: Visitor, number: int, done: int, size: int) -> bytes | None:
    """Return what the first `done` recipients have filled in on a page as it will be sealed, transparent
    elsewhere, or None.
    """
    seen = await find_shown_document(runtime, visitor, number)
    if seen is None:
        return None
    view = FilledView(number, done, size)
    return await page_cache.read_filled_picture(runtime, seen.document, seen.organisation, view, seen.turn)


async def page_text(runtime: Runtime, visitor: Visitor, number: int) -> bytes | None:
    """Return the paragraphs of a page as JSON, or None."""
    seen = await find_shown_document(runtime, visitor, number)
    return None if seen is None else await page_cache.read_text(runtime, seen.document, number, seen.turn)


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document whose pages a link shows, and the turn of its visitor in the queue of the PDF workers."""

    document: Document
    organisation: Organisation
    turn: QueueTurn


async def find_shown_document(runtime: Runtime, visitor: Visitor, number: int) -> ShownDocument | None:
    """Return the document, or None if the link does not show its pages or there is no page of that number."""
    seen = await signing.find_visit(runtime, visitor)
    if not signing.may_show_pages(seen) or not 1 <= number <= seen.document.page_count:
        return None
    turn = QueueTurn(PdfJobKind.PREVIEW, seen.document.organisation_id, seen.recipient.id)
    return ShownDocument(seen.document, seen.organisation, turn)
