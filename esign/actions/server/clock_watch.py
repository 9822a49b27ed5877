"""Opens and watches the guarded clock, and lets an operator confirm it (see `esign.system.clock`)."""

import logging

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.server.server_owners import may_change_server
from esign.core.actor import COMMAND, Author
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, rfc3339
from esign.core.people.account import Organisation
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.queue import deliveries, outbox
from esign.store.server import clock_marks
from esign.store.server.clock_marks import ClockRecord
from esign.system.clock import TOLERANCE, Clock, ClockDoubt, GuardedClock, SystemClock, read_boot_id
from esign.system.vault import Vault

log = logging.getLogger("esign.clock")

MARK_EVERY: Millis = MINUTE
RECENT: Millis = HOUR  # an older confirmation was about another state of the clock
# No retry is planned further ahead than 24 hours and a tenth. A job beyond that was planned by a wrong clock.
LATEST_RETRY: Millis = 27 * HOUR


async def open_clock(db: Database, source: Clock) -> GuardedClock:
    """Return the clock of this run, starting from the last time that was certain. A doubt about the time is logged."""
    boot_id = read_boot_id() if isinstance(source, SystemClock) else ""
    record = await clock_marks.find(db)
    mark = None if record is None or is_confirmed(record, source.now()) else record.mark
    clock = GuardedClock(source, mark, boot_id)
    try:
        await note_clock(db, clock, record)
    except Problem:  # on a full disk the server still starts, for readers; the mark is written later
        log.warning("the time of this start cannot be written; check the disk and its free space")
    return clock


async def read_clock(db: Database) -> GuardedClock:
    """Return the clock of a server on this database, for a command that runs beside it. Nothing is written."""
    source = SystemClock()
    record = await clock_marks.find(db)
    mark = None if record is None or is_confirmed(record, source.now()) else record.mark
    return GuardedClock(source, mark, read_boot_id())


async def read_now(db: Database) -> Instant:
    """Return the time of such a clock."""
    return (await read_clock(db)).now()


async def is_in_doubt(db: Database) -> bool:
    """Return whether a server on this database trusts its clock no more, or one that starts now would not."""
    record = await clock_marks.find(db)
    if record is None:
        return False
    if record.doubt_since is not None and not is_confirmed(record, SystemClock().now()):
        return True
    return (await read_clock(db)).doubt is not None


async def watch_clock(runtime: Runtime) -> bool:
    """Compare the clocks, then log and store the result. Return whether the wall clock is trusted."""
    db, clock = runtime.db, runtime.clock
    record = await clock_marks.find(db)
    if record is not None and is_confirmed(record, clock.read_wall_clock()) and clock.doubt is not None:
        await trust_wall_clock(runtime, "the command line")
        return True
    await note_clock(db, clock, record)
    return clock.doubt is None


async def note_clock(db: Database, clock: GuardedClock, record: ClockRecord | None) -> None:
    """Store the time that is certain, and log what has changed since `record`."""
    mark, doubt = clock.mark(), clock.doubt
    if doubt is not None and is_news(doubt, record):
        log.error("%s", describe_doubt(doubt))
        await db.write(lambda tx: clock_marks.save_doubt(tx, doubt))
    if doubt is None and mark is not None and (record is None or is_due(mark.at, record)):
        if record is not None and record.doubt_since is not None:
            log.warning("the time is certain again: %s; everything due is done now", rfc3339(mark.at))
        await db.write(lambda tx: clock_marks.save(tx, mark))


JUMPS = {  # by unit: ahead, and back
    "days": (
        "The server’s clock jumped {n} days ahead.",
        "The server’s clock jumped {n} days back.",
    ),
    "hours": (
        "The server’s clock jumped {n} hours ahead.",
        "The server’s clock jumped {n} hours back.",
    ),
    "minutes": (
        "The server’s clock jumped {n} minutes ahead.",
        "The server’s clock jumped {n} minutes back.",
    ),
    "seconds": (
        "The server’s clock jumped {n} seconds ahead.",
        "The server’s clock jumped {n} seconds back.",
    ),
}


def is_due(at: Instant, record: ClockRecord) -> bool:
    """Return whether the mark must be written again."""
    settles = record.doubt_since is not None or record.confirmed is not None
    return settles or abs(at - record.mark.at) >= MARK_EVERY


