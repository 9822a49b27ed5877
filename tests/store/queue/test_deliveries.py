from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from esign.core.actor import Mode, Owner
from esign.core.instant import DAY, MINUTE, Instant
from esign.core.people.account import Organisation
from esign.core.webhook.delivery import DeliveryAttempt, DeliveryStatus, EventDelivery
from esign.store.engine.database import Database, Transaction
from esign.store.engine.paging import PageStart
from esign.store.queue import deliveries, published_events, set_aside, webhooks
from esign.store.queue.deliveries import DeliveryFilter, make_delivery
from esign.store.queue.published_events import EventFilter
from tests.factories import NOW, ORGANISATION, a_webhook
from tests.store.plans import steps, walks

PENDING, SUCCEEDED, FAILED = DeliveryStatus
HOOK = "wh_1"


@pytest.fixture(autouse=True)
async def of_an_organisation(organisation: Organisation) -> None: ...


async def publish(
    db: Database, event_id: str, at: Instant = NOW, document: str | None = None, **more: Any
) -> str:
    event = {"id": event_id, "type": "document.sent", "mode": "live", "sequence": None, **more}
    await db.write(lambda tx: published_events.publish(tx, event, ORGANISATION, document, at))
    return event_id


async def queue(
    db: Database, event_id: str, webhook_id: str = HOOK, at: Instant = NOW, **more: Any
) -> EventDelivery:
    """A new event, on its way to one webhook."""
    await publish(db, event_id, at, **({"type": more["event_type"]} if "event_type" in more else {}))
    made = replace(make_delivery(webhook_id, event_id, "document.sent", at), **more)
    await db.write(lambda tx: deliveries.add(tx, [made]))
    found = await deliveries.get(db, webhook_id, made.id)
    assert found is not None
    return found


async def claim(db: Database, *numbers: int, until: Instant = NOW + MINUTE, boot: str = "first") -> list[int]:
    found = await db.write(lambda tx: deliveries.claim(tx, numbers, until, boot))
    return [due.number for due in found]


async def save(db: Database, delivery: EventDelivery, attempt: DeliveryAttempt) -> None:
    await db.write(lambda tx: deliveries.save(tx, [(delivery, attempt)]))


async def test_a_delivery_comes_back_as_it_was_queued(db: Database) -> None:
    made = await queue(db, "evt_1")
    assert made == EventDelivery(1, made.id, HOOK, "evt_1", "document.sent", PENDING, NOW, NOW)
    assert await deliveries.get(db, "wh_2", made.id) is None
    assert await deliveries.get(db, HOOK, "dlv_x") is None


async def test_an_event_is_queued_once_for_a_webhook_and_anew_only_after_it_failed(db: Database) -> None:
    first = await queue(db, "evt_1")
    again = make_delivery(HOOK, "evt_1", "document.sent", NOW + 5)
    for status, expected in (
        (PENDING, replace(first, tries=3)),
        (SUCCEEDED, replace(first, status=SUCCEEDED, tries=3, finished_at=NOW)),
        (FAILED, replace(first, due_at=NOW + 5)),
    ):
        before = replace(
            first, status=status, tries=3, finished_at=None if status is PENDING else NOW, attempt_count=4
        )
        await db.write(lambda tx, b=before: tx.run("DELETE FROM attempt"))  # type: ignore[misc]
        await save(db, before, DeliveryAttempt(NOW, 1))
        await db.write(lambda tx: deliveries.add(tx, [again]))
        assert await deliveries.get(db, HOOK, first.id) == replace(expected, attempt_count=4)
    assert len(await db.all("SELECT 1 FROM delivery")) == 1


async def test_each_webhook_gets_its_share_and_none_hides_what_is_due_for_others(db: Database) -> None:
    for n in range(6):
        await queue(db, f"evt_a{n}", "wh_slow")
    await queue(db, "evt_b", "wh_fast")
    await queue(db, "evt_c", "wh_early", NOW - 5)
    await queue(db, "evt_d", "wh_later", NOW + 5)
    assert await deliveries.find_due(db, NOW, 4) == [
        (8, "wh_early", 0),
        *((n, "wh_slow", 0) for n in (1, 2, 3, 4)),
        (7, "wh_fast", 0),
    ]
    assert await deliveries.find_due(db, NOW, 1) == [(8, "wh_early", 0), (1, "wh_slow", 0), (7, "wh_fast", 0)]
    assert await deliveries.find_due(db, NOW - 6, 4) == []


