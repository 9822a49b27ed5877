"""Renews the seal certificates before they end, without an administrator."""

from esign.actions.server import seal_certificates
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Renew the certificates that are due. Return the number of modes that have another certificate now."""
    return await seal_certificates.refresh(runtime)
