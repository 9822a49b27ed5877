"""A disk that is nearly full: who signs goes on, who brings something new waits, and all is well again by itself."""

import asyncio
import fcntl
import sqlite3
from pathlib import Path

import pytest

from esign import app
from esign.jobs import schedule
from esign.jobs import watch_disk as ticking
from tests.journeys.api import a_request, until
from tests.journeys.site import JourneySite, a_site


async def test_signing_sealing_and_downloading_go_on_while_uploads_wait(site: JourneySite) -> None:
    room = site.runtime.room
    before, document = room.spare, await site.api.send_document()
    draft = (await site.api.ok("POST", "/documents", a_request()))["id"]
    room.spare = 2**62
    for path, body in (("/documents", a_request()), (f"/documents/{document}/duplicate", {})):
        answer = await site.api.call("POST", path, body)
        assert (answer.status, answer.code) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) == 60
        assert "nearly full" in answer.body["error"]["message"]
    status, said = await ready(site)
    assert (status, said["checks"]["storage"]) == (503, "disk full")

    await site.all_sign(document)
    await site.work("seal")
    shown = await site.api.get(document)
    assert shown["status"] == "completed"
    sealed = await site.api.call("GET", f"/documents/{document}/files/sealed", Accept="application/pdf")
    assert sealed.status == 200 and sealed.content.startswith(b"%PDF")

    await site.api.ok("POST", f"/documents/{draft}/send", {})

    room.spare = before
    assert (await site.api.call("POST", "/documents", a_request())).status == 201
    assert (await ready(site))[0] == 200


async def ready(site: JourneySite) -> tuple[int, dict[str, dict[str, str]]]:
    async with site.session.get(f"{site.base}/readyz") as answer:
        return answer.status, await answer.json()


async def test_a_write_that_finds_no_room_releases_the_reserve(site: JourneySite) -> None:
    reserve = site.runtime.config.storage.data_dir / "reserve"
    await ticking.tick(site.runtime)
    assert reserve.exists()

    async def fill(tx: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with pytest.raises(Exception, match="unavailable"):
        await site.runtime.db.write(fill)
    assert not reserve.exists()
    assert await site.runtime.db.one("SELECT 1 AS one") is not None


async def test_what_runs_by_itself_says_in_a_sentence_that_nothing_can_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_site(tmp_path / "data", working=True) as site:
        with (tmp_path / "data" / "write.lock").open("r+b") as other:
            # In a thread: a write of the site may hold the lock, and needs this event loop to end.
            await asyncio.to_thread(fcntl.flock, other, fcntl.LOCK_EX)
            ticks = [
                asyncio.create_task(schedule.repeat_tick(site.runtime, each.tick, 3600))
                for each in schedule.TICKS
            ]
            await app.invite_owner(site.runtime)

            async def is_told() -> bool | None:
                return sum("had to wait" in record.message for record in caplog.records) >= 3 or None

            await until(is_told, "words about the ticks")
            fcntl.flock(other, fcntl.LOCK_UN)
        for task in ticks:
            task.cancel()
        await asyncio.gather(*ticks, return_exceptions=True)
    assert "the link for the first owner can't be stored; free some disk space" in caplog.text
    assert not [record for record in caplog.records if record.exc_info]
