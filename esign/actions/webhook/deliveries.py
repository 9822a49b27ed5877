"""Reads deliveries and events, repeats a delivery, sends a test event, and recovers events that were missed."""

from dataclasses import dataclass

from esign.actions.base.caller import Caller
from esign.actions.webhook import deliver_events
from esign.actions.webhook.webhooks import get, get_enabled
from esign.core.actor import Owner
from esign.core.errors import NO_DELIVERY, Problem
from esign.core.instant import MINUTE, Instant
from esign.core.webhook.delivery import DELAYS, DeliveryAttempt, EventDelivery
from esign.core.webhook.webhook import Webhook, make_test_payload
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.paging import PageStart, cut_page
from esign.store.queue import deliveries, published_events
from esign.store.queue.deliveries import DeliveryFilter
from esign.store.queue.published_events import EventFilter
from esign.system.entropy import make_id

LEASE = MINUTE  # longer than any attempt takes
ONCE = len(DELAYS) - 1  # attempts that a test event counts as made already, so that its first is its last
BATCH = 500


async def find_page(
    runtime: Runtime, owner: Owner, wanted: DeliveryFilter, limit: int, after: PageStart | None
) -> tuple[list[EventDelivery], PageStart | None]:
    """Return a page of the deliveries to a webhook, newest first, and the place where the next page begins, or None."""
    await get(runtime, owner, wanted.webhook_id)
    found = await deliveries.find_page(runtime.db, wanted, limit + 1, after)
    return cut_page(found, limit)


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """A delivery with all its attempts and the body that is posted."""

    delivery: EventDelivery
    attempts: list[DeliveryAttempt]
    body: bytes


async def read(runtime: Runtime, owner: Owner, webhook_id: str, delivery_id: str) -> DeliveryLog:
    """Return a delivery with its attempts and body. Raises `not_found`."""
    await get(runtime, owner, webhook_id)
    delivery = await find_delivery(runtime.db, webhook_id, delivery_id)
    body = await published_events.get_body(runtime.db, delivery.event_id)
    if body is None:
        raise Problem("not_found", NO_DELIVERY)
    return DeliveryLog(delivery, await deliveries.find_attempts(runtime.db, delivery.number), body)


async def find_delivery(reader: Reader, webhook_id: str, delivery_id: str) -> EventDelivery:
    """Return the delivery. Raises `not_found`."""
    found = await deliveries.get(reader, webhook_id, delivery_id)
    if found is None:
        raise Problem("not_found", NO_DELIVERY)
    return found


async def redeliver(runtime: Runtime, caller: Caller, webhook_id: str, delivery_id: str) -> EventDelivery:
    """Make one attempt now, whatever the status, and return the delivery after it. Raises `webhook_disabled`."""
    webhook = await get_enabled(runtime.db, caller.owner, webhook_id)
    delivery = await find_delivery(runtime.db, webhook_id, delivery_id)
    body = await published_events.get_body(runtime.db, delivery.event_id)
    if body is None:
        raise Problem("not_found", NO_DELIVERY)
    attempt = await deliver_events.attempt(runtime, webhook, delivery.event_id, body)

    async def write(tx: Transaction) -> EventDelivery:
        await deliver_events.note_attempts(runtime, tx, [(delivery.number, attempt)], by_hand=True)
        after = await find_delivery(tx, webhook_id, delivery_id)
        await caller.keep(tx, after)
        return after

    after = await runtime.db.write(write)
    return after


async def send_test(runtime: Runtime, caller: Caller, webhook_id: str) -> EventDelivery:
    """Send `webhook.test` once, now, whatever events the webhook subscribes to. Raises `webhook_disabled`.

    The delivery is stored as running. If the program ends meanwhile, the next start makes the attempt.
    """
    now = runtime.clock.now()
    event_id = make_id("evt", now)

    async def queue(tx: Transaction) -> tuple[Webhook, EventDelivery, bytes]:
        webhook = await get_enabled(tx, caller.owner, webhook_id)
        event = make_test_payload(webhook, event_id, now)
        body = await published_events.publish(tx, event, webhook.organisation_id, None, now)
        made = deliveries.make_delivery(
            webhook_id, event_id, event["type"], now, boot=runtime.boot, tries=ONCE, lease=LEASE
        )
        await deliveries.add(tx, [made])
        return webhook, await find_delivery(tx, webhook_id, made.id), body

    webhook, delivery, body = await runtime.db.write(queue)
    attempt = await deliver_events.attempt(runtime, webhook, event_id, body)

    async def write(tx: Transaction) -> None:
        await deliver_events.note_attempts(runtime, tx, [(delivery.number, attempt)])
        await caller.keep(tx, delivery)

    await runtime.db.write(write)
    return delivery


async def recover(runtime: Runtime, caller: Caller, webhook_id: str, since: Instant, until: Instant) -> int:
    """Queue every subscribed event of a period that was not delivered and is not queued. Return the number of
    events queued.

    It works in short transactions, so that other writers wait only briefly. The last of them keeps the answer.
    """
    owner = caller.owner
    wanted = EventFilter(owner.organisation_id, owner.mode, since=since, before=until + 1)
    queued = 0
    more: PageStart | None = PageStart(since, "")

    async def queue_batch(tx: Transaction) -> tuple[int, PageStart | None]:
        assert more is not None, "the loop has ended"
        webhook = await get_enabled(tx, owner, webhook_id)
        number, after = await requeue(tx, webhook, wanted, more, runtime.clock.now())
        if after is None:
            await caller.keep(tx, queued + number)
        return queued + number, after

    while more is not None:
        queued, more = await runtime.db.write(queue_batch)
    return queued


async def requeue(
    tx: Transaction, webhook: Webhook, wanted: EventFilter, after: PageStart, now: Instant
) -> tuple[int, PageStart | None]:
    """Queue a batch of the events that a webhook missed.

    Return how many were queued, and the place where to go on, or None at the end.
    """
    looked_at = await published_events.find_received(tx, wanted, webhook.id, BATCH, after)
    made = [
        deliveries.make_delivery(webhook.id, found.id, event_type, now)
        for found, event_type, received in looked_at
        if not received and webhook.subscribes(event_type)
    ]
    await deliveries.add(tx, made)
    return len(made), looked_at[-1][0] if len(looked_at) == BATCH else None


async def find_events(
    runtime: Runtime, wanted: EventFilter, limit: int, after: PageStart | None
) -> tuple[list[bytes], PageStart | None]:
    """Return a page of event bodies, newest first, and the place where the next page begins, or None."""
    found = await published_events.find_page(runtime.db, wanted, limit + 1, after)
    page = found[:limit]
    return [body for _, body in page], page[-1][0] if len(found) > limit else None


async def read_event(runtime: Runtime, owner: Owner, event_id: str) -> bytes:
    """Return the body of an event as it is delivered. Raises `not_found`."""
    return await published_events.get_own(runtime.db, owner, event_id)