def is_news(doubt: ClockDoubt, record: ClockRecord | None) -> bool:
    """Return whether the doubt differs from the one that is stored."""
    if record is None or record.doubt_since is None or record.doubt_ahead is None:
        return True
    return abs(record.doubt_ahead - doubt.ahead) > TOLERANCE


def is_confirmed(record: ClockRecord, wall: Instant) -> bool:
    """Return whether an operator has confirmed that this wall clock, and no other, is right."""
    return record.confirmed is not None and abs(wall - record.confirmed) < RECENT


async def confirm(runtime: Runtime, organisation: Organisation, author: Author) -> None:
    """Trust the wall clock from now on, on the word of an owner. Does nothing if the clock is not in doubt.

    Raises `insufficient_scope` for the owners of any organisation but the first.
    """
    if not await may_change_server(runtime.db, organisation):
        sentence = "Only owners of the organisation that was set up first can confirm this server’s clock."
        raise Problem("insufficient_scope", sentence)
    if runtime.clock.doubt is None:
        return
    wall = runtime.clock.read_wall_clock()
    await runtime.db.write(lambda tx: log_confirmation(tx, runtime.vault, wall, author))
    await trust_wall_clock(runtime, author.actor.name or "an owner")


async def log_confirmation(tx: Transaction, vault: Vault, wall: Instant, author: Author) -> None:
    """Enter in the administrative audit log which time was confirmed as right."""
    act = AdminAct("clock.confirmed", wall, {"time": rfc3339(wall)})
    await audit_log.log_of_installation(tx, vault, author, act)


async def trust_wall_clock(runtime: Runtime, by: str) -> None:
    """Trust the wall clock from now on, and store its time as certain."""
    runtime.clock.confirm()
    log.warning("the wall clock was confirmed by %s: it is %s", by, rfc3339(runtime.clock.now()))
    mark = runtime.clock.mark()
    if mark is not None:

        async def write(tx: Transaction) -> None:
            await clock_marks.save(tx, mark)
            tx.wake_workers()

        await runtime.db.write(write)


async def request_confirmation(db: Database, vault: Vault, wall: Instant) -> bool:
    """Let a running server, or the next start, trust the wall clock. Return False if nothing is in doubt."""

    async def write(tx: Transaction) -> bool:
        if not await clock_marks.save_confirmed(tx, wall):
            return False
        await log_confirmation(tx, vault, wall, COMMAND)
        return True

    return await db.write(write)


async def pull_in(runtime: Runtime) -> int:
    """Make due now the jobs that a wrong clock planned later than any schedule reaches. Return their number."""
    now = runtime.clock.now()
    latest = now + LATEST_RETRY
    if not (
        await outbox.has_later_jobs(runtime.db, latest)
        or await deliveries.has_later_deliveries(runtime.db, latest)
    ):
        return 0

    async def write(tx: Transaction) -> int:
        return await outbox.pull_in(tx, latest, now) + await deliveries.pull_in(tx, latest, now)

    count = await runtime.db.write(write)
    log.warning("%d mails, seals or deliveries were planned by a wrong clock; they are tried now", count)
    return count


def describe_doubt(doubt: ClockDoubt) -> str:
    """Return the sentence about the doubt that an operator reads in the log."""
    return (
        f"the server's clock {name_jump(doubt)}, counted from {rfc3339(doubt.since)}. Until it comes back, stays"
        " as it is for ten minutes, or is confirmed (esign clock confirm), nothing expires, nobody is reminded and"
        " nothing is deleted"
    )


def name_jump(doubt: ClockDoubt) -> str:
    """Return how far the clock jumped: `jumped 365 days ahead`."""
    return describe_jump(doubt.ahead)


def say_jump(ahead: Millis) -> str:
    """Return a sentence on how far the clock of this machine jumped. A negative number is a jump back."""
    number, unit = split_span(abs(ahead))
    return say(JUMPS[unit][ahead < 0], n=number)


def describe_jump(ahead: Millis) -> str:
    """Return how far a clock jumped in words. A negative number is a jump back."""
    return f"jumped {format_span(abs(ahead))} {'ahead' if ahead > 0 else 'back'}"


def format_span(millis: Millis) -> str:
    """Return a length of time in the largest unit of which it has at least two."""
    number, unit = split_span(millis)
    return f"{number} {unit}"


def split_span(millis: Millis) -> tuple[int, str]:
    """Return a length of time as a number and its unit, the largest of which it has at least two."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if millis >= 2 * unit:
            return millis // unit, name
    return millis // SECOND, "seconds"
