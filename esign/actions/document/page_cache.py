"""Provides what people see of pages: pictures in three sizes, filled-in values, and the text.

Everything is made on the first request, or before it by `draw_ahead`, and kept in the folder of pictures. What is
made of a file alone lies on a shelf named after its SHA-256, so that duplicates and templates share it; pictures
with the values of recipients lie on a shelf named after the document.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass

from esign.actions.base.drawn_fields import list_inks, make_drawn_field
from esign.actions.base.pdf_work import wait_for_worker
from esign.actions.base.printable_text import list_font_paths
from esign.core.actor import SYSTEM
from esign.core.document.document import Document, File, Recipient
from esign.core.document.state.outcome import Event
from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.core.language import choose_language
from esign.core.people.account import Organisation
from esign.pdf.inspection import Paragraph
from esign.pdf.seal_order import Typesetting
from esign.pdf.worker.queue import FULL
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import WorkerFailed
from esign.runtime import Runtime
from esign.store.document import blobs, documents, outcomes
from esign.store.engine.database import Transaction
from esign.store.queue import audit_entries
from esign.system.supervision import beat

# One job draws the page that is asked for, and of the pages behind it those that it has time for.
RUN = 16

# Seconds of processor time of such a job. A page that needs more is drawn alone, with the limit of its kind.
RUN_CPU_SECONDS = 2

# How many pages of a new file are drawn before anybody asks, and for how many seconds no other job must have run.
AHEAD, QUIET = 12, 0.1

NOT_SHOWN = "This page cannot be shown here."
NOT_SHOWN_EVENT = "document.page_not_shown"


async def read_picture(
    runtime: Runtime, document: Document, number: int, size: int, turn: QueueTurn | None = None
) -> bytes:
    """Return the picture of a page. The document must have the page. The caller checks who may see it.

    Raises `invalid_file` if the page cannot be drawn, and records that once in the audit trail.
    """
    looking = turn or QueueTurn(PdfJobKind.PREVIEW, document.organisation_id)
    try:
        return await read_file_picture(runtime, document.file, number, size, looking)
    except Problem as problem:
        if problem.code == "invalid_file" and size == 1:
            await record_not_shown(runtime, document, number)
        raise


async def record_not_shown(runtime: Runtime, document: Document, number: int) -> None:
    """Record in the audit trail that a page cannot be shown, unless the trail says so already."""
    event = Event(NOT_SHOWN_EVENT, runtime.clock.now(), SYSTEM, data={"page": number})

    async def write(tx: Transaction) -> None:
        if not await audit_entries.has(tx, document.id, event.type, event.data):
            await outcomes.record_fact(tx, document.id, event, runtime.vault)

    if not await audit_entries.has(runtime.db, document.id, event.type, event.data):
        with suppress(Problem):  # deleted meanwhile
            await runtime.db.write(write)


async def read_template_picture(runtime: Runtime, template: Template, number: int, size: int) -> bytes:
    """Return the picture of a page of a template. Raises `invalid_file` if the page cannot be drawn."""
    turn = QueueTurn(PdfJobKind.PREVIEW, template.organisation_id)
    return await read_file_picture(runtime, template.file, number, size, turn)


async def read_file_picture(runtime: Runtime, file: File, number: int, size: int, turn: QueueTurn) -> bytes:
    """Return the picture of a page of a file, drawn now if it is not stored."""

    async def make() -> bytes:
        pictures = await draw_pages(runtime, file, await list_run(runtime, file, number, size), size, turn)
        for behind, picture in enumerate(pictures[1:], 1):
            await asyncio.to_thread(
                runtime.pictures.write, file.prepared, f"{number + behind}.{size}", picture
            )
        return pictures[0]

    pages = f"pages {file.prepared} {size}"  # a job draws several of them
    return await find_or_make(runtime, turn, file.prepared, f"{number}.{size}", make, pages)


async def list_run(runtime: Runtime, file: File, number: int, size: int) -> list[int]:
    """Return the page and those behind it, up to one whose picture is stored; the page alone if none can be stored."""

    def find() -> list[int]:
        run = [number]
        if not runtime.pictures.is_keeping:
            return run
        for following in range(number + 1, min(number + RUN, len(file.pages) + 1)):
            if runtime.pictures.has(file.prepared, f"{following}.{size}"):
                break
            run.append(following)
        return run

    return await asyncio.to_thread(find)


async def draw_pages(
    runtime: Runtime, file: File, numbers: list[int], size: int, turn: QueueTurn
) -> tuple[bytes, ...]:
    """Return the pictures of the first of these pages, at least of one. Raises `invalid_file` if it cannot be drawn."""
    run = QueueTurn(turn.kind, turn.tenant, turn.source, RUN_CPU_SECONDS)
    with suppress(WorkerFailed):
        return await run_drawing(runtime, file, numbers, size, run, f"pictures {file.prepared} {size}")
    try:
        name = f"picture {file.prepared} {numbers[0]} {size}"
        return await run_drawing(runtime, file, numbers[:1], size, turn, name)
    except WorkerFailed as failure:
        raise Problem("invalid_file", NOT_SHOWN) from failure


async def run_drawing(
    runtime: Runtime, file: File, numbers: list[int], size: int, turn: QueueTurn, name: str
) -> tuple[bytes, ...]:
    """Let a worker draw these pages. A failure that would happen again is remembered under `name`."""

    async def read_arguments() -> tuple[object, ...]:
        pages = [file.pages[number - 1] for number in numbers]
        return await blobs.get(runtime.db, file.prepared), numbers, pages, size

    pictures = await runtime.pdf.run_task_when_free(
        "pictures", tuple[bytes, ...], read_arguments, turn=turn, name=name
    )
    if not 1 <= len(pictures) <= len(numbers):
        raise WorkerFailed("it answered with another number of pictures than was asked")
    return pictures


async def draw_ahead(runtime: Runtime, organisation_id: str, file: File) -> None:
    """Draw the first pages of a new file while no other job runs or waits; give up when there are others.

    A page that takes long is left to its reader: while it is drawn, it would hold up who asks for another.
    """
    turn = QueueTurn(PdfJobKind.PREVIEW, organisation_id, "ahead", RUN_CPU_SECONDS)
    for number in range(1, min(AHEAD, len(file.pages)) + 1):
        await asyncio.sleep(QUIET)
        if not runtime.pictures.is_keeping or runtime.pdf.queue.idle_seconds < QUIET:
            return
        if not await blobs.is_kept(runtime.db, file.prepared):
            return
        if not await asyncio.to_thread(runtime.pictures.has, file.prepared, f"{number}.1"):
            await read_file_picture(runtime, file, number, 1, turn)


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

    name = f"{number}.{size}.{done}"
    return await find_or_make(runtime, looking, document.id, name, make)


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

    name = f"{number}.text"
    return await find_or_make(runtime, turn, document.file.prepared, name, make)


async def load_ink_pictures(runtime: Runtime, people: Sequence[Recipient]) -> dict[str, bytes]:
    """Return the pictures of the recipients' signatures by their SHA-256."""
    names = {ink.picture for who in people for ink in list_inks(who) if ink.picture}
    return {name: await blobs.get(runtime.db, name) for name in names}


