"""Renews the certificate that this server shows to browsers, or takes up the files of another one."""

from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Return 1 if another certificate is shown now. Its trouble is told by the state, not raised."""
    if runtime.https is None:
        return 0
    return int(await runtime.https.refresh(runtime.clock.now()))
