"""Tries one seal each minute where several wait for the same cause. The first that succeeds makes the others due."""

from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import outbox


async def tick(runtime: Runtime) -> int:
    """Make one of the waiting seals of each cause due, and return how many were."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> int:
        return await outbox.probe(tx, "seal", now)

    return await runtime.db.write(write)
