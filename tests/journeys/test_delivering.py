"""Many deliveries at once, by the worker itself: what one webhook may take, and what it must not hold up."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from esign.actions.webhook import deliver_events
from esign.core.actor import Mode
from esign.core.instant import SECOND
from esign.core.webhook.webhook import make_template_payload
from esign.jobs import deliver_webhooks
from esign.store.document import outcomes
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Row, Transaction
from esign.store.people import organisations
from esign.system.clock import Clock, SystemClock
from tests.factories import a_template, an_organisation
from tests.journeys.api import Api, a_session, until
from tests.journeys.program import Program, configuration, meanwhile
from tests.journeys.receiver import Receiver
from tests.journeys.site import JourneySite, a_site
from tests.steady import SteadyClock

SLOW, QUICK = "template.created", "template.updated"


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[JourneySite]:
    """A server that works by itself and whose clock goes on by itself."""
    async with a_site(tmp_path / "data", SteadyClock(), working=True) as site:
        yield site


async def publish(
    db: Database, clock: Clock, number: int, *types: str, organisation: str | None = None
) -> None:
    """So many events of each type, in one transaction."""
    row, now = await db.one("SELECT id FROM organisation ORDER BY created_at"), clock.now()
    assert row is not None
    owner = organisation or row["id"]

    async def write(tx: Transaction) -> None:
        for n in range(number):
            for type in types:
                body = make_template_payload(type, now, f"evt_{type[9:]}_{n:04}_{now}", a_template())
                await outcomes.announce(tx, body, owner, Mode.LIVE, now)

    await db.write(write)


async def happen(site: JourneySite, number: int, *types: str) -> None:
    """The same at a site, whose workers hear of it."""
    await publish(site.runtime.db, site.runtime.clock, number, *types)
    site.runtime.bell.ring()


async def claimed_ahead(site: JourneySite, number: int) -> None:
    """That so many are claimed, though most of them cannot be under way yet."""

    async def is_claimed() -> bool | None:
        site.runtime.bell.ring()
        rows = await site.runtime.db.all("SELECT 1 FROM delivery WHERE boot IS NOT NULL")
        return len(rows) == number or None

    await until(is_claimed, f"{number} claims")


async def all_came(receiver: Receiver, number: int) -> None:
    async def enough() -> bool | None:
        return len({d.id for d in receiver.came}) >= number or None

    await until(enough, f"{number} deliveries, only {len(receiver.came)}")


class Door:
    """Counts how many stand in it at once, and lets them out when told."""

    def __init__(self) -> None:
        self.inside = self.most = self.came = 0
        self.open = asyncio.Event()

    async def take(self, request: web.Request) -> web.Response:
        self.inside += 1
        self.came += 1
        self.most = max(self.most, self.inside)
        try:
            await self.open.wait()
        finally:
            self.inside -= 1
        return web.Response(status=204)


@asynccontextmanager
async def listening(take: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    """A receiver that answers like this; its address."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", take)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


@pytest.fixture
async def door() -> AsyncIterator[tuple[Door, str]]:
    door = Door()
    async with listening(door.take) as url:
        yield door, url
        door.open.set()


async def test_a_slow_webhook_has_four_at_once_and_holds_up_no_other(
    live: JourneySite, receiver: Receiver, door: tuple[Door, str]
) -> None:
    slow, url = door
    hook = await live.api.webhook(url, SLOW)
    await live.api.webhook(receiver.url, QUICK)
    await happen(live, 30, SLOW, QUICK)
    await all_came(receiver, 30)
    await claimed_ahead(live, 20)
    assert (slow.inside, slow.most) == (4, 4)
    slow.open.set()

    async def is_done() -> bool | None:
        page = await live.api.ok("GET", f"/webhooks/{hook['id']}/deliveries?status=succeeded&limit=100")
        return len(page["data"]) == 30 or None

    await until(is_done, "slow deliveries")
    assert slow.most == 4


