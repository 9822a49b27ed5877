"""What the clock does, also to a program that was stopped for days: each due thing once."""

import asyncio
from pathlib import Path
from typing import Any

from esign.actions.mail import embedded_outbox
from esign.core.instant import DAY, HOUR, Instant, parse, rfc3339
from esign.jobs import expire, prune, remind, schedule
from tests.fakes import FakeClock
from tests.journeys.api import Person, until
from tests.journeys.site import JourneySite, a_site

ADA, BOB = "ada@example.test", "bob@example.test"


async def tick(site: JourneySite) -> None:
    """Everything that the schedule would do now."""
    await expire.tick(site.runtime)
    await remind.tick(site.runtime)
    await site.work()


async def subjects(site: JourneySite, address: str) -> list[str]:
    mails = await embedded_outbox.list_mails(site.runtime.db, 1000)
    return [mail.subject.partition(":")[0] for mail in mails if address in mail.recipient]


async def recipient(site: JourneySite, document: str, number: int = 0) -> Any:
    return (await site.api.get(document))["recipients"][number]


# ---------- reminders ----------


async def test_reminders_leave_on_their_days_and_then_once_before_expiry(
    site: JourneySite, clock: FakeClock
) -> None:
    document = await site.api.send_document()
    sent_at = clock.now()
    days: list[float] = []
    for _ in range(31 * 4):
        clock.advance(hours=6)
        before = (await recipient(site, document))["remindersSent"]
        await tick(site)
        if (await recipient(site, document))["remindersSent"] > before:
            days.append((clock.now() - sent_at) / DAY)
    assert days == [3, 7, 11, 15, 19, 29]
    assert await subjects(site, ADA) == ["Please sign", *["Still waiting for your signature"] * 6]
    assert (await site.api.trail(document)).count("recipient.reminded") == 6
    assert await site.api.status(document) == "expired"


async def test_a_second_tick_at_the_same_time_reminds_nobody_again(
    site: JourneySite, clock: FakeClock
) -> None:
    document = await site.api.send_document()
    clock.advance(days=3)
    await asyncio.gather(*(remind.tick(site.runtime) for _ in range(5)))
    assert (await recipient(site, document))["remindersSent"] == 1


async def test_the_callers_own_rhythm_counts(site: JourneySite, clock: FakeClock) -> None:
    rhythm = {"enabled": True, "firstAfterDays": 1, "everyDays": 2, "max": 2}
    document = await site.api.send_document(reminders=rhythm, expiresInDays=10)
    reminded = []
    for day in range(1, 10):
        clock.advance(days=1)
        await tick(site)
        reminded.append((day, (await recipient(site, document))["remindersSent"]))
    assert reminded == [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 2), (9, 3)]


