"""What readers of a document get beside its first pictures: sharper ones, the values in their places, the text.

Made when it is first asked for, once for all who ask meanwhile, and kept with the document for a while.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

from esign.actions.base.drawn_fields import drawn_field, inks_of
from esign.actions.base.pdf_work import made
from esign.actions.base.printable_text import font_paths
from esign.core.document.document import Document, File, Recipient, Status
from esign.core.document.template import Template
from esign.core.language import choose
from esign.core.people.account import Organisation
from esign.pdf.inspection import Paragraph
from esign.pdf.worker.queue_turn import Kind, Turn
from esign.runtime import Runtime
from esign.store.document import blobs, page_views
from esign.store.engine.database import Transaction


async def picture_of(
    runtime: Runtime, document: Document, number: int, size: int, turn: Turn | None = None
) -> bytes:
    """A page, which the document must have, for somebody who may see it."""
    if size == 1:
        return await blobs.get(runtime.db, document.file.images[number - 1])
    looking = turn or Turn(Kind.PREVIEW, document.organisation_id)
    return await kept(
        runtime,
        document,
        of_file(document, f"{number}.{size}"),
        lambda: sharper(runtime, document.file, number, size, looking),
    )


async def template_picture(runtime: Runtime, template: Template, number: int, size: int) -> bytes:
    """A page of a template; a sharper one is not kept, as few look at it."""
    if size == 1:
        return await blobs.get(runtime.db, template.file.images[number - 1])
    turn = Turn(Kind.PREVIEW, template.organisation_id)
    return await made(sharper(runtime, template.file, number, size, turn))


async def sharper(runtime: Runtime, file: File, number: int, size: int, turn: Turn) -> bytes:
    async def given() -> tuple[object, ...]:
        return await blobs.get(runtime.db, file.prepared), number, file.pages[number - 1], size

    name = f"sharper {file.prepared} {number} {size}"
    return bytes(await runtime.pdf.ask_for("sharper", bytes, given, turn=turn, name=name))


def of_file(document: Document, name: str) -> str:
    """What was made of a draft's file is of no use for the next one."""
    return f"{document.file.prepared[:16]}.{name}" if document.status is Status.DRAFT else name


async def filled_picture_of(
    runtime: Runtime,
    document: Document,
    organisation: Organisation,
    number: int,
    done: int,
    size: int,
    turn: Turn | None = None,
) -> bytes | None:
    """What lies on that page; None where `done` have not finished yet, or have nothing there."""
    people = document.finished()
    if not 1 <= done <= len(people):
        return None
    here = [(field, who) for who in people[:done] for field in who.fields if field.page == number]
    if not here:
        return None

    looking = turn or Turn(Kind.PREVIEW, document.organisation_id)

    async def given() -> tuple[object, ...]:
        inks = await pictures(runtime, people)
        fields = [drawn_field(field, who, inks) for field, who in here]
        page, lang = document.file.pages[number - 1], choose(document.locale, organisation.locale).tag
        return fields, page, size, lang, runtime.clock.now(), font_paths(runtime)

    async def make() -> bytes:
        return bytes(await runtime.pdf.ask_for("filled", bytes, given, turn=looking))

    return await kept(runtime, document, f"{number}.{size}.{done}", make)


async def text_of(runtime: Runtime, document: Document, number: int, turn: Turn) -> bytes:
    """Return JSON of the paragraphs of a page."""

    async def given() -> tuple[object, ...]:
        return await blobs.get(runtime.db, document.file.prepared), number

    async def make() -> bytes:
        name = f"read {document.file.prepared} {number}"
        found = await runtime.pdf.ask_for("read", list[Paragraph], given, turn=turn, name=name)
        return json.dumps({"paragraphs": [asdict(one) for one in found]}, ensure_ascii=False).encode()

    return await kept(runtime, document, f"{number}.text", make)


async def pictures(runtime: Runtime, people: Sequence[Recipient]) -> dict[str, bytes]:
    """Of their signatures."""
    names = {ink.picture for who in people for ink in inks_of(who) if ink.picture}
    return {name: await blobs.get(runtime.db, name) for name in names}


async def kept(
    runtime: Runtime, document: Document, name: str, make: Callable[[], Awaitable[bytes]]
) -> bytes:
    """What was made before, or is made now; `unavailable` when it cannot be made."""
    found = await page_views.find(runtime.db, document.id, name)
    if found is not None:
        return found
    async with runtime.pdf.alone(f"{document.id} {name}"):
        found = await page_views.find(runtime.db, document.id, name)  # made while others waited
        if found is not None:
            return found
        content = await made(make())

        async def write(tx: Transaction) -> None:
            await page_views.keep(tx, document.id, name, content, runtime.clock.now())

        await runtime.db.write(write)
    return content
