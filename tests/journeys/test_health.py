"""`/healthz` and `/readyz`: for machines that watch, without a key and without secrets."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from esign.core.instant import HOUR
from esign.jobs import worker
from esign.mail.failure import TemporaryFailure
from esign.store.engine import write_ahead_log
from esign.store.engine.connections import FILE
from esign.store.engine.database import Transaction
from tests.fakes import FakeClock, FakeMailbox
from tests.journeys.api import until
from tests.journeys.site import JourneySite


async def ask(site: JourneySite, path: str, **headers: str) -> tuple[int, Any]:
    async with site.session.get(f"{site.base}{path}", headers=headers) as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return answer.status, json.loads(await answer.read())


async def readiness(site: JourneySite, *, warned: bool) -> Any:
    """What `/readyz` says, once it warns or no longer does; asking writes."""
    _, said = await ask(site, "/readyz")
    return said if ("warnings" in said) is warned else None


async def test_a_living_server_says_ok_and_nothing_more(site: JourneySite) -> None:
    assert await ask(site, "/healthz") == (200, {"status": "ok"})


async def test_a_server_that_has_all_it_needs_is_ready_and_names_each_part(site: JourneySite) -> None:
    parts = ("database", "storage", "signer", "mailer", "queue", "loops")
    assert await ask(site, "/readyz") == (200, {"status": "ok", "checks": dict.fromkeys(parts, "ok")})


async def test_whoever_watches_may_ask_by_any_host_name(site: JourneySite) -> None:
    assert (await ask(site, "/healthz", Host="10.1.2.3"))[0] == 200
    assert (await ask(site, "/readyz", Host="anything.example"))[0] == 200


async def test_an_expired_seal_certificate_makes_a_server_unready(
    site: JourneySite, clock: FakeClock
) -> None:
    clock.advance(days=4000)
    status, said = await ask(site, "/readyz")
    assert (status, said["status"]) == (503, "failed")
    assert said["checks"]["signer"] == "seal certificate not valid"
    assert said["checks"]["database"] == "ok"


async def test_a_mail_server_that_takes_nothing_makes_a_server_unready_until_it_takes_one(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    post = replace(site.runtime, mail=mailbox)
    mailbox.failure = TemporaryFailure("421 not now")
    await site.api.send_document()
    for minutes in (1, 2, 5):
        assert (await ask(site, "/readyz"))[0] == 200
        assert await worker.drain_jobs(post, "mail") == 1
        clock.advance(minutes=minutes)
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["mailer"]) == (503, "mails are not taken")
    mailbox.failure = None
    assert await worker.drain_jobs(post, "mail") == 1
    assert (await ask(site, "/readyz"))[0] == 200


async def test_a_mail_that_one_address_refuses_for_now_does_not(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    post = replace(site.runtime, mail=mailbox)
    mailbox.failure = TemporaryFailure("450 mailbox busy")
    await site.api.send_document()
    for minutes in (1, 2, 5):
        await worker.drain_jobs(post, "mail")
        clock.advance(minutes=minutes)
    await site.runtime.db.write(lambda tx: tx.run("UPDATE outbox SET due_at = due_at + :by", by=HOUR))
    mailbox.failure = None
    await site.api.send_document()
    assert await worker.drain_jobs(post, "mail") == 1
    assert (await ask(site, "/readyz"))[0] == 200


async def test_a_log_that_a_long_reader_keeps_growing_is_a_warning_until_it_ends(
    site: JourneySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_ahead_log, "LARGE_LOG", 2**20)
    monkeypatch.setattr(write_ahead_log, "CHECKPOINT_PAGES", 10)
    monkeypatch.setattr(write_ahead_log, "TRUNCATE_SECONDS", 0)

    async def write(tx: Transaction) -> None:
        await tx.run("CREATE TABLE IF NOT EXISTS much (content BLOB) STRICT")
        await tx.run("INSERT INTO much VALUES (zeroblob(4194304))")

    with closing(sqlite3.connect(site.runtime.config.storage.data_dir / FILE, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM sqlite_master").fetchone()
        await site.runtime.db.write(write)
        said = await until(lambda: readiness(site, warned=True), "warning")
        (warning,) = said["warnings"]
        assert said["status"] == "ok"
        assert re.match(r"the log of the database has grown to \d+ MiB: for 0 minutes", warning)
    await until(lambda: readiness(site, warned=False), "end of the warning")


async def test_work_that_nobody_does_makes_a_server_unready(site: JourneySite, clock: FakeClock) -> None:
    await site.api.send_document()
    clock.advance(minutes=1)
    assert (await ask(site, "/readyz"))[0] == 200
    clock.advance(minutes=1)
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["queue"]) == (503, "ok")
    assert said["checks"]["mailer"] == "no mail left in the last minute, although some wait"
    clock.advance(minutes=9)
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["queue"]) == (503, "work is late")