async def test_webhooks_of_one_organisation_that_hang_hold_up_none_of_another(
    live: JourneySite, receiver: Receiver, door: tuple[Door, str]
) -> None:
    """As many as it may have, more than are tried at once in all, and more events than are claimed in all."""
    slow, url = door
    hook = await live.api.webhook(receiver.url, QUICK)
    for _ in range(19):
        await live.api.webhook(url, SLOW)
    await happen(live, 40, SLOW)
    await claimed_ahead(live, deliver_webhooks.CLAIMED_SHARE)

    async def full() -> bool | None:
        return slow.inside == deliver_webhooks.SHARE or None

    await until(full, "attempts")
    other = an_organisation(id="org_other")
    await live.runtime.db.write(lambda tx: organisations.add(tx, other))

    async def move(tx: Transaction) -> None:
        await tx.run(
            "UPDATE webhook SET organisation_id = :other WHERE id = :id", other=other.id, id=hook["id"]
        )

    await live.runtime.db.write(move)
    for number in range(1, 4):
        await publish(live.runtime.db, live.runtime.clock, 1, QUICK, organisation=other.id)
        live.runtime.bell.ring()
        await all_came(receiver, number)
    assert slow.inside == deliver_webhooks.SHARE
    slow.open.set()


async def test_how_many_at_once_is_a_setting(tmp_path: Path, door: tuple[Door, str]) -> None:
    slow, url = door
    tables = {"webhooks": {"attempts_at_once": 2}}
    async with a_site(tmp_path / "data", SystemClock(), working=True, **tables) as site:
        await site.api.webhook(url, SLOW)
        await happen(site, 10, SLOW)

        async def two() -> bool | None:
            return slow.inside == 2 or None

        await until(two, "attempts")
        await claimed_ahead(site, 10)
        assert slow.most == 2
        slow.open.set()


async def test_hundreds_are_each_delivered_once_and_started_in_their_order(
    live: JourneySite, receiver: Receiver
) -> None:
    hooks = [await live.api.webhook(f"{receiver.url}/{n}", QUICK) for n in range(5)]
    await happen(live, 100, QUICK)

    async def is_done() -> bool | None:
        left = await live.runtime.db.all("SELECT 1 FROM delivery WHERE status <> 'succeeded'")
        return not left or None

    await until(is_done, "500 deliveries")
    assert len(receiver.came) == 500 and set(Counter(d.id for d in receiver.came).values()) == {5}
    for hook in hooks:
        numbers = await live.runtime.db.all(
            "SELECT attempt.delivery FROM attempt JOIN delivery ON delivery.number = attempt.delivery"
            " WHERE delivery.webhook_id = :id ORDER BY attempt.at, attempt.delivery",
            id=hook["id"],
        )
        order = [row["delivery"] for row in numbers]
        assert order == sorted(order)


async def test_a_retry_leaves_when_it_is_due_and_not_at_the_next_sweep(
    live: JourneySite, receiver: Receiver
) -> None:
    hook = await live.api.webhook(receiver.url, QUICK)
    receiver.always(500)
    await happen(live, 1, QUICK)
    await all_came(receiver, 1)
    receiver.always(200)

    async def again() -> list[Row] | None:
        made = await live.runtime.db.all("SELECT at FROM attempt ORDER BY number")
        return made if len(made) == 2 else None

    first, second = await until(again, "second attempt")
    assert 4.5 * SECOND <= second["at"] - first["at"] <= 6.5 * SECOND
    [delivery] = (await live.api.ok("GET", f"/webhooks/{hook['id']}/deliveries"))["data"]
    whole = await live.api.ok("GET", f"/webhooks/{hook['id']}/deliveries/{delivery['id']}")
    assert [attempt["statusCode"] for attempt in whole["attempts"]] == [500, 200]