async def find_or_make(
    runtime: Runtime,
    turn: QueueTurn,
    shelf: str,
    name: str,
    make: Callable[[], Awaitable[bytes]],
    together: str | None = None,
) -> bytes:
    """Return what is stored under this name, or make and store it. Raises `unavailable` if it cannot be made.

    `shelf` is the SHA-256 of a prepared file or the id of a document, `turn` that of the job. `together` names what one
    job makes several of; by default it makes this alone.
    """
    found = await asyncio.to_thread(runtime.pictures.read, shelf, name)
    if found is not None:
        return found
    async with make_alone(runtime, turn, together or f"{shelf} {name}"):
        found = await asyncio.to_thread(runtime.pictures.read, shelf, name)
        if found is not None:
            return found
        content = await wait_for_worker(make())
        await asyncio.to_thread(runtime.pictures.write, shelf, name, content)
        if not await is_kept(runtime, shelf):  # deleted while it was drawn
            await asyncio.to_thread(runtime.pictures.remove, shelf)
    return content


@asynccontextmanager
async def make_alone(runtime: Runtime, turn: QueueTurn, what: str) -> AsyncIterator[None]:
    """Let each caller make one thing at a time, and one caller of an organisation the same thing.

    So a reader who asks for many pages at once waits here, and is not refused by the queue, which is fair between
    callers; and what another request has made meanwhile is found. The caller's place comes first: a caller who waits
    for one holds nothing that others wait for. Raises `unavailable` after the patience of the queue.
    """
    queue = runtime.pdf.queue
    async with AsyncExitStack() as places:
        try:
            async with asyncio.timeout(queue.patience):
                await places.enter_async_context(runtime.pdf.alone(f"of {turn.party}"))
                await places.enter_async_context(runtime.pdf.alone(f"for {turn.tenant}: {what}"))
        except TimeoutError:
            raise Problem("unavailable", FULL, retry_after=queue.advice) from None
        yield


async def is_kept(runtime: Runtime, shelf: str) -> bool:
    """Return whether the file or document that a shelf is named after exists and is in use."""
    return await blobs.is_kept(runtime.db, shelf) or await documents.exists(runtime.db, shelf)


async def forget(runtime: Runtime, document_id: str, file: File) -> None:
    """Remove the pictures of a document or template that was deleted, or of a file that it had until now.

    Those of the file stay if another uses it.
    """
    for shelf in (document_id, file.prepared):
        if not await is_kept(runtime, shelf):
            await asyncio.to_thread(runtime.pictures.remove, shelf)


async def sweep(runtime: Runtime) -> int:
    """Remove the pictures of what was deleted, and the oldest if there are too many.

    Return the number of shelves removed.
    """
    gone = 0
    for shelf in await asyncio.to_thread(runtime.pictures.list_shelves):
        beat()
        if not await is_kept(runtime, shelf):
            await asyncio.to_thread(runtime.pictures.remove, shelf)
            gone += 1
    await asyncio.to_thread(runtime.pictures.trim)
    return gone
