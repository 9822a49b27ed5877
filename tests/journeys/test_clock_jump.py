"""A wall clock that jumps: nothing irreversible follows from it, and everything goes on once it is sure."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from esign.actions.server import clock_watch
from esign.core.actor import Mode
from esign.core.instant import DAY, HOUR, MINUTE, Instant
from esign.core.people.user import Session, Stage, User
from esign.jobs import disable_webhooks, erase, expire, key_expiry, prune, purge, remind, schedule, worker
from esign.jobs import watch_clock as ticking
from esign.mail.failure import TemporaryFailure
from esign.runtime import Runtime
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Transaction
from esign.store.people import users
from esign.store.server import clock_marks
from tests.factories import NOW
from tests.fakes import FakeClock, FakeMailbox
from tests.journeys.api import until
from tests.journeys.site import JourneySite, a_site

ADA = "ada@example.test"
JUMPS = [31 * DAY, 365 * DAY, 3_650 * DAY]
TICKS: tuple[Callable[[Runtime], Awaitable[int]], ...] = (
    ticking.tick, expire.tick, remind.tick, disable_webhooks.tick, key_expiry.tick, purge.tick, prune.tick, erase.tick,
)  # fmt: skip


class JumpingClock(FakeClock):
    """A machine whose wall clock is wrong by `error`."""

    error: Instant = 0

    def now(self) -> Instant:
        return self.at + self.error


@pytest.fixture
def jumping() -> JumpingClock:
    return JumpingClock(NOW)


@pytest.fixture
async def place(tmp_path: Path, jumping: JumpingClock) -> AsyncIterator[JourneySite]:
    async with a_site(tmp_path / "data", jumping) as site:
        yield site


async def tick(site: JourneySite) -> None:
    for one in TICKS:
        await one(site.runtime)


async def everything(site: JourneySite) -> str:
    """Every row that time could take away or change, as text."""
    tables = (
        "document", "recipient", "event", "audit", "outbox", "delivery", "webhook", "api_key", "idempotency",
        "session", "ticket", "mail",
    )  # fmt: skip
    found = await site.runtime.db.all("SELECT name FROM sqlite_master WHERE type = 'table'")
    present = {row["name"] for row in found}
    rows = {
        name: [
            {key: str(row[key]) for key in row.keys() if key != "last_used_at"}  # noqa: SIM118
            for row in await site.runtime.db.all(f"SELECT * FROM {name} ORDER BY 1, 2")
        ]
        for name in tables
        if name in present
    }
    assert rows["document"] and rows["outbox"] and rows["event"]
    return json.dumps(rows, default=str)


async def furnish(site: JourneySite, jumping: JumpingClock) -> dict[str, str]:
    """Something of every kind that time does something to."""
    often = {"enabled": True, "firstAfterDays": 1, "everyDays": 1, "max": 10}
    await site.api.ok("POST", "/webhooks", {"url": "http://127.0.0.1:65000/", "events": ["document.sent"]})
    made = {
        "short": await site.api.send_document(expiresInDays=1),
        "long": await site.api.send_document(reminders=often, expiresInDays=30),
        "done": await site.complete_document(),
    }
    await site.work("mail")
    jumping.advance(minutes=2)
    return made


@pytest.mark.parametrize("error", JUMPS)
async def test_half_a_minute_in_the_future_ends_nothing(
    place: JourneySite, jumping: JumpingClock, error: int
) -> None:
    made = await furnish(place, jumping)
    await tick(place)
    before = await everything(place)
    jumping.error = error
    for _ in range(6):
        await tick(place)
        jumping.advance(seconds=5)
    assert await everything(place) == before
    assert await place.api.status(made["short"]) == "sent", "nor does it expire for whoever looks at it"
    await (await place.person(ADA)).view()
    jumping.error = 0
    await tick(place)
    assert await place.api.status(made["short"]) == "sent"
    assert (await place.api.get(made["long"]))["recipients"][0]["remindersSent"] == 0


async def test_what_is_stamped_and_planned_meanwhile_does_not_see_the_jump(
    place: JourneySite, jumping: JumpingClock, mailbox: FakeMailbox
) -> None:
    post = replace(place.runtime, mail=mailbox)
    mailbox.failure = TemporaryFailure("421 not now")
    jumping.error = 365 * DAY
    document = await place.api.send_document(expiresInDays=5)
    assert await worker.drain_jobs(post, "mail") == 1
    jumping.error = 0
    told = await place.api.get(document)
    assert told["createdAt"][:10] == "2026-11-21" and told["expiresAt"][:4] == "2026"
    jumping.advance(minutes=1)
    mailbox.failure = None
    assert await worker.drain_jobs(post, "mail") == 1, "the retry is a minute later, and not a year"


async def test_a_clock_that_was_set_for_good_is_believed_after_ten_minutes(
    place: JourneySite, jumping: JumpingClock
) -> None:
    made = await furnish(place, jumping)
    jumping.error = 3 * DAY
    for _ in range(121):
        await tick(place)
        jumping.advance(seconds=5)
    await tick(place)
    assert await place.api.status(made["short"]) == "expired"
    assert (await place.api.get(made["long"]))["recipients"][0]["remindersSent"] == 1


async def test_readyz_and_the_log_say_so(
    place: JourneySite, jumping: JumpingClock, caplog: pytest.LogCaptureFixture
) -> None:
    jumping.error = 365 * DAY
    await ticking.tick(place.runtime)
    async with place.session.get(f"{place.base}/readyz") as answer:
        assert answer.status == 200
        said = json.loads(await answer.read())
    assert said["warnings"] == ["the clock jumped 365 days ahead: nothing expires until that is sure"]
    assert sum("jumped 365 days ahead" in record.message for record in caplog.records) == 1
    await ticking.tick(place.runtime)
    assert sum("jumped 365 days ahead" in record.message for record in caplog.records) == 1, (
        "once, not always"
    )
    jumping.error = 0
    await ticking.tick(place.runtime)
    async with place.session.get(f"{place.base}/readyz") as answer:
        assert "warnings" not in json.loads(await answer.read())
    assert any("certain again" in record.message for record in caplog.records)


async def test_an_operator_confirms_it_on_the_command_line(
    place: JourneySite, jumping: JumpingClock, tmp_path: Path
) -> None:
    made = await furnish(place, jumping)
    async with open_for_command(tmp_path / "data" / FILE) as beside:
        assert not await clock_watch.request_confirmation(beside, place.runtime.vault, jumping.now()), (
            "nothing is in doubt"
        )
        jumping.error = 3 * DAY
        await tick(place)
        assert await place.api.status(made["short"]) == "sent"
        assert await clock_watch.request_confirmation(beside, place.runtime.vault, jumping.now())
    await tick(place)
    assert await place.api.status(made["short"]) == "expired"
    [entry] = (await place.api.ok("GET", "/audit?type=clock.confirmed"))["data"]
    assert entry["actor"]["name"] == "command line"


async def test_what_a_confirmed_wrong_clock_planned_is_brought_back(
    place: JourneySite, jumping: JumpingClock, mailbox: FakeMailbox
) -> None:
    post = replace(place.runtime, mail=mailbox)
    mailbox.failure = TemporaryFailure("421 not now")
    jumping.error = 365 * DAY
    place.runtime.clock.confirm()
    await place.api.ok("POST", "/webhooks", {"url": "http://127.0.0.1:65000/", "events": ["document.sent"]})
    await place.api.send_document()
    await worker.drain_jobs(post)
    jumping.error = 0
    place.runtime.clock.confirm()
    mailbox.failure = None
    assert await worker.drain_jobs(post, "mail") == 0, "planned for next year"
    await ticking.tick(place.runtime)
    assert await worker.drain_jobs(post, "mail") == 1
    rows = await place.runtime.db.all("SELECT due_at FROM delivery WHERE status = 'pending'")
    assert rows and all(row["due_at"] <= jumping.now() for row in rows)


async def test_a_start_with_a_clock_a_year_ahead_ends_nothing(tmp_path: Path, jumping: JumpingClock) -> None:
    async with a_site(tmp_path / "data", jumping) as site:
        document = await site.api.send_document(expiresInDays=3)
        certificate = site.runtime.own
    jumping.error = 365 * DAY
    async with a_site(tmp_path / "data", jumping) as site:
        assert site.runtime.own == certificate, "nor is the seal certificate renewed"
        for one in TICKS:
            await one(site.runtime)
        assert await site.api.status(document) == "sent"
        jumping.error = 0
        for one in TICKS:
            await one(site.runtime)
        assert await site.api.status(document) == "sent" and site.runtime.clock.doubt is None
        record = await clock_marks.find(site.runtime.db)
        assert record is not None and record.doubt_since is None


async def test_an_erasure_spares_what_is_retained_while_the_clock_is_wrong(
    place: JourneySite, jumping: JumpingClock
) -> None:
    await place.api.call("PATCH", "/settings", {"retainCompletedDays": 100})
    document = await place.complete_document()
    jumping.error = 365 * DAY
    refused = await place.api.call("DELETE", f"/documents/{document}")
    assert (refused.status, refused.code) == (409, "retention_locked")


async def test_ticks_go_on_when_the_wall_clock_is_set_back(tmp_path: Path, jumping: JumpingClock) -> None:
    """Started a day ahead and then corrected."""
    jumping.error = DAY
    async with a_site(tmp_path / "data", jumping) as site:
        document = await site.api.send_document(expiresInDays=1)
        runs: list[Instant] = []

        async def count_jobs(runtime: Runtime) -> int:
            runs.append(runtime.clock.now())
            if len(runs) == 2:
                raise RuntimeError("a tick that fails once")
            return 0

        ticking_on = asyncio.create_task(schedule.repeat_tick(site.runtime, count_jobs, 0.01))
        try:
            await until_more(runs, 3)
            jumping.error = 0
            await until_more(runs, 3)
        finally:
            ticking_on.cancel()
            with suppress(asyncio.CancelledError):
                await ticking_on
        assert await site.api.status(document) == "sent"


async def until_more(runs: list[Instant], more: int) -> None:
    enough = len(runs) + more

    async def is_reached() -> bool | None:
        return len(runs) >= enough or None

    await until(is_reached, "further runs of the tick")


def test_a_session_or_code_of_a_wrong_future_neither_lasts_nor_locks_out() -> None:
    """Written by a clock that was confirmed and was wrong all the same."""
    session = Session("s", "u", "o", Stage.WHOLE, Mode.LIVE, NOW, NOW, NOW)
    assert not session.is_over(NOW) and session.is_fresh(NOW)
    assert session.is_over(NOW - 365 * DAY) and not session.is_fresh(NOW - HOUR)
    assert not session.is_over(NOW - MINUTE)


async def test_a_code_noted_by_a_wrong_clock_does_not_lock_its_owner_out(place: JourneySite) -> None:
    user = User("usr_1", "ada@example.test", "Ada", NOW)
    today = NOW // 30_000

    async def write(tx: Transaction) -> list[bool]:
        await users.add(tx, user)
        await users.save_factor(tx, user.id, b"x", today + 365 * 2880)
        return [await users.use_step(tx, user.id, step) for step in (today, today, today - 1, today + 1)]

    assert await place.runtime.db.write(write) == [True, False, False, True]
