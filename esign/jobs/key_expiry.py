"""Warns administrators of API keys that end soon, and revokes unused keys where the configuration says so."""

from esign.actions.people import key_expiry
from esign.runtime import Runtime
from esign.store.queue import held_jobs


async def tick(runtime: Runtime) -> int:
    """Warn about and revoke API keys that are due, and return their number.

    After a restore they wait until an administrator resumes: when a key was used last is not known.
    """
    if runtime.clock.doubt or await held_jobs.find_open_restoration(runtime.db.points):
        return 0
    count = await key_expiry.tell_expiring(runtime)
    if runtime.config.keys.revoke_unused:
        count += await key_expiry.revoke_unused(runtime)
    return count
