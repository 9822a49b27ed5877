"""One organisation, link or stranger sends more than the workers can do: everybody else is served meanwhile.

What is measured is order, not time: the others are done while the flood still goes on.
"""

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from esign.pdf.worker.queue_turn import STRANGERS, PdfJobKind, QueueTurn
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.web.http.ratelimit import UPLOADS_OF_STRANGERS
from tests.api.site import Site, SiteAnswer, a_config, b64, running
from tests.factories import an_organisation
from tests.fakes import FakeClock
from tests.journeys.api import a_pdf
from tests.journeys.site import a_site
from tests.pdf.heavy import strokes
from tests.web.wire import Wire, request

HEAVY = (
    60_000  # strokes: some 5 seconds of a processor to take in, more than 10 to draw at three times the size
)
ONE_PAGE = a_pdf()
Asked = asyncio.Task[SiteAnswer]


@dataclass(frozen=True)
class Crowd:
    """An installation with a hostile organisation beside that of `site.key`."""

    site: Site
    hostile: str

    async def uploads(self, count: int, key: str) -> list[Asked]:
        """As many files at once, each another one; return when workers are busy with them."""
        files = [b64(strokes(HEAVY, mark)) for mark in range(count)]
        flood = [
            asyncio.create_task(self.site.ask("POST", "/documents", a_body(file), key=key)) for file in files
        ]
        await until(lambda: len(self.site.runtime.pdf.queue.waiting) >= count - 2)
        return flood

    async def serves_everybody_else(self, flood: Sequence[asyncio.Task[Any]]) -> None:
        """A create, the page of a signer in two sizes, and the seal, while most of the flood waits."""
        signer = self.site.signer()
        document = await self.site.send_document(recipients=[signer])
        person = await self.site.person(signer["email"])
        for size in ("", "?size=2", "?size=3"):
            assert (await person.get(f"/pages/1.webp{size}")).status == 200
        await person.sign()
        await self.site.wait_until_sealed(document["id"], 60)
        assert not all(task.done() for task in flood), "they were served only after the flood"


@asynccontextmanager
async def a_crowd(folder: Path, **server: Any) -> AsyncIterator[Crowd]:
    config = a_config(folder)
    async with running(replace_server(config, server)) as site:
        other = an_organisation(id="org_hostile")

        async def write(tx: Transaction) -> None:
            await organisations.add(tx, other)

        await site.runtime.db.write(write)
        yield Crowd(site, await site.new_key(organisation=other.id))


def replace_server(config: Any, server: dict[str, Any]) -> Any:
    return config.model_validate({**config.model_dump(), "server": {**config.server.model_dump(), **server}})


def a_body(file: str) -> dict[str, Any]:
    return {"fileName": "heavy.pdf", "file": file, "recipients": []}


async def until(holds: Any) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110  what is waited for sets no event
            await asyncio.sleep(0.01)


async def end(flood: Sequence[asyncio.Task[Any]]) -> None:
    """Its clients leave."""
    for task in flood:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


async def test_heavy_uploads_of_one_organisation_keep_no_other_waiting(tmp_path: Path) -> None:
    async with a_crowd(tmp_path) as crowd:
        flood = await crowd.uploads(8, crowd.hostile)
        await crowd.serves_everybody_else(flood)
        await end(flood)
        await until(
            lambda: not crowd.site.runtime.pdf.queue.waiting
        )  # nobody works for clients that have left


async def test_heavy_uploads_of_one_key_keep_neither_another_nor_seals_of_the_same_organisation(
    tmp_path: Path,
) -> None:
    async with a_crowd(tmp_path) as crowd:
        flood = await crowd.uploads(8, await crowd.site.new_key())
        await crowd.serves_everybody_else(flood)
        await end(flood)


async def test_more_uploads_than_may_wait_are_told_when_to_come_again(tmp_path: Path) -> None:
    async with a_crowd(tmp_path) as crowd:
        flood = await crowd.uploads(34, crowd.hostile)
        answer = await crowd.site.ask("POST", "/documents", a_body(b64(strokes(600))), key=crowd.hostile)
        assert (answer.status, answer.code) == (429, "rate_limited")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert (await crowd.site.ask("POST", "/documents", a_body(b64(a_pdf())))).status == 201
        await end(flood)


async def test_enlarged_pages_behind_one_link_keep_no_other_signer_waiting(tmp_path: Path) -> None:
    async with a_crowd(tmp_path) as crowd:
        site, email = crowd.site, "hostile@example.test"
        body = {"fileName": "heavy.pdf", "file": b64(strokes(HEAVY)), "send": True}
        sent = await site.ask(
            "POST", "/documents", body | {"recipients": [{"email": email, "name": "H"}]}, key=crowd.hostile
        )
        assert sent.status == 201, sent
        person = await site.person(email)
        await person.view()
        paths = ["/pages/1.webp?size=3", "/pages/1.webp?size=2", "/pages/1.json"] * 2
        flood = [asyncio.create_task(person.get(path)) for path in paths]
        await until(lambda: site.runtime.pdf.queue._running)
        await crowd.serves_everybody_else(flood)
        await end(flood)


