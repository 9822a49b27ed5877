"""Keeps the process running that signs seals, so that a key file that breaks later stops no seal."""

from esign.actions.server import seal_certificates
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Start the process if it is not there, and look at the key files anew if a key cannot be used.

    Return 1 if a seal key can be used again that could not before.
    """
    return int(await seal_certificates.keep_signer(runtime))
