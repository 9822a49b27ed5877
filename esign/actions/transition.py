"""One transition of one document: read it, decide, save the outcome whole, wake the workers."""

from collections.abc import Awaitable, Callable
from typing import Any

from esign.core import lifecycle
from esign.core.document import Document
from esign.core.outcome import Outcome
from esign.runtime import Runtime
from esign.store import outcomes
from esign.store.database import Transaction

Keep = Callable[[Transaction, Any], Awaitable[None]]
Find = Callable[[Transaction], Awaitable[Document]]
Decide = Callable[[Document], Outcome]


async def transition(runtime: Runtime, find: Find, decide: Decide, keep: Keep | None = None) -> Document:
    """The document after `decide`; one that is past its expiry expires first (D10), then `decide` speaks to that."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> tuple[Document, bool]:
        before = await find(tx)
        if lifecycle.is_past_expiry(before, now):
            expired = await outcomes.save(tx, lifecycle.expire(before, now), before, runtime.vault, now)
            return expired, True
        document = await outcomes.save(tx, decide(before), before, runtime.vault, now)
        if keep is not None:
            await keep(tx, document)
        return document, False

    document, expired = await runtime.db.write(write)
    runtime.bell.ring()
    if expired:
        decide(document)
    return document
