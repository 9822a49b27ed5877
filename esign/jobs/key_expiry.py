"""API keys near their end: administrators are told, and unused keys are revoked where that is switched on."""

from esign.actions.people import key_expiry
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """The number of keys that something was said or done about."""
    if runtime.clock.doubt:
        return 0
    count = await key_expiry.tell_expiring(runtime)
    if runtime.config.keys.revoke_unused:
        count += await key_expiry.revoke_unused(runtime)
    return count
