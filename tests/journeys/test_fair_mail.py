"""Whatever the addresses of one organisation meet at the mail server, the mails of another leave at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from esign.jobs import schedule
from esign.mail.pool import compute_share
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.store.queue import mail_breaker
from tests.factories import an_organisation
from tests.fakes import FakeClock
from tests.journeys.api import Api
from tests.journeys.site import JourneySite
from tests.journeys.test_relay import ADA, readyz, site_at, until
from tests.mail.server import Server, serving

BAD = "bad.test"


@dataclass(frozen=True)
class Two:
    """A site of two organisations and one mail server; `hostile` is the API as the second uses it."""

    site: JourneySite
    server: Server
    hostile: Api

    async def flood(self, count: int, local: str = "somebody") -> None:
        for n in range(count):
            await self.hostile.send_document(recipients=[{"name": "X", "email": f"{local}{n}@{BAD}"}])

    def has(self, email: str) -> bool:
        return any(email in sent.rcpt_tos for sent in self.server.envelopes)

    async def reaches(self, email: str) -> None:
        """A mail of the first organisation is sent and arrives."""
        await self.site.api.send_document(recipients=[{**ADA, "email": email}])
        await until(lambda: self.has(email))


@asynccontextmanager
async def two(folder: Path, clock: FakeClock, server: Server) -> AsyncIterator[Two]:
    async with site_at(folder, clock, server.port) as site:
        hostile = await site.key()
        other = an_organisation(id="org_hostile")

        async def write(tx: Transaction) -> None:
            await organisations.add(tx, other)
            newest = "SELECT id FROM api_key ORDER BY created_at DESC, rowid DESC LIMIT 1"
            await tx.run(f"UPDATE api_key SET organisation_id = :id WHERE id = ({newest})", id=other.id)

        await site.runtime.db.write(write)
        assert (await hostile.ok("GET", "/account"))["organisation"]["id"] == other.id
        assert (await site.api.ok("GET", "/account"))["organisation"]["id"] != other.id
        yield Two(site, server, hostile)


@pytest.mark.parametrize(
    "said",
    ["450 4.1.2 no such domain", "451 4.7.1 greylisted", "452 4.2.2 full", "421 4.7.0 closing", "550 no"],
)
async def test_addresses_that_are_put_off_or_refused_hold_up_no_other_organisation(
    tmp_path: Path, clock: FakeClock, said: str
) -> None:
    async with serving() as server, two(tmp_path, clock, server) as at, schedule.run_jobs(at.site.runtime):
        server.of_domain[BAD] = said
        await at.flood(30)
        await until(lambda: len(server.asked) >= 8)
        for n in range(4):
            await at.reaches(f"ada{n}@example.test")
        assert await mail_breaker.find_stop(at.site.runtime.db) is None
        assert await readyz(at.site) == (200, "ok")


async def test_addresses_at_which_the_server_hangs_leave_connections_to_others(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with serving() as server, two(tmp_path, clock, server) as at, schedule.run_jobs(at.site.runtime):
        server.of_domain[BAD] = "hang"
        most = compute_share(at.site.runtime.config.mail.connections)
        await at.flood(2 * most)
        await until(lambda: len(server.asked) == most)
        for n in range(4):
            await at.reaches(f"ada{n}@example.test")


async def test_addresses_at_which_the_server_breaks_off_hold_up_no_other_organisation(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with serving() as server, two(tmp_path, clock, server) as at, schedule.run_jobs(at.site.runtime):
        server.of_domain[BAD] = "drop"
        await at.flood(30)
        await until(lambda: len(server.asked) >= 8)
        await at.reaches("ada@example.test")


@pytest.mark.parametrize("said", ["553 5.6.7 not that", "451 4.3.0 not now", "452 4.3.1 no room"])
async def test_what_is_refused_for_what_a_mail_asks_for_does_not_stop_the_others(
    tmp_path: Path, clock: FakeClock, said: str
) -> None:
    async with (
        serving(says={"smtputf8": said}, enable_SMTPUTF8=True) as server,
        two(tmp_path, clock, server) as at,
        schedule.run_jobs(at.site.runtime),
    ):
        await at.flood(12, "müller")
        await at.reaches("ada@example.test")
        assert await mail_breaker.find_stop(at.site.runtime.db) is None
        assert (await readyz(at.site))[0] == 200


async def test_after_an_outage_addresses_that_are_put_off_do_not_keep_the_mails_of_others_waiting(
    tmp_path: Path, clock: FakeClock
) -> None:
    says = {"mail": "451 4.3.0 later"}
    async with serving(says=says) as server, two(tmp_path, clock, server) as at:
        server.of_domain[BAD] = "450 4.1.2 no such domain"
        await at.flood(40)
        await at.site.api.send_document(recipients=[ADA])
        await at.site.work("mail")
        assert await mail_breaker.find_stop(at.site.runtime.db) is not None
        says.clear()
        clock.advance(minutes=1)
        await at.site.work("mail")
        assert at.has(ADA["email"])
        assert len(server.asked) <= 1 + 8, "it is not asked for each of the others"


async def test_what_one_organisation_is_put_off_is_asked_once_a_minute_and_leaves_at_once_when_taken(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with serving() as server, two(tmp_path, clock, server) as at:
        server.of_domain[BAD] = "451 4.7.1 greylisted"
        await at.flood(20)
        await at.site.work("mail")
        assert len(server.asked) == 8
        for minute in range(1, 4):
            clock.advance(minutes=1)
            await at.site.work("mail")
            assert len(server.asked) == 8 + minute
        server.of_domain.clear()
        clock.advance(minutes=1)
        await at.site.work("mail")
        assert len(server.envelopes) == 20


async def test_a_flood_of_one_organisation_takes_turns_with_every_other(
    tmp_path: Path, clock: FakeClock
) -> None:
    """However much of it waits already, and goes on to come."""
    async with serving() as server, two(tmp_path, clock, server) as at:
        await at.flood(40)
        await at.site.api.send_document(recipients=[ADA])
        await at.flood(40)
        async with schedule.run_jobs(at.site.runtime):
            await until(lambda: at.has(ADA["email"]))
            before = [sent.rcpt_tos[0] for sent in server.envelopes].index(ADA["email"])
        assert before <= 16, "no more than were under way"
