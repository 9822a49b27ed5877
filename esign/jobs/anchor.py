"""Anchors the audit trails once a day, and delivers the anchors."""

from esign.actions.server import anchoring
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Make the anchors that are due and deliver what the targets lack. Return the number of anchors made."""
    made = await anchoring.make_due_anchors(runtime)
    await anchoring.deliver_anchors(runtime)
    return made
