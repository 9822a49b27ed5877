"""Reads every stored file again within a month, a little each minute, and mails owners about damage."""

from esign.actions.server import patrol
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Take the next step of the pass, report what was found, and return the number of contents read."""
    try:
        return await patrol.walk_on(runtime)
    finally:
        await patrol.report_damage(runtime)


async def recheck(runtime: Runtime) -> int:
    """Read again what is known to be damaged, and return how much of that is left."""
    await patrol.look_again(runtime)
    return len(runtime.db.damage.entries())
