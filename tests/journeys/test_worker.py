"""The loop that works off the queue: what runs when the program ends, and what nobody foresaw."""

import asyncio
import fcntl
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

import pytest

from esign.core.errors import Problem
from esign.core.instant import SECOND
from esign.jobs import worker
from esign.mail.smtp import AcceptedMail
from esign.runtime import Runtime
from esign.store.engine.database import Database
from tests.fakes import FakeClock
from tests.journeys.api import until
from tests.journeys.site import JourneySite, a_site

MAIL = next(kind for kind in worker.KINDS if kind.name == "mail")


class SlowRelay:
    """A mail server that takes a mail when it is told to."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    async def send(self, message: EmailMessage, lane: str = "") -> AcceptedMail:
        self.asked.set()
        await self.go_on.wait()
        return AcceptedMail("250 taken")


class Full:
    """A database whose disk is full."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    async def write(self, write: Any) -> Any:
        raise Problem("unavailable")


async def state(runtime: Runtime) -> tuple[str, str | None]:
    row = await runtime.db.one("SELECT state, boot FROM outbox WHERE kind = 'mail'")
    assert row is not None
    return row["state"], row["boot"]


async def test_what_runs_when_the_program_ends_comes_to_its_end_and_is_not_done_twice(
    site: JourneySite,
) -> None:
    slow = SlowRelay()
    runtime = replace(site.runtime, mail=slow)
    await site.api.send_document()
    working = asyncio.create_task(worker.run(runtime, MAIL))
    await asyncio.wait_for(slow.asked.wait(), 10)
    working.cancel()
    await asyncio.sleep(0)
    slow.go_on.set()
    await asyncio.gather(working, return_exceptions=True)
    assert await state(runtime) == ("done", None)


async def test_what_does_not_end_is_cut_off_and_due_again_at_the_next_start(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LAST_SECONDS", 0.05)
    async with a_site(tmp_path / "data", clock) as site:
        slow = SlowRelay()
        await site.api.send_document()
        working = asyncio.create_task(worker.run(replace(site.runtime, mail=slow), MAIL))
        await asyncio.wait_for(slow.asked.wait(), 10)
        working.cancel()
        await asyncio.wait_for(asyncio.gather(working, return_exceptions=True), 10)
        assert await state(site.runtime) == ("pending", site.runtime.boot)
    async with a_site(tmp_path / "data", clock) as site:
        await worker.recover_jobs(site.runtime)
        assert await site.work("mail") == 1


async def test_a_job_whose_failure_cannot_be_written_down_is_due_when_its_lease_ends(
    site: JourneySite,
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "LEASE_LEFT", SECOND)
    await site.api.send_document()
    kind = replace(MAIL, lease=2 * SECOND)
    [job] = await worker.claim_due(site.runtime, kind, 1)
    await worker.attempt(replace(site.runtime, db=cast(Any, Full(site.runtime.db))), kind, job)
    assert "waits for the end of its lease" in caplog.text
    assert await site.work("mail") == 0
    clock.advance(milliseconds=kind.lease)
    assert await site.work("mail") == 1


async def test_a_failure_is_written_down_as_soon_as_something_can_be_written_again(
    site: JourneySite, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    await site.api.send_document()
    [job] = await worker.claim_due(site.runtime, MAIL, 1)
    with (site.runtime.config.storage.data_dir / "write.lock").open("r+b") as other:
        await asyncio.to_thread(fcntl.flock, other, fcntl.LOCK_EX)
        trying = asyncio.create_task(worker.attempt(site.runtime, MAIL, job))

        async def is_told() -> bool | None:
            return f"job {job.id} cannot be postponed yet" in caplog.text or None

        await until(is_told, "words about the job")
        fcntl.flock(other, fcntl.LOCK_UN)
    await asyncio.wait_for(trying, 30)
    assert await state(site.runtime) == ("pending", None)
    clock.advance(milliseconds=worker.UNSTORED[0])
    assert await site.work("mail") == 1
    assert (await state(site.runtime))[0] == "done"
