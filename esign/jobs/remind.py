"""Recipients who have not finished are reminded; missed reminders are skipped, not made up for."""

from esign.actions import reminding
from esign.runtime import Runtime
from esign.store import due

BATCH = 500


async def tick(runtime: Runtime) -> int:
    """The number of reminders looked at."""
    count = 0
    while found := await due.find_reminders_due(runtime.db, runtime.clock.now(), BATCH):
        for document_id, recipient_id in found:
            await reminding.remind(runtime, document_id, recipient_id)
        count += len(found)
    return count
