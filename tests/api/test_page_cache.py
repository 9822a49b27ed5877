"""The pictures of pages: drawn once however many ask, shared by equal files, gone with their documents."""

import asyncio
import io
import os
import shutil
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio
from PIL import Image

from esign.actions.document import page_cache
from esign.app import PICTURES
from esign.core.document.document import File
from esign.core.errors import Problem
from esign.core.seal_credential import Credential
from esign.jobs import draw_ahead, sweep_pictures
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import Workers
from esign.runtime import Runtime
from esign.store.document import documents
from esign.system.file_cache import FileCache
from tests.api.site import Site, b64
from tests.bench.dense import make_dense_pdf
from tests.journeys.api import a_signature
from tests.pdf.made import blank, write_pdf
from tests.pdf.shaded import make_shaded

pytestmark = pytest.mark.asyncio(loop_scope="module")

T = TypeVar("T")
MANY = 100


class CountingWorkers(Workers):
    """Workers that note how many pictures each job has drawn."""

    def __init__(self, cpu_seconds: int | None = None) -> None:
        super().__init__(cpu_seconds=cpu_seconds)
        self.drawn: list[int] = []
        self.limits: list[int | None] = []  # seconds of processor time

    async def run_task_when_free(
        self,
        task: str,
        kind: type[T],
        read: Callable[[], Awaitable[Sequence[object]]],
        *,
        turn: QueueTurn | None = None,
        name: str | None = None,
        credential: Credential | None = None,
    ) -> T:
        self.limits.append(turn.cpu_seconds if turn else None)
        found = await super().run_task_when_free(
            task, kind, read, turn=turn, name=name, credential=credential
        )
        if isinstance(found, tuple):
            self.drawn.append(len(found))
        return found


@pytest_asyncio.fixture(loop_scope="module")
async def runtime(site: Site, tmp_path: Path) -> Any:
    """The tools of the site with an empty folder of pictures and workers that count."""
    pdf = CountingWorkers()
    yield replace(site.runtime, pdf=pdf, pictures=FileCache(tmp_path / PICTURES, 2**28))
    await pdf.close()


async def store_file(site: Site, pages: int, seed: int = 0) -> tuple[str, File]:
    """The id of a draft with so many dense pages, and its file."""
    made = await site.create(file=b64(make_dense_pdf(pages, seed)), recipients=[])
    return made, (await documents.get(site.runtime.db, made)).file


async def store_numbered(site: Site, pages: int) -> File:
    """A file with so many pages, each of which shows something else."""
    pdf = blank(pages)
    for number, page in enumerate(pdf.pages, 1):
        page.obj.Contents = pdf.make_stream(b"0 g 10 10 %d 50 re f" % (2 * number))
    made = await site.create(file=b64(write_pdf(pdf)), recipients=[])
    return (await documents.get(site.runtime.db, made)).file


def turn_of(site: Site, source: str) -> QueueTurn:
    return QueueTurn(PdfJobKind.PREVIEW, "org", source)


async def read(runtime: Runtime, site: Site, file: File, number: int, source: str = "a") -> bytes:
    return await page_cache.read_file_picture(runtime, file, number, 1, turn_of(site, source))


async def test_each_page_is_drawn_once_however_many_ask(site: Site, runtime: Any) -> None:
    file = await store_numbered(site, MANY)
    numbers = [n for _ in range(10) for n in range(1, MANY + 1)]
    seen = await asyncio.gather(
        *(read(runtime, site, file, n, f"link {at // MANY}") for at, n in enumerate(numbers))
    )
    assert sum(runtime.pdf.drawn) == MANY
    assert len(runtime.pdf.drawn) < MANY
    assert len(set(seen)) == MANY and seen[:MANY] == seen[-MANY:]


@pytest.mark.parametrize("asked", ["another file", "another size", "the text"])
async def test_a_reader_of_many_pages_holds_up_no_other_reader(site: Site, runtime: Any, asked: str) -> None:
    """One recipient asks for 16 enlarged pages; another of the same organisation gets theirs among the first."""
    made, file = await store_file(site, 16, 11)
    _, another = await store_file(site, 1, 12)
    flood = [
        asyncio.create_task(page_cache.read_file_picture(runtime, file, n, 3, turn_of(site, "many")))
        for n in range(1, 17)
    ]
    while not runtime.pdf.queue._running:  # noqa: ASYNC110  (nothing tells it)
        await asyncio.sleep(0)

    match asked:
        case "another file":
            assert await page_cache.read_file_picture(runtime, another, 1, 3, turn_of(site, "one"))
        case "another size":
            assert await page_cache.read_file_picture(runtime, file, 16, 1, turn_of(site, "one"))
        case _:
            document = await documents.get(site.runtime.db, made)
            assert await page_cache.read_text(runtime, document, 1, turn_of(site, "one"))
    assert sum(task.done() for task in flood) < 8
    await asyncio.gather(*flood)


