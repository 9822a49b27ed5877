"""What readers of a document get beside its first pictures: sharper ones, the values in their places, the text.

Made when it is first asked for, by one worker at a time, and kept with the document for a while.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

from esign.actions import signing
from esign.actions.drawing import drawn_field, inks_of
from esign.actions.printing import font_paths
from esign.actions.signing import Visitor
from esign.actions.working import made
from esign.core.account import Organisation
from esign.core.document import Document, File, Recipient, Status
from esign.core.language import choose
from esign.core.template import Template
from esign.pdf.inspection import Paragraph
from esign.runtime import Runtime
from esign.store import blobs, views
from esign.store.database import Transaction


async def page_image(runtime: Runtime, visitor: Visitor, number: int, size: int) -> bytes | None:
    """The picture of a page as it was uploaded (WebP); None where the link shows no pages."""
    document, _ = await shown(runtime, visitor, number)
    return None if document is None else await picture_of(runtime, document, number, size)


async def filled_image(runtime: Runtime, visitor: Visitor, number: int, done: int, size: int) -> bytes | None:
    """What the first `done` who finished have filled in on a page, as it will be sealed, on clear ground."""
    document, organisation = await shown(runtime, visitor, number)
    if document is None or organisation is None:
        return None
    return await filled_picture_of(runtime, document, organisation, number, done, size)


async def picture_of(runtime: Runtime, document: Document, number: int, size: int) -> bytes:
    """A page, which the document must have, for somebody who may see it."""
    if size == 1:
        return await blobs.get(runtime.db, document.file.images[number - 1])

    return await kept(
        runtime,
        document,
        of_file(document, f"{number}.{size}"),
        lambda: sharper(runtime, document.file, number, size),
    )


async def template_picture(runtime: Runtime, template: Template, number: int, size: int) -> bytes:
    """A page of a template; a sharper one is not kept, as few look at it."""
    if size == 1:
        return await blobs.get(runtime.db, template.file.images[number - 1])
    async with runtime.pdf.reading:
        return await made(sharper(runtime, template.file, number, size))


async def sharper(runtime: Runtime, file: File, number: int, size: int) -> bytes:
    prepared = await blobs.get(runtime.db, file.prepared)
    return bytes(await runtime.pdf.ask("sharper", bytes, prepared, number, file.pages[number - 1], size))


def of_file(document: Document, name: str) -> str:
    """What was made of a draft's file is of no use for the next one."""
    return f"{document.file.prepared[:16]}.{name}" if document.status is Status.DRAFT else name


async def filled_picture_of(
    runtime: Runtime, document: Document, organisation: Organisation, number: int, done: int, size: int
) -> bytes | None:
    """What lies on that page; None where `done` have not finished yet, or have nothing there."""
    people = document.finished()
    if not 1 <= done <= len(people):
        return None
    here = [(field, who) for who in people[:done] for field in who.fields if field.page == number]
    if not here:
        return None

    async def make() -> bytes:
        inks = await pictures(runtime, people)
        fields = [drawn_field(field, who, inks) for field, who in here]
        page, lang = document.file.pages[number - 1], choose(document.locale, organisation.locale).tag
        asked = (fields, page, size, lang, runtime.clock.now(), font_paths(runtime))
        return bytes(await runtime.pdf.ask("filled", bytes, *asked))

    return await kept(runtime, document, f"{number}.{size}.{done}", make)


async def page_text(runtime: Runtime, visitor: Visitor, number: int) -> bytes | None:
    """JSON of the page's paragraphs."""
    document, _ = await shown(runtime, visitor, number)
    if document is None:
        return None

    async def make() -> bytes:
        prepared = await blobs.get(runtime.db, document.file.prepared)
        found = await runtime.pdf.ask("read", list[Paragraph], prepared, number)
        return json.dumps({"paragraphs": [asdict(one) for one in found]}, ensure_ascii=False).encode()

    return await kept(runtime, document, f"{number}.text", make)


async def shown(
    runtime: Runtime, visitor: Visitor, number: int
) -> tuple[Document | None, Organisation | None]:
    """The document, where the link shows its pages and there is one of that number."""
    seen = await signing.find(runtime, visitor)
    if seen.document is None or not signing.shows_pages(seen) or not 1 <= number <= seen.document.page_count:
        return None, None
    return seen.document, seen.organisation


async def pictures(runtime: Runtime, people: Sequence[Recipient]) -> dict[str, bytes]:
    """Of their signatures."""
    names = {ink.picture for who in people for ink in inks_of(who) if ink.picture}
    return {name: await blobs.get(runtime.db, name) for name in names}


async def kept(
    runtime: Runtime, document: Document, name: str, make: Callable[[], Awaitable[bytes]]
) -> bytes:
    """What was made before, or is made now; `unavailable` when it cannot be made."""
    found = await views.find(runtime.db, document.id, name)
    if found is not None:
        return found
    async with runtime.pdf.reading:
        found = await views.find(runtime.db, document.id, name)  # made while others waited
        if found is not None:
            return found
        content = await made(make())

        async def write(tx: Transaction) -> None:
            await views.keep(tx, document.id, name, content, runtime.clock.now())

        await runtime.db.write(write)
    return content
