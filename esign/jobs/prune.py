"""Deletes rows that are kept only for a limited time, in small batches so that other writers wait only briefly."""

from collections.abc import Awaitable, Callable

from esign.core.instant import DAY, HOUR, Instant
from esign.core.people.contact import KEPT
from esign.runtime import Runtime
from esign.store.document import blobs, challenges, phone_handoffs
from esign.store.engine.database import Transaction
from esign.store.people import audit_log, contacts, known_browsers, sessions, tickets
from esign.store.queue import idempotency, kept_mail, outbox, published_events
from esign.system.supervision import beat

BATCH = 500
BLOBS = 16

Prune = Callable[[Transaction, Instant, int], Awaitable[int]]


async def tick(runtime: Runtime) -> int:
    """Delete the rows whose time is over, and return their number."""
    if runtime.clock.doubt:
        return 0
    now = runtime.clock.read_settled_time()
    answers = runtime.config.limits.idempotency_hours * HOUR
    table: tuple[tuple[Prune, Instant, int], ...] = (
        (idempotency.prune, now - answers, BATCH),
        (published_events.prune, now - runtime.config.limits.event_days * DAY, BATCH),
        (outbox.prune, now - outbox.KEPT, BATCH),
        (challenges.prune, now, BATCH),
        (phone_handoffs.prune, now - HOUR, BATCH),
        (sessions.prune, now, BATCH),
        (tickets.prune, now, BATCH),
        (kept_mail.prune, now - runtime.config.test.purge_after_days * DAY, BATCH),
        (blobs.prune, now - DAY, BLOBS),
        (audit_log.prune_failures, now - HOUR, BATCH),
        (known_browsers.prune, now - known_browsers.REMEMBERED, BATCH),
        (contacts.prune, now - KEPT, BATCH),
    )
    return sum([await prune_all(runtime, prune, before, batch) for prune, before, batch in table])


async def prune_all(runtime: Runtime, prune: Prune, before: Instant, batch: int) -> int:
    """Delete rows in batches until none are left, and return their number."""

    async def write(tx: Transaction) -> int:
        return await prune(tx, before, batch)

    gone = 0
    while count := await runtime.db.write(write):
        gone += count
        beat()
    return gone
