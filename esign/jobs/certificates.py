"""The seal certificate is renewed before it ends, without anybody doing anything."""

from esign.actions.server import seal_certificates
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """The number of modes that have another certificate now."""
    return await seal_certificates.refresh(runtime)