async def test_a_webhook_that_is_deleted_switched_off_or_moved_gets_nothing_that_was_claimed_ahead(
    live: JourneySite, receiver: Receiver, door: tuple[Door, str]
) -> None:
    slow, url = door
    hooks = [await live.api.webhook(url, SLOW) for _ in range(3)]
    await happen(live, 20, SLOW)

    async def full() -> bool | None:
        return slow.inside == 12 or None

    await until(full, "attempts")
    await claimed_ahead(live, 60)
    await live.api.ok("DELETE", f"/webhooks/{hooks[0]['id']}")
    await live.api.ok("PATCH", f"/webhooks/{hooks[1]['id']}", {"enabled": False})
    await live.api.ok("PATCH", f"/webhooks/{hooks[2]['id']}", {"url": receiver.url})
    await live.api.webhook(receiver.url, QUICK)
    await happen(live, 1, QUICK)
    await all_came(receiver, 1)  # for which the worker has looked again at all that it holds
    slow.open.set()
    await all_came(receiver, 1 + 16)
    path = f"/webhooks/{hooks[1]['id']}/deliveries?limit=100"

    async def is_noted() -> bool | None:
        statuses = Counter(each["status"] for each in (await live.api.ok("GET", path))["data"])
        return statuses == {"failed": 16, "succeeded": 4} or None

    await until(is_noted, "end of the attempts")
    await asyncio.sleep(0.3)
    assert (len(receiver.came), slow.came) == (1 + 16, 12)


async def test_what_is_under_way_when_the_program_ends_is_noted_and_the_rest_sent_at_the_next_start(
    tmp_path: Path,
) -> None:
    came: Counter[str] = Counter()
    began = asyncio.Event()

    async def late(request: web.Request) -> web.Response:
        came[request.headers["webhook-id"]] += 1
        began.set()
        await asyncio.sleep(0.5)
        return web.Response(status=204)

    async with listening(late) as url:
        async with a_site(tmp_path / "data", SystemClock(), working=True) as site:
            await site.api.webhook(url, QUICK)
            await happen(site, 12, QUICK)
            await asyncio.wait_for(began.wait(), 10)
        assert 1 <= len(came) <= 8
        async with a_site(tmp_path / "data", SystemClock(), working=True) as site:

            async def is_done() -> bool | None:
                rows = await site.runtime.db.all("SELECT 1 FROM delivery WHERE status <> 'succeeded'")
                return not rows or None

            await until(is_done, "deliveries")
    assert len(came) == 12 and set(came.values()) == {1}


async def test_an_attempt_that_nobody_foresaw_counts_as_failed(
    site: JourneySite, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    hook = await site.api.webhook(receiver.url, QUICK)
    await site.runtime.db.write(lambda tx: tx.run("UPDATE webhook SET secret = x'00'"))
    await happen(site, 1, QUICK)
    assert await deliver_webhooks.drain(site.runtime) == 1
    [delivery] = (await site.api.ok("GET", f"/webhooks/{hook['id']}/deliveries"))["data"]
    assert (delivery["status"], delivery["lastError"]) == ("pending", deliver_events.INTERNAL)
    assert "failed" in caplog.text


async def test_a_server_killed_twice_in_a_storm_delivers_everything_at_least_once_and_at_most_thrice(
    tmp_path: Path,
) -> None:
    """T11 in small: half of the webhooks fail, and both kills come while deliveries are under way."""
    program = Program(configuration(tmp_path))
    key = (await meanwhile("keys", "create", "--name", "ci", "--config", program.config)).out.strip()
    came: Counter[tuple[str, str]] = Counter()
    kills = [400, 900]
    strike = asyncio.Event()

    async def take(request: web.Request) -> web.Response:
        if "sick" in request.path:
            return web.Response(status=500)
        came[request.path, request.headers["webhook-id"]] += 1
        if kills and len(came) >= kills[0]:
            strike.set()
        return web.Response(status=204)

    await program.start()
    try:
        async with listening(take) as url, a_session() as session:
            api = Api(session, program.base, key)
            for n in range(5):
                await api.webhook(f"{url}well/{n}", QUICK)
                await api.webhook(f"{url}sick/{n}", QUICK)
            async with open_for_command(tmp_path / "data" / FILE) as db:
                await publish(db, SystemClock(), 300, QUICK)
            while kills:
                await asyncio.wait_for(strike.wait(), 60)
                await program.kill()
                kills.pop(0)
                strike.clear()
                await program.start()

            async def everything() -> bool | None:
                return len(came) == 1_500 or None

            await until(everything, f"delivery of everything, only {len(came)}", 90)
            assert max(came.values()) <= 3
    finally:
        await program.kill()
