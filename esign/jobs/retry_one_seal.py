"""Try one of the waiting seals each minute, so that sealing goes on soon after its cause of failure is gone.

Seals that failed for the same cause, such as a time-stamp authority that does not answer, wait for their next attempt.
One of them is made due here; if it succeeds, its job makes the others due.
"""

from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import outbox


async def tick(runtime: Runtime) -> int:
    """Make one of the waiting seals of each cause due, and return how many were."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> int:
        return await outbox.hasten_one_per_cause(tx, "seal", now)

    return await runtime.db.write(write)
