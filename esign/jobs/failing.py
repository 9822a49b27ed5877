"""Webhooks that have taken nothing for days are announced to be switched off, and then are."""

from esign.actions import delivering
from esign.core.delivery import OFF_AFTER, WARNED_BEFORE, verdict
from esign.runtime import Runtime
from esign.store import webhooks


async def tick(runtime: Runtime) -> int:
    """The number of webhooks for which something is due; those with few failures stay as they are, at no cost."""
    now = runtime.clock.now()
    found = await webhooks.find_failing(runtime.db, now - OFF_AFTER + WARNED_BEFORE)
    due = [webhook.id for webhook in found if verdict(webhook, now) is not None]
    for webhook_id in due:
        await delivering.end_failing(runtime, webhook_id)
    return len(due)
