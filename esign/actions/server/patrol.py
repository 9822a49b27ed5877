"""The slow patrol: reads every stored file again and verifies every seal within a month, when nothing else is to do.

Hashes are spread evenly, so the part of them that lies behind the patrol is the part of the pass that is done: its rate
needs no count of the files. What it finds, and damage that anything else has come upon, is kept in the table `damage`,
shown as all damage is, and mailed to the owners once.
"""

import logging
from dataclasses import replace
from functools import partial

from esign.actions.mail import notices
from esign.actions.mail.notices import News
from esign.actions.verification import verify_trails
from esign.actions.verification.as_sealed import verify_as_sealed
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR, Instant
from esign.core.people.member import MemberRole, MemberStatus
from esign.pdf.report import Verification, VerificationCase
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import WorkerBusy
from esign.runtime import Runtime
from esign.store.document import blobs, sealed_files
from esign.store.document.sealed_files import SealedFile
from esign.store.engine.database import Transaction
from esign.store.engine.failures import DatabaseError
from esign.store.engine.unreadable_rows import UnreadableRow
from esign.store.people import members, organisations
from esign.store.server import patrol
from esign.store.server.patrol import Damage, PatrolState
from esign.system.supervision import beat

log = logging.getLogger("esign.patrol")

PASS = 25 * DAY  # one pass takes no longer, which leaves five days of a month for a server that was off
MOST = 200  # contents in one step: a server that was off for long catches up within hours
END = "f" * 64
SPACE = 16**12  # hashes are compared with a time by their first twelve digits
SEAL, BLOB = "seal", "blob"
NAMED, TOLD = 5, 1_000  # things that one mail names, and that it counts
BETWEEN_MAILS = 20 * HOUR
CPU_SECONDS = 50  # for one seal: as many as making it may take
IDLE = QueueTurn(PdfJobKind.STRANGER, "patrol", "patrol", CPU_SECONDS)


class PatrolWaits(Exception):
    """The workers have more urgent things to do than to verify a seal."""


async def walk_on(runtime: Runtime) -> int:
    """Read the contents that are due, and return their number."""
    now = runtime.clock.read_settled_time()
    before = await patrol.find(runtime.db)
    state = before or PatrolState("", now)
    due = find_due_place(state, now)
    found = await patrol.find_contents(runtime.db, state.place, due, MOST)
    count = 0
    for sha256 in found:
        try:
            await read_content(runtime, sha256)
        except PatrolWaits:
            break  # it is the first of the next step
        except (DatabaseError, UnreadableRow) as error:
            runtime.db.damage.note(BLOB, sha256, f"it cannot be read: {error}")
        count += 1
        runtime.measures.patrolled["contents"] += 1
        beat()
    if count:
        state = replace(state, place=found[count - 1], contents=state.contents + count)
    elif not found and due == END:
        log.info("the patrol has read all %d stored files", state.contents)
        state = replace(state, place="", begun_at=now, contents=0, finished_at=now)
    if state != before:
        await runtime.db.write(lambda tx: patrol.save(tx, state))
    return count


def find_due_place(state: PatrolState, now: Instant) -> str:
    """Return the hash up to which a pass has to have come by now."""
    part = min(1.0, max(0.0, (now - state.begun_at) / PASS))
    return END if part == 1.0 else f"{int(part * SPACE):012x}".ljust(64, "0")


async def read_content(runtime: Runtime, sha256: str) -> None:
    """Read one content and verify the seals in it; what is wrong is noted as damage. Raises PatrolWaits."""
    try:
        await blobs.open_content(runtime.db, sha256)
        for file in await sealed_files.find_of_content(runtime.db, sha256):
            await verify_seal(runtime, file, sha256)
    except blobs.MissingBlob:
        if not await patrol.find_contents(runtime.db, sha256[:-1], sha256, 1):
            runtime.db.damage.forget(BLOB, sha256)  # it was deleted meanwhile: nothing refers to it


