"""A mail server that is away, hangs, refuses or slows down: asked once a minute, and nothing is lost or charged."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from esign.core.instant import HOUR, MINUTE
from esign.core.mail_urgency import Urgency
from esign.jobs import schedule
from esign.mail.smtp import SmtpServer
from esign.store.queue import due_jobs, mail_breaker, outbox
from esign.store.queue.due_jobs import MailTimes
from esign.store.queue.outbox import NewJob
from tests.certificates import make_pair
from tests.fakes import FakeClock
from tests.journeys.site import JourneySite, a_site
from tests.mail.server import PASSWORD, USER, Server, authenticate, serving
from tests.ports import reserve_port

ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}


@dataclass
class Listener:
    """Something on a port that counts who comes, and says `greeting` and nothing else."""

    port: int
    greeting: bytes = b""
    connections: int = 0


@contextlib.asynccontextmanager
async def listening(port: int, greeting: bytes = b"") -> AsyncIterator[Listener]:
    listener, open_ones = Listener(port, greeting), set[asyncio.StreamWriter]()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        open_ones.add(writer)
        with contextlib.suppress(ConnectionError):
            writer.write(greeting)
            await reader.read()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port)
    try:
        yield listener
    finally:
        server.close()
        for writer in open_ones:
            writer.transport.abort()
        await server.wait_closed()


@contextlib.asynccontextmanager
async def site_at(folder: Path, clock: FakeClock, port: int, **options: Any) -> AsyncIterator[JourneySite]:
    """A site whose mails go to a port; `options` are those of `Smtp`."""
    mail = {"host": "127.0.0.1", "port": port, "security": "none", "from": "Fernhill <sign@fernhill.example>"}
    async with a_site(folder / "data", clock, mail=mail) as site:
        if not options:
            yield site
            return
        post = SmtpServer("127.0.0.1", port, "none", **options)
        try:
            yield replace(site, runtime=replace(site.runtime, mail=post))
        finally:
            await post.close()


async def readyz(site: JourneySite) -> tuple[int, str]:
    async with site.session.get(f"{site.base}/readyz") as answer:
        return answer.status, json.loads(await answer.read())["checks"]["mailer"]


async def until(happens: Callable[[], bool], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not happens():  # noqa: ASYNC110  (what happens at a server rings no bell)
            await asyncio.sleep(0.01)


async def attempts(site: JourneySite) -> set[int]:
    return {
        row["attempts"]
        for row in await site.runtime.db.all("SELECT attempts FROM outbox WHERE kind = 'mail'")
    }


# ---------- the breaker ----------


@pytest.mark.parametrize("greeting", [None, b"", b"421 4.3.2 shutting down\r\n", b"554 go away\r\n"])
async def test_a_server_that_takes_nothing_is_asked_once_a_minute_however_many_mails_wait(
    tmp_path: Path, clock: FakeClock, greeting: bytes | None
) -> None:
    port = reserve_port()
    async with contextlib.AsyncExitStack() as stack:
        site = await stack.enter_async_context(site_at(tmp_path, clock, port, step=0.2))
        listener = (
            await stack.enter_async_context(listening(port, greeting)) if greeting is not None else None
        )
        for _ in range(12):
            await site.api.send_document(recipients=[ADA])
        for minute in range(5):
            assert await site.work("mail") == 1
            assert await site.work("mail") == 0
            if listener is not None:
                assert listener.connections == minute + 1
            clock.advance(minutes=1)
        assert await attempts(site) == {0}, "what waits is not charged"
        status, said = await readyz(site)
        assert status == 503
        assert said == "no mail leaves since 2026-11-21T00:00:00.000Z: the mail server takes no mail"


async def test_as_soon_as_one_mail_is_taken_all_that_wait_leave(tmp_path: Path, clock: FakeClock) -> None:
    port = reserve_port()
    async with site_at(tmp_path, clock, port) as site:
        for _ in range(20):
            await site.api.send_document(recipients=[ADA])
        await site.work("mail")
        clock.advance(hours=30)
        async with serving(port=port) as server:
            assert await site.work("mail") == 20
            assert len(server.envelopes) == 20
            assert await readyz(site) == (200, "ok")


async def test_mails_with_a_later_slot_are_due_too_when_the_server_is_back(
    tmp_path: Path, clock: FakeClock
) -> None:
    port = reserve_port()
    async with site_at(tmp_path, clock, port) as site:
        for _ in range(5):
            await site.api.send_document(recipients=[ADA])
        await site.runtime.db.write(
            lambda tx: tx.run("UPDATE outbox SET due_at = due_at + :later WHERE id > 1", later=HOUR)
        )
        await site.work("mail")
        clock.advance(minutes=1)
        async with serving(port=port) as server:
            assert await site.work("mail") == 5
            assert len(server.envelopes) == 5


async def test_a_restart_does_not_forget_since_when_mail_stands_still_and_asks_at_once(
    tmp_path: Path, clock: FakeClock
) -> None:
    port = reserve_port()
    async with site_at(tmp_path, clock, port) as site:
        await site.api.send_document(recipients=[ADA])
        await site.work("mail")
    clock.advance(seconds=10)
    async with site_at(tmp_path, clock, port) as site:
        assert (await readyz(site))[1].startswith("no mail leaves since 2026-11-21T00:00:00.000Z")
        async with serving(port=port) as server, schedule.run_jobs(site.runtime):
            await until(lambda: len(server.envelopes) == 1)


async def test_a_login_that_is_refused_pauses_the_queue_and_alerts(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    pair = make_pair(tmp_path)
    async with (
        serving(pair.server, authenticator=authenticate, auth_required=True) as server,
        site_at(tmp_path, clock, server.port) as site,
    ):
        wrong = SmtpServer("localhost", server.port, "starttls", USER, "wrong", trust=pair.client)
        barred = replace(site, runtime=replace(site.runtime, mail=wrong))
        for _ in range(5):
            await site.api.send_document(recipients=[ADA])
        for _ in range(14):
            await barred.work("mail")
            clock.advance(minutes=1)
        assert server.connections == 1, "an account is not tried until the server locks it"
        assert await attempts(site) == {0}
        status, said = await readyz(site)
        assert (status, said) == (
            503,
            "no mail leaves since 2026-11-21T00:00:00.000Z: the mail server does not take the user name or password",
        )
        [alert] = [r for r in caplog.records if r.name == "esign.mail" and r.levelname == "ERROR"]
        assert "check its user name and password" in alert.getMessage()
        clock.advance(minutes=1)
        right = SmtpServer("localhost", server.port, "starttls", USER, PASSWORD, trust=pair.client)
        await replace(site, runtime=replace(site.runtime, mail=right)).work("mail")
        assert len(server.envelopes) == 5


@pytest.mark.parametrize("step", ["mail", "rcpt", "data"])
async def test_a_server_that_puts_off_every_mail_is_left_alone_and_then_gets_all(
    tmp_path: Path, clock: FakeClock, step: str
) -> None:
    async with (
        serving(says={step: "451 4.7.1 too many mails"}) as server,
        site_at(tmp_path, clock, server.port) as site,
    ):
        for _ in range(30):
            await site.api.send_document(recipients=[ADA])
        first = await site.work("mail")
        assert first <= 8, "it is not asked for each of them"
        assert (await readyz(site))[0] == 503
        clock.advance(minutes=1)
        assert await site.work("mail") == 1
        server.says.clear()
        clock.advance(minutes=1)
        await site.work("mail")
        assert len(server.envelopes) == 30


async def test_one_address_that_is_put_off_holds_up_nobody_else(tmp_path: Path, clock: FakeClock) -> None:
    async with (
        serving(says={"rcpt": "450 4.2.0 greylisted"}) as server,
        site_at(tmp_path, clock, server.port) as site,
    ):
        for _ in range(3):
            await site.api.send_document(recipients=[ADA])
        await site.work("mail")
        server.says.clear()
        await site.api.send_document(recipients=[ADA])
        assert await site.work("mail") == 1
        assert await mail_breaker.find_stop(site.runtime.db) is None


async def test_a_mail_at_which_the_server_breaks_off_does_not_hold_up_the_others(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with serving() as server, site_at(tmp_path, clock, server.port) as site:
        await site.api.send_document(recipients=[{**ADA, "email": "poison@example.test"}])
        for _ in range(5):
            await site.api.send_document(recipients=[ADA])
        server.breaks_off_at = "poison@example.test"
        for _ in range(3):
            await site.work("mail")
            clock.advance(minutes=1)
        assert len(server.envelopes) == 5


# ---------- connections ----------


async def test_connections_are_kept_and_used_again_and_never_more_than_allowed(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with serving() as server:
        for_it = site_at(tmp_path, clock, server.port, connections=3, keep=20.0)
        async with for_it as site:
            for _ in range(40):
                await site.api.send_document(recipients=[ADA])
            async with schedule.run_jobs(site.runtime):
                await until(lambda: len(server.envelopes) == 40)
            assert server.connections <= 3 and server.most_open <= 3


async def test_a_server_that_closed_a_kept_connection_gets_the_mail_over_a_new_one(
    tmp_path: Path, clock: FakeClock
) -> None:
    port = reserve_port()
    async with site_at(tmp_path, clock, port, connections=2, keep=20.0) as site:
        for number in range(3):
            async with serving(port=port, timeout=0.2) as server:
                await site.api.send_document(recipients=[ADA])
                assert await site.work("mail") == 1, number
                assert len(server.envelopes) == 1
                await until(lambda: server.open == 0)
        assert await mail_breaker.find_stop(site.runtime.db) is None


async def test_a_server_that_allows_two_connections_gets_every_mail_over_two(
    tmp_path: Path, clock: FakeClock
) -> None:
    says = {"connect": "421 4.7.0 too many connections from you"}
    async with (
        serving(says=says, limit=2) as server,
        site_at(tmp_path, clock, server.port, connections=8, keep=20.0) as site,
    ):
        for _ in range(30):
            await site.api.send_document(recipients=[ADA])
        async with schedule.run_jobs(site.runtime):
            await until(lambda: len(server.envelopes) == 30)
        assert await mail_breaker.find_stop(site.runtime.db) is None
        assert server.connections <= 10


# ---------- who comes first ----------


async def kinds(server: Server) -> list[str]:
    return [message["Subject"].split(":")[0] for message in server.messages]


async def test_a_code_overtakes_everything_that_waits(tmp_path: Path, clock: FakeClock) -> None:
    port = reserve_port()
    async with site_at(tmp_path, clock, port) as site:
        await site.api.send_document(recipients=[{**ADA, "authentication": "email_code"}])
        async with serving(port=port) as server:
            await site.work("mail")
            link = await site_link(site, server)
        for _ in range(30):
            await site.api.send_document(recipients=[ADA])
        assert (await link.send_code()).status == 200
        clock.advance(milliseconds=1 - clock.now() % 8)  # not the turn of the oldest
        async with serving(port=port) as server:
            await site.work("mail")
            assert "code" in server.messages[0]["Subject"].casefold()
            assert len(server.messages) == 31


async def site_link(site: JourneySite, server: Server) -> Any:
    from tests.journeys.api import Person
    from tests.journeys.letters import link_in

    link = link_in(server.messages[0])
    assert link is not None
    return Person(site.session, link)


async def test_the_order_is_by_urgency_without_starving_the_rest(site: JourneySite) -> None:
    db, now = site.runtime.db, site.runtime.clock.now()
    for n in range(40):
        await db.write(
            lambda tx, n=n: outbox.add(tx, NewJob("mail", f"news:{n}", urgency=Urgency.NEWS), now + n)  # type: ignore[misc]
        )
    for n in range(40):
        await db.write(
            lambda tx, n=n: outbox.add(
                tx, NewJob("mail", f"code:{n}", urgency=Urgency.AWAITED), now + MINUTE + n
            )  # type: ignore[misc]
        )
    chosen = await due_jobs.find_due_mails(db, MailTimes(now + HOUR, now + HOUR), 16, 1, 16)
    rows = {row["id"]: row["key"] for row in await db.all("SELECT id, key FROM outbox")}
    keys = [rows[one] for one in chosen]
    assert [key.partition(":")[0] for key in keys].count("news") == 2
    assert keys[0] == "code:39" and keys[1] == "code:0", "the newest and the oldest take turns"
    assert "news:0" in keys and "news:1" in keys


async def test_each_choice_of_one_is_a_choice_too(site: JourneySite) -> None:
    db, now = site.runtime.db, site.runtime.clock.now()
    await db.write(lambda tx: outbox.add(tx, NewJob("mail", "old", urgency=Urgency.NEWS), now))
    await db.write(lambda tx: outbox.add(tx, NewJob("mail", "code", urgency=Urgency.AWAITED), now + 1))
    chosen = [await due_jobs.find_due_mails(db, MailTimes(now + 1, now + 1), 1, turn, 6) for turn in range(8)]
    assert chosen.count([2]) == 7 and chosen.count([1]) == 1
