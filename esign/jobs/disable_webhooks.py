"""Webhooks that have taken nothing for days are announced to be switched off, and then are."""

from functools import partial

from esign.actions.webhook import deliver_events
from esign.core.webhook.delivery import OFF_AFTER, WARNED_BEFORE, verdict
from esign.jobs.set_aside import act_on
from esign.runtime import Runtime
from esign.store.queue import webhooks


async def tick(runtime: Runtime) -> int:
    """The number of webhooks for which something is due; those with few failures stay as they are, at no cost."""
    if runtime.clock.doubt:
        return 0
    now = runtime.clock.settled()
    found = await webhooks.find_failing(runtime.db, now - OFF_AFTER + WARNED_BEFORE)
    due = [webhook.id for webhook in found if verdict(webhook, now) is not None]
    await act_on(runtime, "webhook", due, partial(deliver_events.end_failing, runtime))
    return len(due)
