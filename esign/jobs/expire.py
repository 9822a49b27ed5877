"""Documents whose time is over expire, each in a transaction of its own."""

from esign.actions import documents as actions
from esign.runtime import Runtime
from esign.store import due

BATCH = 500


async def tick(runtime: Runtime) -> int:
    """The number of documents that expired."""
    count = 0
    while found := await due.find_expired(runtime.db, runtime.clock.now(), BATCH):
        for document_id in found:
            await actions.expire(runtime, document_id)
        count += len(found)
    return count
