"""Renews the certificates that documents are sealed with, and lets owners replace them."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.server import setup_checks
from esign.actions.server.server_owners import may_change_server
from esign.authority import BY_ITSELF, AuthorityError, ChangedBy, SealAuthority, examine_material, open_upload
from esign.core.actor import PROGRAM, Actor, Author, Mode, Origin
from esign.core.errors import Problem
from esign.core.instant import rfc3339, to_datetime
from esign.core.people.account import Organisation
from esign.core.people.member import MemberRole
from esign.core.people.permission import Permission as Permission
from esign.core.people.permission import has_permission
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import audit_log as logged
from esign.store.people import organisations
from esign.store.queue import outbox

UNSEALED = "A test page couldn’t be sealed with it. Choose another one. {reason}"

log = logging.getLogger("esign.seal")


def log_notices(authority: SealAuthority) -> None:
    """Log what the operator will have to do about the seal."""
    for warning in authority.warnings:
        log.error("%s Until then documents cannot be sealed.", warning)
    for notice in authority.notices:
        log.warning("%s", notice.sentence)


async def refresh(runtime: Runtime, level: int = logging.ERROR) -> int:
    """Renew certificates that end soon, and load what was put into the files meanwhile. Return the number of
    changed modes.

    If the files cannot be used, sealing goes on with the present certificates. That is logged at `level`.
    """
    keyring = runtime.keyring
    try:
        before, after = await keyring.run(keyring.refresh, runtime.clock.read_settled_time())
    except AuthorityError as error:
        log.log(level, "%s Until then the seal certificate stays the one before.", error)
        return 0
    number = await apply_change(runtime, before, after)
    await log_changes(runtime, PROGRAM)
    return number


async def log_changes(runtime: Runtime, author: Author, by: ChangedBy = BY_ITSELF) -> None:
    """Enter the changes that the journal beside the keys records and the administrative audit log does not have yet.

    The keys are files, so no transaction covers both them and the log. After a crash between the two, the next
    start or hour enters what is missing. Changes by `by` are entered as acts of `author`. If two people change
    the seal at the same time, one call may enter the changes of both.
    """
    history = await runtime.keyring.run(runtime.keyring.read_history)
    changes = list(enumerate(reversed(history), 1))

    async def write(tx: Transaction) -> None:
        first = await organisations.find_first(tx)
        last = await logged.find_newest(tx, first.id, "seal.changed") if first else None
        entered = int(last.data["number"]) if last else 0
        for number, change in changes:
            if number > entered:
                is_theirs = (change.who, change.ip) == (by.who, by.ip)
                who = author if is_theirs else Author(Actor("system"), Origin(change.ip))
                data = {
                    "number": number,
                    "act": change.deed,
                    "changedAt": rfc3339(change.at),
                    "sha256": change.fingerprint,
                }
                detail = {"subject": change.subject, "by": change.who}
                act = AdminAct("seal.changed", runtime.clock.now(), data, detail)
                await audit_log.log_of_installation(tx, runtime.vault, who, act)

    await runtime.db.write(write)


async def apply_change(runtime: Runtime, before: SealAuthority, after: SealAuthority) -> int:
    """Log the differences, and make the seals due that wait. Return the number of modes with another certificate."""
    if (before.warnings, before.notices) != (after.warnings, after.notices):
        log_notices(after)
    pairs = {Mode.LIVE: (before.live, after.live), Mode.TEST: (before.test, after.test)}
    renewed = [mode for mode, (was, now) in pairs.items() if was != now]
    for mode in renewed:
        log.warning("documents of %s mode are sealed with another certificate from now on", mode)

    if renewed:
        await runtime.pdf.signer.forget_keys()
        await _hasten_seals(runtime)
    return len(renewed)


async def keep_signer(runtime: Runtime) -> bool:
    """Keep the process that has the seal keys running, and make the seals due that waited for a key.

    While a key cannot be used, look at the files as often as the process is tried. Return whether a key can be used
    again that could not before.
    """
    signer = runtime.pdf.signer
    before = signer.attempts
    healed = await signer.keep_ready(list(runtime.credentials.values()))
    if healed:
        await _hasten_seals(runtime)
    has_fault = any(signer.find_fault(each) for each in runtime.credentials.values())
    if has_fault and signer.attempts > before:
        # The signer has logged why the key cannot be used.
        healed = bool(await refresh(runtime, logging.DEBUG)) or healed
    return healed


async def _hasten_seals(runtime: Runtime) -> None:
    async def write(tx: Transaction) -> None:
        await outbox.hasten(tx, "seal", runtime.clock.now())

    await runtime.db.write(write)


# ---------- by those who look after the server ----------


@dataclass(frozen=True, slots=True)
class SealEditor:
    """The member who changes the seal: their organisation, their role in it, and the author of the log entry."""

    organisation: Organisation
    role: MemberRole
    author: Author

    @property
    def changed_by(self) -> ChangedBy:
        """Return the member and their IP address, as the history of certificates records them."""
        actor = self.author.actor
        return ChangedBy(f"{actor.name} <{actor.email}>", self.author.origin.ip)


async def _require_may_change(runtime: Runtime, editor: SealEditor) -> None:
    """Raise `insufficient_scope` unless the member may change the seal.

    Only an owner of the first organisation may, and nobody if the configuration names the seal.
    """
    if not has_permission(editor.role, Permission.OWN):
        raise Problem("insufficient_scope", "Only an owner can change the seal.")
    if not await may_change_server(runtime.db, editor.organisation):
        raise Problem("insufficient_scope", "The seal belongs to the organisation that was set up first.")
    if runtime.keyring.authority.origin == "configured":
        raise Problem("insufficient_scope", "The seal is set in the configuration of this server.")


async def upload(
    runtime: Runtime, editor: SealEditor, files: Sequence[tuple[str, bytes]], passphrase: str
) -> tuple[str, ...]:
    """Seal with the uploaded files from now on. Raises `insufficient_scope`.

    Return the objections as sentences with their remedies. If there are any, nothing changes.
    """
    await _require_may_change(runtime, editor)
    now = runtime.clock.now()
    try:
        material, source = await asyncio.to_thread(open_upload, files, passphrase or None)
        found = examine_material(material, to_datetime(now), source)
        if problems := (*found.problems, *([found.dates] if found.dates else ())):
            return problems
        tried = await setup_checks.try_certificate(runtime, editor.organisation, material.credential)
        if not tried.fine:
            return (say(UNSEALED, reason=tried.words),)
        before, after = await runtime.keyring.run(runtime.keyring.upload, material, now, editor.changed_by)
    except AuthorityError as error:
        return error.problems
    await _finish_change(runtime, before, after, editor)
    return ()


async def go_back(runtime: Runtime, editor: SealEditor) -> None:
    """Seal with the certificate made here again, and delete the uploaded key. Raises `insufficient_scope`."""
    await _require_may_change(runtime, editor)
    before, after = await runtime.keyring.run(runtime.keyring.go_back, runtime.clock.now(), editor.changed_by)
    await _finish_change(runtime, before, after, editor)


async def make_anew(runtime: Runtime, editor: SealEditor) -> None:
    """Make another certificate here, in the present name of the organisation. Raises `insufficient_scope`."""
    await _require_may_change(runtime, editor)
    keyring = runtime.keyring
    before, after = await keyring.run(
        keyring.make_anew, editor.organisation.name, runtime.clock.now(), editor.changed_by
    )
    await _finish_change(runtime, before, after, editor)


async def _finish_change(
    runtime: Runtime, before: SealAuthority, after: SealAuthority, editor: SealEditor
) -> None:
    """Log and enter a change that a member made."""
    log.warning("%s changed the seal certificate", editor.changed_by.who)
    await apply_change(runtime, before, after)
    await log_changes(runtime, editor.author, editor.changed_by)