async def test_what_happened_in_the_same_moment_is_due_in_its_order(db: Database) -> None:
    numbers = [(await queue(db, f"evt_{n}")).number for n in (5, 3, 9, 1)]
    assert [number for number, _, _ in await deliveries.find_due(db, NOW, 9)] == numbers


async def test_the_next_that_is_due_is_the_earliest_of_all_that_are_not_yet(db: Database) -> None:
    assert await deliveries.find_next_due(db, NOW) is None
    for n, wait in enumerate((0, 9, 7, -3)):
        await queue(db, f"evt_{n}", f"wh_{n % 2}", NOW + wait)
    assert await deliveries.find_next_due(db, NOW) == NOW + 7
    assert await deliveries.find_next_due(db, NOW + 7) == NOW + 9


async def test_what_is_claimed_is_hidden_until_its_lease_ends(db: Database) -> None:
    first, second = await queue(db, "evt_1"), await queue(db, "evt_2")
    found = await db.write(lambda tx: deliveries.claim(tx, [first.number], NOW + MINUTE, "first"))
    body = await published_events.get_body(db, "evt_1")
    assert found == [deliveries.DueDelivery(first.number, HOOK, "evt_1", body or b"")]
    assert await deliveries.find_due(db, NOW + MINUTE - 1, 4) == [(second.number, HOOK, 0)]
    assert len(await deliveries.find_due(db, NOW + MINUTE, 4)) == 2
    claimed = await deliveries.get(db, HOOK, first.id)
    assert claimed is not None and claimed.next_attempt_at is None and claimed.attempt_count == 0


async def test_after_a_crash_what_the_lost_run_had_claimed_is_due_at_once(db: Database) -> None:
    mine, lost, waiting = [await queue(db, f"evt_{n}") for n in range(3)]
    await claim(db, mine.number, boot="second")
    await claim(db, lost.number, boot="first")
    await save(db, replace(waiting, due_at=NOW + DAY), DeliveryAttempt(NOW, 1))
    assert await db.write(lambda tx: set_aside.note_cut_deliveries(tx, "second", NOW + 1)) == 0
    assert await deliveries.find_due(db, NOW + 1, 4) == [(lost.number, HOOK, 1)]


async def test_every_attempt_is_logged_in_its_order(db: Database) -> None:
    delivery = await queue(db, "evt_1")
    made = [
        DeliveryAttempt(NOW, 15_000, error="timeout: no answer"),
        DeliveryAttempt(NOW + 5, 3, 500, "status 500", b"\x00sorry \xff"),
        DeliveryAttempt(NOW + 9, 2, 204),
    ]
    for n, attempt in enumerate(made, 1):
        await save(db, replace(delivery, attempt_count=n), attempt)
    assert await deliveries.find_attempts(db, delivery.number) == made


async def test_a_webhook_that_is_switched_off_or_deleted_leaves_nothing_waiting(db: Database) -> None:
    waiting, done = await queue(db, "evt_1"), await queue(db, "evt_2", status=SUCCEEDED, finished_at=NOW)
    other = await queue(db, "evt_3", "wh_2")
    assert await db.write(lambda tx: deliveries.give_up(tx, HOOK, NOW + 1, "switched off")) == 1
    assert await deliveries.get(db, HOOK, waiting.id) == replace(
        waiting, status=FAILED, finished_at=NOW + 1, last_error="switched off"
    )
    await queue(db, "evt_4")
    assert await db.write(lambda tx: deliveries.drop(tx, HOOK)) == 1
    assert len(await deliveries.find_page(db, DeliveryFilter(HOOK), 9)) == 2
    assert await deliveries.get(db, HOOK, done.id) == done
    assert await deliveries.get(db, "wh_2", other.id) == other


