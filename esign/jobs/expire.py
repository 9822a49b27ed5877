"""Lets documents expire whose time is over, each in a transaction of its own."""

from functools import partial

from esign.actions.document import documents as actions
from esign.jobs.work_off_rows import work_off
from esign.runtime import Runtime
from esign.store.document import due_documents
from esign.store.queue import held_jobs

BATCH = 500


async def tick(runtime: Runtime) -> int:
    """Let the due documents expire, and return how many were tried.

    After a restore they wait until an administrator resumes: they may have been completed since the backup.
    """

    async def find(limit: int) -> list[str]:
        if runtime.clock.doubt or await held_jobs.find_open_restoration(runtime.db.points):
            return []
        return await due_documents.find_expired(runtime.db, runtime.clock.read_settled_time(), limit)

    return await work_off(runtime, "document", find, partial(actions.expire, runtime), BATCH)
