"""The certificates that documents are sealed with: renewed in time, and replaced by those who look after the server."""

import asyncio
import logging
from collections.abc import Sequence

from esign.actions import checks
from esign.authority import Authority, AuthorityError, By, examine, opened
from esign.core.account import Organisation
from esign.core.document import Mode
from esign.core.errors import Problem
from esign.core.instant import to_datetime
from esign.runtime import Runtime
from esign.store import accounts, outbox
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


# ---------- by those who look after the server ----------


async def is_in_hand(runtime: Runtime, organisation: Organisation) -> bool:
    """Whether its people may change the seal: all organisations of a server share it, and the first one made it."""
    first = await accounts.first_organisation(runtime.db)
    return first is not None and first.id == organisation.id


async def _require_hand(runtime: Runtime, organisation: Organisation) -> None:
    if not await is_in_hand(runtime, organisation):
        raise Problem("insufficient_scope", "The seal belongs to the organisation that was set up first.")
    if runtime.keyring.authority.origin == "configured":
        raise Problem("insufficient_scope", "The seal stands in the configuration of this server.")


async def upload(
    runtime: Runtime, organisation: Organisation, files: Sequence[tuple[str, bytes]], passphrase: str, by: By
) -> tuple[str, ...]:
    """Seal with these from now on, unless something speaks against it: each a sentence with its remedy."""
    await _require_hand(runtime, organisation)
    now = runtime.clock.now()
    try:
        material, source = await asyncio.to_thread(opened, files, passphrase or None)
        found = examine(material, to_datetime(now), source)
        if problems := (*found.problems, *([found.dates] if found.dates else ())):
            return problems
        tried = await checks.try_certificate(runtime, organisation, material.credential)
        if not tried.fine:
            return (f"A practice page could not be sealed with it; choose another one. {tried.words}",)
        before, after = await asyncio.to_thread(runtime.keyring.upload, material, now, by)
    except AuthorityError as error:
        return error.problems
    await _changed_by(runtime, before, after, by)
    return ()


async def go_back(runtime: Runtime, organisation: Organisation, by: By) -> None:
    """Seal with the certificate made here again; the uploaded key is gone."""
    await _require_hand(runtime, organisation)
    before, after = await asyncio.to_thread(runtime.keyring.go_back, runtime.clock.now(), by)
    await _changed_by(runtime, before, after, by)


async def make_anew(runtime: Runtime, organisation: Organisation, by: By) -> None:
    """Another certificate made here, in the name that the organisation has now."""
    await _require_hand(runtime, organisation)
    make = runtime.keyring.make_anew
    before, after = await asyncio.to_thread(make, organisation.name, runtime.clock.now(), by)
    await _changed_by(runtime, before, after, by)


async def _changed_by(runtime: Runtime, before: Authority, after: Authority, by: By) -> None:
    log.warning("%s changed the seal certificate", by.who)
    await changed(runtime, before, after)
