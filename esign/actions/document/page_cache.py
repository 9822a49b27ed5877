"""Provides page views beyond the stored pictures: sharper pictures, filled-in values, and the text of a page.

A view is made on the first request, once for all concurrent requests, and stored with the document for a while.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass

from esign.actions.base.drawn_fields import list_inks, make_drawn_field
from esign.actions.base.pdf_work import wait_for_worker
from esign.actions.base.printable_text import list_font_paths
from esign.core.document.document import Document, File, Recipient, Status
from esign.core.document.template import Template
from esign.core.language import choose_language
from esign.core.people.account import Organisation
from esign.pdf.inspection import Paragraph
from esign.pdf.seal_order import Typesetting
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.document import blobs, page_cache
from esign.store.engine.database import Transaction


async def read_picture(
    runtime: Runtime, document: Document, number: int, size: int, turn: QueueTurn | None = None
) -> bytes:
    """Return the picture of a page (WebP). The document must have the page. The caller checks who may see it."""
    looking = turn or QueueTurn(PdfJobKind.PREVIEW, document.organisation_id)
    return await find_or_make(
        runtime,
        document,
        name_view(document, f"{number}.{size}"),
        lambda: render_page(runtime, document.file, number, size, looking),
    )


async def read_template_picture(runtime: Runtime, template: Template, number: int, size: int) -> bytes:
    """Return the picture of a page of a template. It is not stored, since few members look at it."""
    turn = QueueTurn(PdfJobKind.PREVIEW, template.organisation_id)
    return await wait_for_worker(render_page(runtime, template.file, number, size, turn))


async def render_page(runtime: Runtime, file: File, number: int, size: int, turn: QueueTurn) -> bytes:
    """Render a page at a `size`."""

    async def read_arguments() -> tuple[object, ...]:
        return await blobs.get(runtime.db, file.prepared), number, file.pages[number - 1], size

    name = f"picture {file.prepared} {number} {size}"
    return await runtime.pdf.run_task_when_free("picture", bytes, read_arguments, turn=turn, name=name)


def name_view(document: Document, name: str) -> str:
    """Return the name of a view. Of a draft it names the file too, since views of a replaced file are of no use."""
    return f"{document.file.prepared[:16]}.{name}" if document.status is Status.DRAFT else name


@dataclass(frozen=True, slots=True)
class FilledView:
    """A view of the values on the page `number` that the first `done` recipients have filled in."""

    number: int
    done: int
    size: int


async def read_filled_picture(
    runtime: Runtime,
    document: Document,
    organisation: Organisation,
    view: FilledView,
    turn: QueueTurn | None = None,
) -> bytes | None:
    """Return the picture of a view.

    Return None if fewer have finished, or if they have nothing on the page.
    """
    number, done, size = view.number, view.done, view.size
    people = document.list_finished()
    if not 1 <= done <= len(people):
        return None
    here = [(field, who) for who in people[:done] for field in who.fields if field.page == number]
    if not here:
        return None

    looking = turn or QueueTurn(PdfJobKind.PREVIEW, document.organisation_id)

    async def read_arguments() -> tuple[object, ...]:
        inks = await load_ink_pictures(runtime, people)
        fields = [make_drawn_field(field, who, inks) for field, who in here]
        lang = choose_language(document.locale, organisation.locale).tag
        setting = Typesetting(runtime.clock.now(), lang, list_font_paths(runtime))
        return fields, document.file.pages[number - 1], size, setting

    async def make() -> bytes:
        return await runtime.pdf.run_task_when_free("filled", bytes, read_arguments, turn=looking)

    return await find_or_make(runtime, document, f"{number}.{size}.{done}", make)


async def read_text(runtime: Runtime, document: Document, number: int, turn: QueueTurn) -> bytes:
    """Return the paragraphs of a page as JSON."""

    async def read_arguments() -> tuple[object, ...]:
        return await blobs.get(runtime.db, document.file.prepared), number

    async def make() -> bytes:
        name = f"read {document.file.prepared} {number}"
        found = await runtime.pdf.run_task_when_free(
            "read", list[Paragraph], read_arguments, turn=turn, name=name
        )
        return json.dumps({"paragraphs": [asdict(one) for one in found]}, ensure_ascii=False).encode()

    return await find_or_make(runtime, document, f"{number}.text", make)


async def load_ink_pictures(runtime: Runtime, people: Sequence[Recipient]) -> dict[str, bytes]:
    """Return the pictures of the recipients' signatures by their SHA-256."""
    names = {ink.picture for who in people for ink in list_inks(who) if ink.picture}
    return {name: await blobs.get(runtime.db, name) for name in names}


async def find_or_make(
    runtime: Runtime, document: Document, name: str, make: Callable[[], Awaitable[bytes]]
) -> bytes:
    """Return the stored view of this name, or make and store it. Raises `unavailable` if it cannot be made."""
    found = await page_cache.find(runtime.db, document.id, name)
    if found is not None:
        return found
    # One at a time, so that a reader who asks for many pages at once waits instead of being refused by the queue.
    async with runtime.pdf.alone(f"views {document.organisation_id}"):
        found = await page_cache.find(runtime.db, document.id, name)  # another request may have made it
        if found is not None:
            return found
        content = await wait_for_worker(make())

        async def write(tx: Transaction) -> None:
            await page_cache.keep(tx, document.id, name, content, runtime.clock.now())

        await runtime.db.write(write)
    return content
