"""Deliveries of events to webhooks, and the log of every attempt.

A delivery is claimed under a lease, like a job. One transaction claims, or records the results of, as many
deliveries as there is room for, so that each costs little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from esign.core.instant import Instant, Millis
from esign.core.webhook.delivery import DeliveryAttempt, DeliveryStatus, EventDelivery
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import insert, list_parameters
from esign.store.engine.unreadable_rows import load_readable
from esign.store.queue.outbox import Backlog
from esign.system.entropy import make_id

COLUMNS = tuple(EventDelivery.__slots__)
ADDED = tuple(name for name in COLUMNS if name != "number")
ATTEMPT = ("at", "duration_ms", "status_code", "error", "response_body")

# The webhooks with waiting deliveries, found with one step along the index for each.
LANES = """
    WITH RECURSIVE lane (id) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT webhook_id FROM delivery
            WHERE status = 'pending' AND webhook_id > lane.id ORDER BY webhook_id, due_at, number LIMIT 1)
        FROM lane WHERE lane.id IS NOT NULL
    )
"""


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A delivery to send; `body` was stored when the event happened. `cut_offs` is explained in `set_aside`."""

    number: int
    webhook_id: str
    event_id: str
    body: bytes
    cut_offs: int = 0


# ---------- queueing and claiming ----------


def make_delivery(
    webhook_id: str, event_id: str, event_type: str, now: Instant, *, lease: Millis = 0, **more: Any
) -> EventDelivery:
    """Return a new delivery, due at once or after a lease, if its maker claims it right away."""
    return EventDelivery(
        number=0,
        id=make_id("dlv", now),
        webhook_id=webhook_id,
        event_id=event_id,
        event_type=event_type,
        status=DeliveryStatus.PENDING,
        created_at=now,
        due_at=now + lease,
        **more,
    )


async def add(tx: Transaction, made: Sequence[EventDelivery]) -> None:
    """Queue deliveries; one that has failed before starts its schedule again."""
    if made:
        tx.wake_workers()
        await tx.run_many(
            insert("delivery", ADDED)
            + """
            ON CONFLICT (event_id, webhook_id) DO UPDATE
            SET status = 'pending', due_at = excluded.due_at, tries = 0, finished_at = NULL, boot = NULL,
                cut_offs = 0, aside_at = NULL
            WHERE delivery.status = 'failed'
            """,
            [{name: getattr(delivery, name) for name in ADDED} for delivery in made],
        )


async def find_due(reader: Reader, now: Instant, most: int) -> list[tuple[int, str, int]]:
    """Return (number, webhook id, cut-offs) of due deliveries, up to `most` for each webhook, the longest due first."""
    rows = await reader.all(
        f"""
        {LANES}
        SELECT delivery.number, delivery.webhook_id, delivery.cut_offs FROM lane CROSS JOIN delivery
        WHERE delivery.number IN (
            SELECT number FROM delivery next
            WHERE next.webhook_id = lane.id AND next.status = 'pending' AND next.due_at <= :now
            ORDER BY next.due_at, next.number LIMIT :most)
        ORDER BY delivery.due_at, delivery.number
        """,
        now=now,
        most=most,
    )
    return [(row["number"], row["webhook_id"], row["cut_offs"]) for row in rows]


async def find_next_due(reader: Reader, now: Instant) -> Instant | None:
    """Return the earliest time after `now` at which a delivery becomes due, or None."""
    rows = await reader.all(
        f"""
        {LANES}
        SELECT min((SELECT next.due_at FROM delivery next
            WHERE next.webhook_id = lane.id AND next.status = 'pending' AND next.due_at > :now
            ORDER BY next.due_at, next.number LIMIT 1)) AS due FROM lane
        """,
        now=now,
    )
    return rows[0]["due"] if rows else None


async def measure_backlog(reader: Reader, most: int) -> Backlog:
    """Return how many deliveries wait, and the time of the oldest, counting no more than `most`."""
    rows = await reader.all(
        f"""
        {LANES}
        SELECT count(*) AS count, min(created_at) AS oldest FROM (
            SELECT next.created_at FROM lane CROSS JOIN delivery next
            WHERE next.webhook_id = lane.id AND next.status = 'pending' LIMIT :most) waiting
        """,
        most=most,
    )
    return Backlog(**dict(rows[0])) if rows else Backlog(0, None)


async def has_later_deliveries(reader: Reader, latest: Instant) -> bool:
    """Return whether a delivery is due later than `latest`."""
    due_at = await find_next_due(reader, latest)
    return due_at is not None


async def pull_in(tx: Transaction, latest: Instant, now: Instant) -> int:
    """Make deliveries due now that are due later than `latest`; return how many.

    One that is under way is still held by its worker's lease. It is meant for dates that
    were planned while the clock was wrong.
    """
    return await tx.run_and_wake(
        f"""
        UPDATE delivery SET due_at = :now WHERE number IN (
            {LANES}
            SELECT next.number FROM lane JOIN delivery next ON next.webhook_id = lane.id
            WHERE next.status = 'pending' AND next.due_at > :latest)
        """,
        now=now,
        latest=latest,
    )


async def claim(tx: Transaction, numbers: Sequence[int], until: Instant, boot: str) -> list[DueDelivery]:
    """Hide these deliveries until `until` and return what to send, in the order in which they were made."""
    names, given = list_parameters("number", numbers)
    await tx.run(
        f"UPDATE delivery SET due_at = :until, boot = :boot WHERE number IN {names} AND status = 'pending'",
        until=until,
        boot=boot,
        **given,
    )
    rows = await tx.all(
        f"""
        SELECT delivery.number, delivery.webhook_id, delivery.event_id, event.body, delivery.cut_offs
        FROM delivery JOIN event ON event.id = delivery.event_id
        WHERE delivery.number IN {names} ORDER BY delivery.number
        """,
        **given,
    )
    return [DueDelivery(**dict(row)) for row in rows]


