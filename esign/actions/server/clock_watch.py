"""The guarded clock of a running program: opened, watched, and confirmed by an operator (see `esign.clock`)."""

import logging

from esign.actions.base import audit_log
from esign.actions.base.audit_log import Act
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, rfc3339
from esign.core.people.account import Organisation
from esign.core.people.caller import COMMAND, Caller
from esign.runtime import Runtime
from esign.store.engine.database import Database, Reader, Transaction
from esign.store.people import accounts
from esign.store.queue import deliveries, outbox
from esign.store.server import clock_marks
from esign.store.server.clock_marks import ClockRecord
from esign.system.clock import TOLERANCE, Clock, Doubt, GuardedClock, SystemClock, read_boot_id
from esign.system.vault import Vault

log = logging.getLogger("esign.clock")

MARK_EVERY: Millis = MINUTE
RECENT: Millis = HOUR  # an older confirmation spoke of another clock
# No retry is planned further ahead than 24 hours and a tenth; what stands beyond was planned by a wrong clock.
LATEST_RETRY: Millis = 27 * HOUR


async def open_clock(db: Database, source: Clock) -> GuardedClock:
    """Return the clock of this run, which knows what time was certain last; log where that is not the time now."""
    boot_id = read_boot_id() if isinstance(source, SystemClock) else ""
    record = await clock_marks.find(db)
    mark = None if record is None or is_confirmed(record, source.now()) else record.mark
    clock = GuardedClock(source, mark, boot_id)
    try:
        await note(db, clock, record)
    except Problem:  # on a full disk the server starts to be read from; the mark is written later
        log.warning("the time of this start cannot be written; check the disk and its free space")
    return clock


async def read_now(db: Database) -> Instant:
    """Return the time by which a server on this database goes, for a command beside it; nothing is written."""
    source = SystemClock()
    record = await clock_marks.find(db)
    mark = None if record is None or is_confirmed(record, source.now()) else record.mark
    return GuardedClock(source, mark, read_boot_id()).now()


async def watch(runtime: Runtime) -> bool:
    """Compare the clocks, log and store what came of it; whether the wall clock is believed."""
    db, clock = runtime.db, runtime.clock
    record = await clock_marks.find(db)
    if record is not None and is_confirmed(record, clock.wall()) and clock.doubt is not None:
        await believe(runtime, "the command line")
        return True
    await note(db, clock, record)
    return clock.doubt is None


async def note(db: Database, clock: GuardedClock, record: ClockRecord | None) -> None:
    """Write down what is certain, and say where that has changed since `record`."""
    mark, doubt = clock.mark(), clock.doubt
    if doubt is not None and is_news(doubt, record):
        log.error("%s", describe(doubt))
        await db.write(lambda tx: clock_marks.save_doubt(tx, doubt))
    if doubt is None and mark is not None and (record is None or is_due(mark.at, record)):
        if record is not None and record.doubt_since is not None:
            log.warning("the time is certain again: %s; what is due is done", rfc3339(mark.at))
        await db.write(lambda tx: clock_marks.save(tx, mark))


def is_due(at: Instant, record: ClockRecord) -> bool:
    """Return whether the mark is to be written again."""
    settles = record.doubt_since is not None or record.confirmed is not None
    return settles or abs(at - record.mark.at) >= MARK_EVERY


def is_news(doubt: Doubt, record: ClockRecord | None) -> bool:
    if record is None or record.doubt_since is None or record.doubt_ahead is None:
        return True
    return abs(record.doubt_ahead - doubt.ahead) > TOLERANCE


def is_confirmed(record: ClockRecord, wall: Instant) -> bool:
    """Return whether an operator has said that this wall clock, and not another one, is right."""
    return record.confirmed is not None and abs(wall - record.confirmed) < RECENT


async def is_in_hand(reader: Reader, organisation: Organisation) -> bool:
    """Return whether its owners may confirm the clock: what is due in every organisation of the server hangs on it."""
    first = await accounts.first_organisation(reader)
    return first is not None and first.id == organisation.id


async def confirm(runtime: Runtime, organisation: Organisation, caller: Caller) -> None:
    """Believe the wall clock from now on, on the word of an owner; where it is in no doubt, nothing is to be done.

    Raises `insufficient_scope` for the owners of any organisation but the first.
    """
    if not await is_in_hand(runtime.db, organisation):
        sentence = (
            "The clock of this server is confirmed by the owners of the organisation that was set up first."
        )
        raise Problem("insufficient_scope", sentence)
    if runtime.clock.doubt is None:
        return
    wall = runtime.clock.wall()
    await runtime.db.write(lambda tx: enter(tx, runtime.vault, wall, caller))
    await believe(runtime, caller.actor.name or "an owner")


async def enter(tx: Transaction, vault: Vault, wall: Instant, caller: Caller) -> None:
    """Enter in the administrative log which time somebody says is right."""
    act = Act("clock.confirmed", {"time": rfc3339(wall)})
    await audit_log.log_of_installation(tx, vault, caller, wall, act)


async def believe(runtime: Runtime, by: str) -> None:
    """Go by the wall clock from now on."""
    runtime.clock.confirm()
    log.warning("the wall clock was confirmed by %s: it is %s", by, rfc3339(runtime.clock.now()))
    mark = runtime.clock.mark()
    if mark is not None:

        async def write(tx: Transaction) -> None:
            await clock_marks.save(tx, mark)
            tx.wake_workers()

        await runtime.db.write(write)


async def request_confirmation(db: Database, vault: Vault, wall: Instant) -> bool:
    """Let a running server, or the next start, believe the wall clock; False where nothing is in doubt."""

    async def write(tx: Transaction) -> bool:
        if not await clock_marks.save_confirmed(tx, wall):
            return False
        await enter(tx, vault, wall, COMMAND)
        return True

    return await db.write(write)


async def pull_in(runtime: Runtime) -> int:
    """Make due now what a wrong clock planned for later than any plan reaches; return how much that was."""
    now = runtime.clock.now()
    latest = now + LATEST_RETRY
    if not (await outbox.is_beyond(runtime.db, latest) or await deliveries.is_beyond(runtime.db, latest)):
        return 0

    async def write(tx: Transaction) -> int:
        return await outbox.pull_in(tx, latest, now) + await deliveries.pull_in(tx, latest, now)

    count = await runtime.db.write(write)
    log.warning("%d mails, seals or deliveries were planned by a wrong clock; they are tried now", count)
    return count


def describe(doubt: Doubt) -> str:
    """Return what an operator reads in the log."""
    return (
        f"the clock of this machine {jump(doubt)}, counted from {rfc3339(doubt.since)}. Until it comes back, stays as"
        " it is for ten minutes, or is confirmed (esign clock confirm), nothing expires, nobody is reminded and"
        " nothing is deleted"
    )


def jump(doubt: Doubt) -> str:
    """`jumped 365 days ahead`."""
    return describe_jump(doubt.ahead)


def describe_jump(ahead: Millis) -> str:
    return f"jumped {span(abs(ahead))} {'ahead' if ahead > 0 else 'back'}"


def span(millis: Millis) -> str:
    """Return a length of time in the largest unit of which there are two."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if millis >= 2 * unit:
            return f"{millis // unit} {name}"
    return f"{millis // SECOND} seconds"