async def test_a_reader_who_waits_too_long_is_told_to_come_again(site: Site, runtime: Any) -> None:
    _, file = await store_file(site, 1, 13)
    runtime.pdf.queue.patience = 0.01
    mine = turn_of(site, "a")
    async with page_cache.make_alone(runtime, mine, "another page"):
        with pytest.raises(Problem) as refusal:
            await page_cache.read_file_picture(runtime, file, 1, 1, mine)
        assert refusal.value.code == "unavailable" and refusal.value.retry_after
        assert await read(runtime, site, file, 1, "b")
    assert await page_cache.read_file_picture(runtime, file, 1, 2, mine)
    assert not runtime.pdf._making


async def test_a_picture_can_be_looked_at(site: Site, runtime: Any) -> None:
    _, file = await store_file(site, 2)
    pictures = [
        await page_cache.read_file_picture(runtime, file, 2, size, turn_of(site, "a")) for size in (1, 2)
    ]
    first, second = (Image.open(io.BytesIO(one)) for one in pictures)
    assert second.width == pytest.approx(2 * first.width, abs=2)


async def test_equal_files_share_their_pictures(site: Site, runtime: Any) -> None:
    (_, file), (_, same) = await store_file(site, 1, 7), await store_file(site, 1, 7)
    assert file.prepared == same.prepared
    assert await read(runtime, site, file, 1) == await read(runtime, site, same, 1)
    assert runtime.pdf.drawn == [1]


async def test_the_first_pages_of_a_new_file_are_drawn_ahead(site: Site, runtime: Any) -> None:
    _, file = await store_file(site, 3, 3)
    runtime.new_files.clear()
    runtime.draw_ahead("org", file)
    await draw_ahead.tick(runtime)
    assert sum(runtime.pdf.drawn) == 3
    assert [runtime.pictures.has(file.prepared, f"{n}.1") for n in (1, 2, 3)] == [True] * 3


@pytest.mark.parametrize("why", ["no bytes", "a full disk", "a file in the way"])
async def test_nothing_is_drawn_that_cannot_be_kept(
    site: Site, runtime: Any, tmp_path: Path, why: str
) -> None:
    _, file = await store_file(site, 3, 14)
    folder = tmp_path / "nothing"
    cache = FileCache(folder, 0 if why == "no bytes" else 2**28, lambda: why != "a full disk")
    if why == "a file in the way":
        folder.write_bytes(b"not a folder")
        cache.write(file.prepared, "1.1", b"found out now")
    runtime = replace(runtime, pictures=cache)
    runtime.new_files.clear()
    runtime.draw_ahead("org", file)
    await draw_ahead.tick(runtime)
    assert runtime.pdf.limits == []
    assert await read(runtime, site, file, 1) and await read(runtime, site, file, 1)
    assert runtime.pdf.drawn == [1, 1]


async def test_a_page_that_takes_long_is_not_drawn_ahead(site: Site, runtime: Any) -> None:
    made = await site.create(file=b64(make_shaded()), recipients=[])
    file = (await documents.get(site.runtime.db, made)).file
    runtime.new_files.clear()
    runtime.draw_ahead("org", file)
    await draw_ahead.tick(runtime)
    assert runtime.pdf.drawn == []
    assert set(runtime.pdf.limits) == {page_cache.RUN_CPU_SECONDS}


async def test_nothing_is_drawn_ahead_while_a_worker_is_busy(site: Site, runtime: Any) -> None:
    _, file = await store_file(site, 1, 4)
    runtime.draw_ahead("org", file)
    async with runtime.pdf.queue.place(QueueTurn(PdfJobKind.UPLOAD, "other")):
        await draw_ahead.tick(runtime)
    assert runtime.pdf.drawn == [] and not runtime.new_files