async def verify_seal(runtime: Runtime, file: SealedFile, sha256: str) -> None:
    """Verify the seal of one file; note it as damage if it does not hold. Raises PatrolWaits."""

    async def verify(content: bytes) -> Verification:
        case = VerificationCase((*runtime.trusted, *runtime.roots), runtime.clock.now(), tuple(runtime.own))
        try:
            found = await verify_as_sealed(lambda case: runtime.pdf.verify(content, case, IDLE), case)
        except WorkerBusy as busy:
            raise PatrolWaits from busy
        except Problem as problem:
            if problem.code != "invalid_file":
                raise PatrolWaits from problem
            raise
        runtime.measures.patrolled["seals"] += 1
        return found

    name = f"{file.document_id} {sha256}"
    if sha256 == file.sealed:
        _, fault = await verify_trails.compare_own_file(runtime.db, file.document_id, verify, late=file.late)
    else:
        fault = await find_certificate_fault(await blobs.get(runtime.db, sha256), verify)
    if fault is None:
        runtime.db.damage.forget(SEAL, name)
    else:
        runtime.db.damage.note(SEAL, name, fault)


async def find_certificate_fault(content: bytes, verify: verify_trails.Verifier) -> str | None:
    """Return why the seal of a certificate of completion does not hold, or None."""
    try:
        held = verify_trails.is_sealed_here(await verify(content))
    except Problem as problem:
        return f"its certificate of completion cannot be checked: {problem}"
    return None if held else "its certificate of completion was changed, or was not sealed here"


# ---------- what was found ----------


async def look_again(runtime: Runtime) -> None:
    """Read again what was found damaged: it is shown after a restart too, and forgotten once it was put back."""
    for damage in await patrol.list_damage(runtime.db, TOLD):
        if damage.kind in (BLOB, SEAL):
            runtime.db.damage.forget(damage.kind, damage.subject)
            try:
                await read_content(runtime, damage.subject.split()[-1])
            except (PatrolWaits, DatabaseError, UnreadableRow):
                runtime.db.damage.note(damage.kind, damage.subject, damage.reason)
            beat()
        elif damage.found_at > runtime.clock.now() - PASS:
            continue  # whatever found it says so again when it comes upon it
        if (damage.kind, damage.subject) not in {entry[:2] for entry in runtime.db.damage.entries()}:
            await runtime.db.write(partial(patrol.forget_damage, damage=damage))


async def has_owner(runtime: Runtime, organisation_id: str) -> bool:
    """Return whether anybody reads what owners are told."""
    found = await members.find_administrators(runtime.db, organisation_id)
    return any(one.role is MemberRole.OWNER and one.status is MemberStatus.ACTIVE for one in found)


async def report_damage(runtime: Runtime) -> int:
    """Keep the damage that was found since, and mail the owners about what they were not told of.

    Return the number of things that a mail was about. The owners are those of the organisation that was set up first:
    they look after the server. The first mail leaves at once, and one in a day after that.
    """
    now = runtime.clock.now()
    found = [Damage(kind, subject, reason, now) for kind, subject, reason in runtime.db.damage.entries()]
    state = await patrol.find(runtime.db)
    if found:
        await runtime.db.write(lambda tx: patrol.note_damage(tx, found))
    if state is None or (state.mailed_at is not None and now - state.mailed_at < BETWEEN_MAILS):
        return 0
    untold = await patrol.list_untold(runtime.db, TOLD)
    first = await organisations.find_first(runtime.db)
    if not untold or first is None or not await has_owner(runtime, first.id):
        return 0
    names = "; ".join(f"{one.kind} {one.subject}" for one in untold[:NAMED])
    facts: dict[str, str | int] = {"number": len(untold), "damaged": names}

    async def write(tx: Transaction) -> None:
        await notices.tell_owners(tx, runtime.vault, first.id, News("damage_found", str(now), facts), now)
        await patrol.mark_told(tx, untold, now)

    await runtime.db.write(write)
    return len(untold)
