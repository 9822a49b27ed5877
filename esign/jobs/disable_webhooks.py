"""Switches off webhooks that have refused every delivery for days, after a warning to the administrators."""

from functools import partial

from esign.actions.webhook import deliver_events
from esign.core.webhook.delivery import OFF_AFTER, WARNED_BEFORE, find_due_step
from esign.jobs.work_off_rows import act_on
from esign.runtime import Runtime
from esign.store.queue import held_jobs, webhooks


async def tick(runtime: Runtime) -> int:
    """Warn about or switch off failing webhooks, and return their number.

    A webhook that has failed only for a short time causes no write.
    After a restore nothing is judged until an administrator resumes: what was delivered since is not known.
    """
    if runtime.clock.doubt or await held_jobs.find_open_restoration(runtime.db.points):
        return 0
    now = runtime.clock.read_settled_time()
    found = await webhooks.find_failing(runtime.db, now - OFF_AFTER + WARNED_BEFORE)
    due = [webhook.id for webhook in found if find_due_step(webhook, now) is not None]
    await act_on(runtime, "webhook", due, partial(deliver_events.end_failing, runtime))
    return len(due)