async def test_the_pictures_go_with_the_last_document_of_their_file(site: Site, runtime: Any) -> None:
    (first, file), (second, _) = await store_file(site, 1, 5), await store_file(site, 1, 5)
    await read(runtime, site, file, 1)
    runtime.pictures.write(first, "1.1.1", b"values")
    site_pictures = site.runtime.pictures
    site_pictures.write(file.prepared, "1.1", b"picture")
    site_pictures.write(first, "1.1.1", b"values")
    await site.ok("DELETE", f"/documents/{first}")
    assert site_pictures.read(first, "1.1.1") is None
    assert site_pictures.read(file.prepared, "1.1") == b"picture"
    await site.ok("DELETE", f"/documents/{second}")
    assert site_pictures.read(file.prepared, "1.1") is None
    # A crash in between, or another folder: the sweep finds what is left.
    assert sorted(runtime.pictures.list_shelves()) == sorted([file.prepared, first])
    assert await sweep_pictures.tick(runtime) == 2
    assert runtime.pictures.list_shelves() == []


async def test_the_pictures_of_a_replaced_file_go_unless_another_document_has_it(site: Site) -> None:
    (made, file), (other, _) = await store_file(site, 1, 21), await store_file(site, 1, 21)
    pictures = site.runtime.pictures
    for draft, is_left in ((made, True), (other, False)):
        pictures.write(file.prepared, "1.2", b"picture")
        await site.ok("PATCH", f"/documents/{draft}", {"title": "Another title"})
        assert pictures.has(file.prepared, "1.2")
        new = {"file": b64(make_dense_pdf(1, 22)), "fileName": "new.pdf"}
        await site.ok("PATCH", f"/documents/{draft}", new)
        assert pictures.has(file.prepared, "1.2") is is_left


async def test_a_document_deleted_while_its_page_is_drawn_leaves_no_picture(site: Site, runtime: Any) -> None:
    made, file = await store_file(site, 1, 6)
    asked = asyncio.create_task(read(runtime, site, file, 1))
    await site.ok("DELETE", f"/documents/{made}")
    await asyncio.gather(asked, return_exceptions=True)
    assert not runtime.pictures.has(file.prepared, "1.1")


async def test_pictures_are_answered_without_their_folder(site: Site, runtime: Any, tmp_path: Path) -> None:
    _, file = await store_file(site, 1, 8)
    first = await read(runtime, site, file, 1)
    shutil.rmtree(tmp_path / PICTURES)
    assert await read(runtime, site, file, 1) == first
    shutil.rmtree(tmp_path / PICTURES)
    (tmp_path / PICTURES).write_bytes(b"not a folder")
    for _ in range(2):
        assert await read(runtime, site, file, 1) == first
    assert runtime.pdf.drawn == [1] * 4


async def test_a_worker_that_is_killed_meanwhile_costs_one_answer(site: Site, runtime: Any) -> None:
    _, file = await store_file(site, 30, 9)
    asked = [asyncio.create_task(read(runtime, site, file, n)) for n in range(1, 31)]
    while not runtime.pdf.pids:  # noqa: ASYNC110  (nothing tells it)
        await asyncio.sleep(0)

    for pid in runtime.pdf.pids:
        os.kill(pid, signal.SIGKILL)
    seen = await asyncio.gather(*asked, return_exceptions=True)
    refused = [one for one in seen if isinstance(one, Problem)]
    assert len(refused) <= 1 and all(one.code == "unavailable" for one in refused)
    assert [isinstance(one, bytes) for one in seen].count(True) >= 29


async def test_a_page_too_heavy_to_draw_is_told_once_and_the_document_is_sealed(
    site: Site, runtime: Any
) -> None:
    signer = site.signer(
        fields=[{"type": "signature", "page": 1, "x": 10, "y": 20, "width": 40, "height": 5}]
    )
    sent = await site.send_document(file=b64(make_shaded()), recipients=[signer])
    document = await documents.get(site.runtime.db, sent["id"])
    limited = CountingWorkers(cpu_seconds=1)
    runtime = replace(runtime, pdf=limited)
    try:
        for _ in range(2):
            with pytest.raises(Problem) as refusal:
                await page_cache.read_picture(runtime, document, 1, 1)
            assert refusal.value.code == "invalid_file"
            assert await page_cache.read_picture(runtime, document, 2, 1)
    finally:
        await limited.close()
    person = await site.person(signer["email"])
    field = (await site.get(document.id))["recipients"][0]["fields"][0]["id"]
    await person.sign({field: a_signature()})
    await site.wait_until_sealed(document.id)
    assert (await site.list_events(document.id)).count("document.page_not_shown") == 1