async def find_still_pending(reader: Reader, numbers: Sequence[int]) -> set[int]:
    """Return those of these deliveries that were not dropped since they were claimed."""
    names, given = list_parameters("number", numbers)
    rows = await reader.all(
        f"SELECT number FROM delivery WHERE number IN {names} AND status = 'pending'", **given
    )
    return {row["number"] for row in rows}


async def is_late(reader: Reader, before: Instant) -> bool:
    """Return whether a delivery has been due since before `before` to a webhook that is not failing."""
    rows = await reader.all(
        f"""
        {LANES}
        SELECT 1 FROM lane JOIN webhook ON webhook.id = lane.id AND webhook.failing_since IS NULL
        WHERE EXISTS (SELECT 1 FROM delivery
            WHERE webhook_id = lane.id AND status = 'pending' AND due_at < :before) LIMIT 1
        """,
        before=before,
    )
    return bool(rows)


# ---------- recording results ----------


async def get_many(tx: Transaction, numbers: Sequence[int]) -> dict[int, EventDelivery]:
    """Return those of these deliveries that still exist, by number."""
    names, given = list_parameters("number", numbers)
    rows = await tx.all(f"SELECT * FROM delivery WHERE number IN {names}", **given)
    return {each.number: each for each in load_readable(tx, "delivery", rows, load, "number")}


async def save(tx: Transaction, noted: Sequence[tuple[EventDelivery, DeliveryAttempt]]) -> None:
    """Save the results of attempts, each with its delivery as it is after the attempt."""
    await tx.run_many(
        """
        UPDATE delivery SET status = :status, due_at = :due_at, tries = :tries, attempt_count = :attempt_count,
            last_status_code = :last_status_code, last_error = :last_error, finished_at = :finished_at, boot = :boot,
            cut_offs = 0
        WHERE number = :number
        """,
        [{name: getattr(delivery, name) for name in COLUMNS} for delivery, _ in noted],
    )
    await tx.run_many(
        insert("attempt", ("delivery", "number", *ATTEMPT)),
        [
            {"delivery": delivery.number, "number": delivery.attempt_count}
            | {name: getattr(attempt, name) for name in ATTEMPT}
            for delivery, attempt in noted
        ],
    )


async def give_up(tx: Transaction, webhook_id: str, now: Instant, reason: str) -> int:
    """Mark everything that waits for a disabled webhook as failed; return how many."""
    return await tx.run_and_wake(
        """
        UPDATE delivery SET status = 'failed', finished_at = :now, last_error = :reason, boot = NULL
        WHERE webhook_id = :id AND status = 'pending'
        """,
        id=webhook_id,
        now=now,
        reason=reason,
    )


async def drop(tx: Transaction, webhook_id: str) -> int:
    """Delete everything that waits for a deleted webhook; return how many."""
    return await tx.run_and_wake(
        "DELETE FROM delivery WHERE webhook_id = :id AND status = 'pending'", id=webhook_id
    )


# ---------- lists ----------


async def get(reader: Reader, webhook_id: str, delivery_id: str) -> EventDelivery | None:
    """Return the delivery to this webhook, or None."""
    row = await reader.one(
        "SELECT * FROM delivery WHERE id = :id AND webhook_id = :webhook_id",
        id=delivery_id,
        webhook_id=webhook_id,
    )
    return load(row) if row else None


async def find_attempts(reader: Reader, number: int) -> list[DeliveryAttempt]:
    """Return every attempt of a delivery, oldest first."""
    rows = await reader.all("SELECT * FROM attempt WHERE delivery = :number ORDER BY number", number=number)
    return [DeliveryAttempt(**{name: row[name] for name in ATTEMPT}) for row in rows]


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """The deliveries to read: those to a webhook, of one status or of one type of event if they are given."""

    webhook_id: str
    status: DeliveryStatus | None = None
    event_type: str | None = None


async def find_page(
    reader: Reader, wanted: DeliveryFilter, limit: int, after: PageStart | None = None
) -> list[EventDelivery]:
    """Return up to `limit` deliveries to a webhook, newest first.

    Each status is read along its own index, and the results are merged.
    """
    narrower = "AND event_type = :event_type" if wanted.event_type is not None else ""
    several = [wanted.status] if wanted.status is not None else list(DeliveryStatus)
    statuses, given = list_parameters("status", several)
    arms = [
        f"""
        SELECT * FROM delivery WHERE webhook_id = :webhook_id AND status = {name} {narrower}
        AND (created_at, id) < (:created_at, :id)
        """
        for name in statuses.strip("()").split(", ")
    ]
    rows = await reader.all(
        " UNION ALL ".join(arms) + " ORDER BY created_at DESC, id DESC LIMIT :limit",
        webhook_id=wanted.webhook_id,
        **({"event_type": wanted.event_type} if wanted.event_type is not None else {}),
        created_at=after.at if after else 2**62,
        id=after.id if after else "",
        limit=limit,
        **given,
    )
    return load_readable(reader, "delivery", rows, load)


async def find_pending(reader: Reader, webhook_id: str) -> list[EventDelivery]:
    """Return what waits for a webhook, the longest due first."""
    rows = await reader.all(
        "SELECT * FROM delivery WHERE webhook_id = :id AND status = 'pending' ORDER BY due_at, number",
        id=webhook_id,
    )
    return load_readable(reader, "delivery", rows, load)


def load(row: Row) -> EventDelivery:
    """Return the delivery of one row."""
    return EventDelivery(**{name: row[name] for name in COLUMNS} | {"status": DeliveryStatus(row["status"])})