async def test_no_reminder_where_they_are_switched_off(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document(reminders={"enabled": False})
    for _ in range(29):
        clock.advance(days=1)
        await tick(site)
    assert (await recipient(site, document))["remindersSent"] == 0


async def test_who_has_signed_or_is_not_yet_asked_is_not_reminded(
    site: JourneySite, clock: FakeClock
) -> None:
    people = [{"name": "Ada", "email": ADA, "order": 1}, {"name": "Bob", "email": BOB, "order": 2}]
    document = await site.api.send_document(recipients=people)
    await site.work("mail")
    clock.advance(days=3)
    await tick(site)
    assert [(await recipient(site, document, n))["remindersSent"] for n in (0, 1)] == [1, 0]
    await (await site.person(ADA)).sign()
    clock.advance(days=3)
    await tick(site)
    assert [(await recipient(site, document, n))["remindersSent"] for n in (0, 1)] == [1, 1]


# ---------- expiry ----------


async def test_a_document_expires_at_its_very_millisecond(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document(expiresInDays=1)
    expires_at = parse((await site.api.get(document))["expiresAt"])
    assert expires_at == clock.now() + DAY
    clock.at = expires_at - 1
    assert await expire.tick(site.runtime) == 0
    assert await site.api.status(document) == "sent"
    clock.at = expires_at
    assert await expire.tick(site.runtime) == 1
    told = await site.api.get(document)
    assert (told["status"], told["closedAt"]) == ("expired", rfc3339(expires_at))


async def test_whoever_meets_it_first_lets_it_expire(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document(expiresInDays=1)
    await site.work("mail")
    person = await site.person(ADA)
    await person.view()
    clock.advance(days=1)
    answer = await person.complete()
    assert (answer.status, answer.code) == (409, "document_not_sent")
    assert answer.body["error"]["currentStatus"] == "expired"
    assert (await recipient(site, document))["status"] == "viewed"
    await tick(site)
    assert (await site.api.trail(document)).count("document.expired") == 1


async def test_the_links_of_an_expired_document_are_closed(site: JourneySite, clock: FakeClock) -> None:
    await site.api.send_document(expiresInDays=1)
    await site.work("mail")
    person = await site.person(ADA)
    clock.advance(days=1)
    await tick(site)
    assert (await person.open()).status == 200
    assert await person.state() == "expired"
    for refused in (await person.view(), await person.complete(), await person.decline()):
        assert (refused.status, refused.code) == (409, "document_not_sent")
    async with site.session.get(f"{person.link}/pages/1.webp") as answer:
        assert answer.status == 404
    async with site.session.get(f"{person.link}/original.pdf") as answer:
        assert answer.status == 404
    clock.advance(days=30)
    assert await person.state() == "unknown"


async def test_signing_and_expiry_at_once_end_in_one_of_the_two(site: JourneySite, clock: FakeClock) -> None:
    documents = [
        await site.api.send_document(
            expiresInDays=1, recipients=[{"name": "A", "email": f"a{n}@example.test"}]
        )
        for n in range(4)
    ]
    await site.work("mail")
    people = [await site.person(f"a{n}@example.test") for n in range(4)]
    clock.advance(hours=24, milliseconds=-1)

    async def one(person: Person, late: bool) -> int:
        if late:
            clock.at = max(clock.at, deadline)
        return (await person.complete()).status

    deadline: Instant = clock.at + 1
    statuses = await asyncio.gather(
        *(one(person, n == 2) for n, person in enumerate(people)), expire.tick(site.runtime)
    )
    await tick(site)
    for document, status in zip(documents, statuses, strict=False):
        trail = await site.api.trail(document)
        assert (await site.api.status(document)) == ("completed" if status == 200 else "expired")
        assert ("recipient.completed" in trail) != ("document.expired" in trail)


# ---------- a stop of days ----------


async def prepare(site: JourneySite) -> dict[str, str]:
    """Documents that each have something due within the next days; their ids by what is due."""
    every_day = {"enabled": True, "firstAfterDays": 1, "everyDays": 1, "max": 10}
    made = {
        "reminders": await site.api.send_document(reminders=every_day),
        "expiry": await site.api.send_document(expiresInDays=2),
        "both": await site.api.send_document(reminders=every_day, expiresInDays=4),
        "nothing": await site.api.send_document(reminders={"enabled": False}),
    }
    await site.work()
    return made


async def test_after_a_stop_of_days_each_due_thing_happens_once(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        documents = await prepare(site)
    clock.advance(days=6)
    async with a_site(tmp_path / "data", clock) as site:
        async with schedule.run_jobs(site.runtime):

            async def caught_up() -> bool | None:
                reminded = (await recipient(site, documents["reminders"]))["remindersSent"]
                row = await site.runtime.db.one("SELECT 1 FROM outbox WHERE state = 'pending'")
                return bool(reminded and row is None) or None

            await until(caught_up, "end of the work that was due")
        await tick(site)
        seen = {name: await site.api.get(document) for name, document in documents.items()}
        assert {name: told["status"] for name, told in seen.items()} == {
            "reminders": "sent",
            "expiry": "expired",
            "both": "expired",
            "nothing": "sent",
        }
        assert {name: told["recipients"][0]["remindersSent"] for name, told in seen.items()} == {
            "reminders": 1,
            "expiry": 0,
            "both": 0,
            "nothing": 0,
        }
        for name in ("expiry", "both"):
            assert (await site.api.trail(documents[name])).count("document.expired") == 1
        assert (await subjects(site, ADA)).count("Still waiting for your signature") == 1


async def test_the_reminders_missed_are_skipped_and_the_next_keeps_its_day(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        document = await site.api.send_document()
    clock.advance(days=8)  # those of day 3 and 7 were missed
    async with a_site(tmp_path / "data", clock) as site:
        await tick(site)
        assert (await recipient(site, document))["remindersSent"] == 1
        clock.advance(days=3, milliseconds=-1)
        await tick(site)
        assert (await recipient(site, document))["remindersSent"] == 1
        clock.advance(milliseconds=1)
        await tick(site)
        assert (await recipient(site, document))["remindersSent"] == 2


async def test_expiry_is_published_once(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document(expiresInDays=1)
    clock.advance(days=3)
    await asyncio.gather(*(expire.tick(site.runtime) for _ in range(3)), site.api.get(document))
    rows = await site.runtime.db.all(
        "SELECT 1 FROM event WHERE document_id = :id AND type = 'document.expired'", id=document
    )
    assert len(rows) == 1


# ---------- what is kept for a while ----------


async def test_replays_are_forgotten_after_a_day_and_events_after_thirty(
    site: JourneySite, clock: FakeClock
) -> None:
    body = {"url": "http://127.0.0.1:65000/", "events": ["document.sent"]}
    first = await site.api.call("POST", "/webhooks", body, idempotency_key="k")
    document = await site.api.create()
    clock.advance(hours=24, milliseconds=-1)
    again = await site.api.call("POST", "/webhooks", body, idempotency_key="k")
    assert again.content == first.content
    clock.advance(milliseconds=2)
    await prune.tick(site.runtime)
    other = await site.api.call("POST", "/webhooks", body, idempotency_key="k")
    assert other.body["id"] != first.body["id"]
    clock.advance(days=31)
    await prune.tick(site.runtime)
    assert await site.runtime.db.all("SELECT 1 FROM event") == []
    assert await site.api.trail(document) == ["document.created"], "the audit trail stays"


async def test_a_download_address_lives_five_minutes(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.create()
    told = await site.api.ok("GET", f"/documents/{document}/files/original")
    assert parse(told["expiresAt"]) == clock.now() + HOUR // 12
    clock.advance(minutes=5, milliseconds=-1)
    async with site.session.get(told["url"]) as answer:
        assert (answer.status, len(await answer.read())) == (200, told["size"])
    clock.advance(milliseconds=1)
    async with site.session.get(told["url"]) as answer:
        assert answer.status == 404
