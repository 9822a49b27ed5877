"""Reminds recipients who have not finished. A reminder that was missed is skipped and not sent later."""

from esign.actions.document import reminders
from esign.jobs.work_off_rows import work_off
from esign.runtime import Runtime
from esign.store.document import due_documents
from esign.store.queue import held_jobs

BATCH = 500


async def tick(runtime: Runtime) -> int:
    """Send the reminders that are due, and return how many were tried; after a restore none until it is resumed."""

    async def find(limit: int) -> list[tuple[str, str]]:
        if runtime.clock.doubt or await held_jobs.find_open_restoration(runtime.db.points):
            return []
        return await due_documents.find_reminders_due(runtime.db, runtime.clock.read_settled_time(), limit)

    async def act(one: tuple[str, str]) -> None:
        await reminders.remind(runtime, *one)

    return await work_off(runtime, "document", find, act, BATCH)
