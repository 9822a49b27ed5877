"""The certificates that documents are sealed with: renewed in time, and replaced by those who look after the server."""

import asyncio
import logging

from esign.authority import Authority, AuthorityError
from esign.core.document import Mode
from esign.runtime import Runtime
from esign.store import outbox
from esign.store.database import Transaction

log = logging.getLogger("esign.seal")


def tell(authority: Authority) -> None:
    """Whoever runs the server reads what will have to be done."""
    for warning in authority.warnings:
        log.error("%s Until then documents cannot be sealed.", warning)
    for notice in authority.notices:
        log.warning("%s", notice.sentence)


async def refresh(runtime: Runtime) -> int:
    """Renew what ends, and take what was put into the files meanwhile; the number of modes that changed.

    Where the files cannot be used, sealing goes on with what there is.
    """
    try:
        before, after = await asyncio.to_thread(runtime.keyring.refresh, runtime.clock.now())
    except AuthorityError as error:
        log.error("%s Until then the seal certificate stays the one before.", error)
        return 0
    return await changed(runtime, before, after)


async def changed(runtime: Runtime, before: Authority, after: Authority) -> int:
    """Say what is different, and let the documents try again that wait for a seal."""
    if (before.warnings, before.notices) != (after.warnings, after.notices):
        tell(after)
    pairs = {Mode.LIVE: (before.live, after.live), Mode.TEST: (before.test, after.test)}
    renewed = [mode for mode, (was, now) in pairs.items() if was != now]
    for mode in renewed:
        log.warning("documents of %s mode are sealed with another certificate from now on", mode)

    async def write(tx: Transaction) -> None:
        await outbox.hasten(tx, "seal", runtime.clock.now())

    if renewed:
        await runtime.db.write(write)
        runtime.bell.ring()
    return len(renewed)
