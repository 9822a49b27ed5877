"""Anchors the audit trails once a day, and delivers the anchors."""

from esign.actions.server import anchor_targets, anchoring
from esign.runtime import Runtime
from esign.store.queue import held_jobs


async def tick(runtime: Runtime) -> int:
    """Make the anchors that are due and deliver what the targets lack. Return the number of anchors made.

    A database that was just restored does neither before its administrator lets it go on: it may be a second one.
    """
    if await held_jobs.find_open_restoration(runtime.db.points):
        return 0
    made = await anchoring.make_due_anchors(runtime)
    await anchor_targets.deliver_anchors(runtime)
    return made