async def test_with_an_event_its_deliveries_and_attempts_go(db: Database) -> None:
    gone, stays = await queue(db, "evt_1"), await queue(db, "evt_2", at=NOW + 1)
    for delivery in (gone, stays):
        await save(db, replace(delivery, attempt_count=1), DeliveryAttempt(NOW, 1, 500, "status 500"))
    assert await db.write(lambda tx: published_events.prune(tx, NOW + 1, 9)) == 1
    assert [row["id"] for row in await db.all("SELECT id FROM delivery")] == [stays.id]
    assert [row["delivery"] for row in await db.all("SELECT delivery FROM attempt")] == [stays.number]


async def test_the_log_of_a_webhook_is_read_page_by_page_newest_first_with_filters(db: Database) -> None:
    made = []
    for n in range(12):
        status, kind = list(DeliveryStatus)[n % 3], ("document.sent", "recipient.sent")[n % 2]
        made.append(await queue(db, f"evt_{n}", at=NOW + n // 2, status=status, event_type=kind))
    await queue(db, "evt_x", "wh_2")
    newest = sorted(made, key=lambda delivery: (delivery.created_at, delivery.id), reverse=True)
    for status in (None, *DeliveryStatus):
        for kind_ in (None, "document.sent", "recipient.sent"):
            wanted = [d for d in newest if status in (None, d.status) and kind_ in (None, d.event_type)]
            found: list[EventDelivery] = []
            place: PageStart | None = None
            while page := await deliveries.find_page(db, DeliveryFilter(HOOK, status, kind_), 2, place):
                found += page
                place = PageStart(page[-1].created_at, page[-1].id)
            assert found == wanted, (status, kind_)


async def test_only_what_waits_for_a_webhook_that_works_is_late(db: Database) -> None:
    hook = a_webhook()
    await db.write(lambda tx: webhooks.add(tx, hook))
    await queue(db, "evt_1", hook.id)
    assert not await deliveries.is_late(db, NOW)
    assert await deliveries.is_late(db, NOW + 1)
    await db.write(lambda tx: webhooks.save(tx, [replace(hook, failing_since=NOW)]))
    assert not await deliveries.is_late(db, NOW + 1)


# ---------- the events themselves ----------


async def page(db: Database, limit: int = 9, after: PageStart | None = None, **wanted: Any) -> list[str]:
    found = await published_events.find_page(db, EventFilter(ORGANISATION, Mode.LIVE, **wanted), limit, after)
    return [place.id for place, _ in found]


async def test_events_are_found_newest_first_by_type_document_and_time(db: Database) -> None:
    await publish(db, "evt_1", NOW, "doc_1", sequence=1)
    await publish(db, "evt_2", NOW + 1, "doc_2", sequence=1)
    await publish(db, "evt_3", NOW + 2, "doc_1", sequence=2, type="document.completed")
    await publish(db, "evt_4", NOW + 3, mode="test")
    assert await page(db) == ["evt_3", "evt_2", "evt_1"]
    assert await page(db, 1, PageStart(NOW + 2, "evt_3")) == ["evt_2"]
    assert await page(db, type="document.sent") == ["evt_2", "evt_1"]
    assert await page(db, document_id="doc_1") == ["evt_3", "evt_1"]
    assert await page(db, document_id="doc_1", type="document.sent") == ["evt_1"]
    assert await page(db, since=NOW + 1, before=NOW + 2) == ["evt_2"]
    assert await page(db, document_id="") == []


async def test_received_is_what_was_delivered_or_waits(db: Database) -> None:
    for n, status in enumerate((None, PENDING, SUCCEEDED, FAILED)):
        if status is None:
            await publish(db, f"evt_{n}", NOW + n)
        else:
            await queue(db, f"evt_{n}", at=NOW + n, status=status)
    await queue(db, "evt_9", "wh_2", NOW + 9)

    async def looked_at(since: Instant, before: Instant, limit: int = 9) -> dict[str, bool]:
        wanted = EventFilter(ORGANISATION, Mode.LIVE, since=since, before=before)
        found = await published_events.find_received(db, wanted, HOOK, limit, PageStart(since, ""))
        return {place.id: received for place, _, received in found}

    everything = {"evt_0": False, "evt_1": True, "evt_2": True, "evt_3": False, "evt_9": False}
    assert await looked_at(NOW, NOW + 99) == everything
    assert await looked_at(NOW, NOW + 99, 2) == {"evt_0": False, "evt_1": True}, "however few are missed"
    assert await looked_at(NOW + 1, NOW + 9) == {"evt_1": True, "evt_2": True, "evt_3": False}


# ---------- no look walks through a table ----------

QUERIES: dict[str, Callable[[Transaction], Awaitable[object]]] = {
    "due": lambda tx: deliveries.find_due(tx, NOW, 4),
    "next": lambda tx: deliveries.find_next_due(tx, NOW),
    "claim": lambda tx: deliveries.claim(tx, [1, 2], NOW, "first"),
    "release": lambda tx: set_aside.note_cut_deliveries(tx, "first", NOW),
    "late": lambda tx: deliveries.is_late(tx, NOW),
    "noted": lambda tx: deliveries.get_many(tx, [1, 2]),
    "give up": lambda tx: deliveries.give_up(tx, HOOK, NOW, "why"),
    "drop": lambda tx: deliveries.drop(tx, HOOK),
    "one": lambda tx: deliveries.get(tx, HOOK, "dlv_1"),
    "attempts": lambda tx: deliveries.find_attempts(tx, 1),
    "pending": lambda tx: deliveries.find_pending(tx, HOOK),
    "received": lambda tx: published_events.find_received(
        tx, EventFilter(ORGANISATION, Mode.LIVE), HOOK, 9, PageStart(NOW, "")
    ),
    "webhooks": lambda tx: webhooks.get_many(tx, ["wh_1", "wh_2"]),
    "failing": lambda tx: webhooks.find_failing(tx, NOW),
    "webhook page": lambda tx: webhooks.find_page(
        tx, Owner(ORGANISATION, Mode.LIVE), 25, PageStart(NOW, "wh_1")
    ),
}


@pytest.mark.parametrize("name", QUERIES)
async def test_no_query_walks_through_a_table(db: Database, name: str) -> None:
    assert await walks(db, QUERIES[name]) == []


async def test_the_worker_looks_at_what_waits_alone(db: Database) -> None:
    plan = await steps(db, lambda tx: deliveries.find_due(tx, NOW, 4))
    searched = [step.replace("COVERING ", "").split(" (")[0] for step in plan if step.startswith("SEARCH")]
    assert searched == [
        "SEARCH delivery USING INDEX delivery_due",
        "SEARCH delivery USING INTEGER PRIMARY KEY",
        "SEARCH next USING INDEX delivery_due",
    ], plan


@pytest.mark.parametrize("status", [None, *DeliveryStatus])
@pytest.mark.parametrize("kind", [None, "document.sent"])
async def test_a_page_of_deliveries_is_neither_scanned_nor_sorted(
    db: Database, status: DeliveryStatus | None, kind: str | None
) -> None:
    plan = await steps(
        db,
        lambda tx: deliveries.find_page(tx, DeliveryFilter(HOOK, status, kind), 25, PageStart(NOW, "dlv_1")),
    )
    assert not [step for step in plan if "SCAN" in step or "TEMP B-TREE" in step], plan
    index = "delivery_by_type (webhook_id=? AND event_type=?" if kind else "delivery_newest (webhook_id=?"
    assert all(index in step for step in plan if "SEARCH" in step), plan


@pytest.mark.parametrize("document", [None, "doc_1"])
@pytest.mark.parametrize("kind", [None, "document.sent"])
async def test_a_page_of_events_is_neither_scanned_nor_sorted(
    db: Database, document: str | None, kind: str | None
) -> None:
    wanted = EventFilter(ORGANISATION, Mode.LIVE, kind, document, NOW - DAY, NOW)
    plan = await steps(db, lambda tx: published_events.find_page(tx, wanted, 25, PageStart(NOW, "evt_1")))
    index = "by_document" if document else "by_type" if kind else "newest"
    assert [step.partition(" (")[0] for step in plan] == [f"SEARCH event USING INDEX event_{index}"], plan
