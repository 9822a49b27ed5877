"""`/healthz` and `/readyz`: for machines that watch, without a key and without secrets."""

import json
from dataclasses import replace
from typing import Any

from esign.core.instant import HOUR
from esign.jobs import worker
from esign.mail.failure import TemporaryFailure
from tests.fakes import FakeClock, FakeMailbox
from tests.journeys.site import Site


async def ask(site: Site, path: str, **headers: str) -> tuple[int, Any]:
    async with site.session.get(f"{site.base}{path}", headers=headers) as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return answer.status, json.loads(await answer.read())


async def test_a_living_server_says_ok_and_nothing_more(site: Site) -> None:
    assert await ask(site, "/healthz") == (200, {"status": "ok"})


async def test_a_server_that_has_all_it_needs_is_ready_and_names_each_part(site: Site) -> None:
    parts = ("database", "storage", "signer", "mailer", "queue")
    assert await ask(site, "/readyz") == (200, {"status": "ok", "checks": dict.fromkeys(parts, "ok")})


async def test_whoever_watches_may_ask_by_any_host_name(site: Site) -> None:
    assert (await ask(site, "/healthz", Host="10.1.2.3"))[0] == 200
    assert (await ask(site, "/readyz", Host="anything.example"))[0] == 200


async def test_an_expired_seal_certificate_makes_a_server_unready(site: Site, clock: FakeClock) -> None:
    clock.advance(days=4000)
    status, said = await ask(site, "/readyz")
    assert (status, said["status"]) == (503, "failed")
    assert said["checks"]["signer"] == "seal certificate not valid"
    assert said["checks"]["database"] == "ok"


async def test_a_mail_server_that_takes_nothing_makes_a_server_unready_until_it_takes_one(
    site: Site, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    post = replace(site.runtime, mail=mailbox)
    mailbox.failure = TemporaryFailure("421 not now")
    await site.api.sent()
    for minutes in (1, 2, 5):
        assert (await ask(site, "/readyz"))[0] == 200
        assert await worker.drain(post, "mail") == 1
        clock.advance(minutes=minutes)
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["mailer"]) == (503, "mails are not taken")
    mailbox.failure = None
    assert await worker.drain(post, "mail") == 1
    assert (await ask(site, "/readyz"))[0] == 200


async def test_a_mail_that_one_address_refuses_for_now_does_not(
    site: Site, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    post = replace(site.runtime, mail=mailbox)
    mailbox.failure = TemporaryFailure("450 mailbox busy")
    await site.api.sent()
    for minutes in (1, 2, 5):
        await worker.drain(post, "mail")
        clock.advance(minutes=minutes)
    await site.runtime.db.write(lambda tx: tx.run("UPDATE outbox SET due_at = due_at + :by", by=HOUR))
    mailbox.failure = None
    await site.api.sent()
    assert await worker.drain(post, "mail") == 1
    assert (await ask(site, "/readyz"))[0] == 200


async def test_work_that_nobody_does_makes_a_server_unready(site: Site, clock: FakeClock) -> None:
    await site.api.sent()
    clock.advance(minutes=5)
    assert (await ask(site, "/readyz"))[0] == 200
    clock.advance(minutes=6)
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["queue"]) == (503, "work is late")
