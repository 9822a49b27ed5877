"""Where several seals wait for the same cause, one of them is tried each minute; the first that succeeds frees all."""

from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import outbox


async def tick(runtime: Runtime) -> int:
    """The number of seals that are tried now."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> int:
        return await outbox.probe(tx, "seal", now)

    return await runtime.db.write(write)
