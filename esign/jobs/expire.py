"""Lets documents expire whose time is over, each in a transaction of its own."""

from functools import partial

from esign.actions.document import documents as actions
from esign.jobs.work_off_rows import work_off
from esign.runtime import Runtime
from esign.store.document import due_documents

BATCH = 500


async def tick(runtime: Runtime) -> int:
    """Let the due documents expire, and return how many were tried."""

    async def find(limit: int) -> list[str]:
        if runtime.clock.doubt:
            return []
        return await due_documents.find_expired(runtime.db, runtime.clock.read_settled_time(), limit)

    return await work_off(runtime, "document", find, partial(actions.expire, runtime), BATCH)
