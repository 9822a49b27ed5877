"""Deletes documents that ended long ago, each in a transaction of its own (contract 3.5, 8)."""

from collections.abc import Awaitable, Callable
from functools import partial

from esign.actions.document import cancel_delete
from esign.core.actor import Mode, Owner
from esign.core.document.retention import find_horizons
from esign.jobs.work_off_rows import act_on
from esign.runtime import Runtime
from esign.store.document import due_documents
from esign.store.people import organisations
from esign.store.queue import held_jobs

BATCH = 100

Find = Callable[[int], Awaitable[list[str]]]


async def tick(runtime: Runtime) -> int:
    """Delete the documents whose retention is over, and return their number.

    After a restore they stay until an administrator resumes: the settings may have been others since the backup.
    """
    if runtime.clock.doubt or await held_jobs.find_open_restoration(runtime.db.points):
        return 0
    db, now, test_days = runtime.db, runtime.clock.read_settled_time(), runtime.config.test.purge_after_days
    count = 0
    for organisation in await organisations.find_all(db):
        for mode in Mode:
            until = find_horizons(organisation, mode, test_days, now)
            find = partial(due_documents.find_ended, db, Owner(organisation.id, mode))
            if until.completed is not None:
                count += await purge(runtime, partial(find, "completed_at", until.completed))
            if until.closed is not None:
                count += await purge(runtime, partial(find, "closed_at", until.closed))
    return count


async def purge(runtime: Runtime, find: Find) -> int:
    """Delete what `find` returns until it returns nothing, or only documents that may stay.

    Return the number deleted.
    """
    aside, count = set[str](), 0
    while found := [each for each in await find(BATCH + len(aside)) if each not in aside]:
        gone = list[str]()

        async def act(document_id: str, gone: list[str] = gone) -> None:
            if await cancel_delete.delete_due(runtime, document_id):
                gone.append(document_id)

        aside |= await act_on(runtime, "document", found, act)
        count += len(gone)
        if not gone and not aside.intersection(found):
            break
    return count