async def test_strangers_close_neither_the_page_for_each_other_nor_anything_else(tmp_path: Path) -> None:
    """One whose file takes long, and many that ask for more than their share."""
    async with a_crowd(tmp_path, trusted_proxies=["127.0.0.1/32"]) as crowd:
        queue = crowd.site.runtime.pdf.queue
        slow = QueueTurn(PdfJobKind.STRANGER, STRANGERS, "198.51.100.1")
        async with queue.place(slow):
            flood = [asyncio.create_task(verify(crowd.site, f"2001:db8:0:{n % 3}::{n}")) for n in range(12)]
            await until(lambda: sum(task.done() for task in flood) == 6)
            refused = {(await task).status for task in flood if task.done()}
            assert refused == {429}, "two files of a network wait, of whatever address"
            honest = asyncio.create_task(verify(crowd.site, "203.0.113.9"))
            await until(lambda: queue.waiting and queue.waiting[-1].source == "203.0.113.9")
            await crowd.serves_everybody_else(flood)
        assert (await honest).status == 200
        assert {(await task).status for task in flood} == {200, 429}


async def verify(site: Site, address: str, content: bytes = ONE_PAGE) -> SiteAnswer:
    form = aiohttp.FormData()
    form.add_field("file", io.BytesIO(content), filename="a.pdf", content_type="application/pdf")
    headers = {"X-Forwarded-For": address, "Accept": "text/html"}
    async with site.session.post(f"{site.base}/verify", data=form, headers=headers) as answer:
        return SiteAnswer(answer.status, answer.headers, await answer.read())


@pytest.mark.parametrize("act", ["create", "verify"])
async def test_a_busy_machine_makes_no_file_invalid(tmp_path: Path, act: str) -> None:
    async with a_crowd(tmp_path) as crowd:
        site = crowd.site
        body = a_body(b64(a_pdf())) if act == "create" else {"file": b64(a_pdf())}
        path = "/documents" if act == "create" else "/verify"
        before, site.runtime.pdf._wall_seconds = site.runtime.pdf._wall_seconds, 0.001
        answer = await site.ask("POST", path, body)
        assert (answer.status, answer.code) == (503, "unavailable")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        site.runtime.pdf._wall_seconds = before
        assert (await site.ask("POST", path, body)).status in (200, 201)


async def test_a_seal_that_a_busy_machine_did_not_finish_is_made_later(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        document = await site.api.send_document()
        await site.all_sign(document)
        before, site.runtime.pdf._wall_seconds = site.runtime.pdf._wall_seconds, 0.001
        await site.work("seal")
        seen = await site.api.get(document)
        assert seen["status"] == "sealing" and "busy" in seen["sealError"]
        site.runtime.pdf._wall_seconds = before
        clock.advance(minutes=10)
        await site.work("seal")
        assert await site.api.status(document) == "completed"


async def test_whoever_watches_is_told_that_work_is_turned_away(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        queue = site.runtime.pdf.queue
        queue.patience = 0.01
        turns = [QueueTurn(PdfJobKind.UPLOAD, str(n)) for n in range(4)]
        async with queue.place(turns[0]), queue.place(turns[1]), queue.place(turns[2]), queue.place(turns[3]):
            answer = await site.api.call("POST", "/documents", a_body(b64(a_pdf())))
            assert (answer.status, answer.code) == (503, "unavailable")
        async with site.session.get(f"{site.base}/readyz") as ready:
            assert ready.status == 200 and (await ready.json())["warnings"] == ["work on PDFs is turned away"]


async def test_slow_strangers_take_neither_the_places_of_keys_nor_those_of_other_strangers(
    tmp_path: Path,
) -> None:
    """Of more networks than strangers have places; each stops after the first of many mebibytes."""
    async with a_crowd(tmp_path, trusted_proxies=["127.0.0.1/32"]) as crowd:
        site = crowd.site
        slow = [await begin(site, f"198.51.100.{n}") for n in range(UPLOADS_OF_STRANGERS)]
        large = a_pdf() + b"\n" + b"%" * 3 * 2**20
        assert (await site.ask("POST", "/verify", {"file": b64(large)})).status == 200
        assert (await verify(site, "203.0.113.9", large)).status == 200, "one of the slow ones made room"
        told = await asyncio.wait_for(
            asyncio.wait(
                [asyncio.ensure_future(wire.read()) for wire in slow], return_when="FIRST_COMPLETED"
            ),
            10,
        )
        assert {task.result().status for task in told[0]} == {429}
        for task in told[1]:
            task.cancel()
        await asyncio.gather(*told[1], return_exceptions=True)
        for wire in slow:
            await wire.close()


async def begin(site: Site, address: str) -> Wire:
    """A stranger's form of which a little more than a mebibyte comes."""
    wire = await Wire.open(site.port)
    head = (
        "Content-Type: multipart/form-data; boundary=x",
        f"X-Forwarded-For: {address}",
        "Content-Length: 30000000",
        "Accept: text/html",
    )
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF'
    await wire.write(request("POST", "/verify", None, *head) + part + b"%" * (2**20 + 2**17))
    return wire
