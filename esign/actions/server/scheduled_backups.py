"""Scheduled backups: when one is due, a child process makes it, and what came of it is kept and told.

A process of its own, because the snapshot of the database must not share one with the server's connections
(`store.engine.snapshot`), because encryption would hold the interpreter, and because only a process can give way to all
others on processor and disk. It ends with the server: its standard input closes.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from esign.actions.mail import notices
from esign.actions.mail.notices import News
from esign.backup.backup_order import BackupOrder, BackupOutcome, decode_outcome, make_order
from esign.config import BackupSettings
from esign.config.reading import PREFIX
from esign.core.instant import DAY, HOUR, MINUTE, Instant, Millis, rfc3339
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.people import members, organisations
from esign.store.server import backup_schedule
from esign.store.server.backup_schedule import BackupState
from esign.system.entropy import make_salt
from esign.system.frozen import name_command
from esign.system.process_pipe import write_to_process

log = logging.getLogger("esign.backup")

FROM_SERVER = ("backup", "--from-server")
RETRIES: tuple[Millis, ...] = (5 * MINUTE, 15 * MINUTE, HOUR)  # after the first, second and any later failure
LONGEST = 12 * 3600.0  # seconds that one may take, such as onto a disk that hangs
AFTER_KILL = 10.0  # seconds that a killed process may take to end; one that waits for a dead disk does not
UNTOLD: Millis = DAY  # without a good backup, after which owners are told, and told again
LATE = 2  # intervals without a good backup, after which that is a warning
AHEAD: Millis = HOUR  # that a backup may seem to be made in the future: a clock that was put right
MOST_OUTPUT = 64 * 1024  # bytes of what the process says
DAMAGED = "the data in it is damaged: {found}"


class BackupFailed(Exception):
    """The process made no backup; the message says why, in its words."""


async def run_due(runtime: Runtime) -> int:
    """Make a backup if one is due, and return how many were made. What keeps it from that is kept, not raised."""
    settings, now = runtime.config.backup, runtime.clock.now()
    if settings.to is None:
        return 0
    state = await load_state(runtime.db, settings, now)
    if state.due_at > now:
        return 0
    order = make_order(
        runtime.config,
        state.label,
        now,
        may_delete=runtime.clock.doubt is None,
        was_elsewhere=state.elsewhere,
    )
    try:
        outcome = await run_process(order)
    except BackupFailed as failure:
        runtime.measures.backups["failed"] += 1
        log.error("a scheduled backup to %s failed: %s", state.place, failure)
        problem = str(failure)
        await change_state(
            runtime.db,
            settings,
            state,
            runtime.clock.now(),
            lambda stored, at: note_failure(stored, settings, problem, at),
        )
        return 0
    runtime.measures.backups["failed" if outcome.found else "made"] += 1
    tell_outcome(state, outcome)
    await keep_outcome(runtime.db, settings, state, outcome, runtime.clock.now())
    return 1


def tell_outcome(state: BackupState, outcome: BackupOutcome) -> None:
    """Log what was made."""
    if outcome.found:
        log.error(
            "the scheduled backup %s is a true copy of data that is damaged: %s",
            outcome.name,
            "; ".join(outcome.found[:3]),
        )
    else:
        log.info("backed up to %s: %s, %s MiB", state.place, outcome.name, -(-outcome.size // 2**20))
    if outcome.deleted:
        more = f" and {outcome.left_out} more" if outcome.left_out else ""
        log.info("deleted older backups: %s%s", ", ".join(outcome.deleted), more)
    if not outcome.elsewhere and not state.made_at:
        log.warning(
            "backups in %s are on the disk of the data, and are lost with it; set backup.to to another disk",
            state.place,
        )


# ---------- the schedule ----------


async def load_state(db: Database, settings: BackupSettings, now: Instant) -> BackupState:
    """Return the state of the schedule, which begins at the first use, and anew when the target is another."""
    assert settings.to is not None
    state = await backup_schedule.find(db)
    if state is None or state.place != settings.to.text:
        label = state.label if state else make_salt().hex()[:8]
        begun = BackupState(label, settings.to.text, now, now)
        await db.write(lambda tx: backup_schedule.save(tx, begun))
        return begun
    return correct_state(state, settings, now)


def correct_state(state: BackupState, settings: BackupSettings, now: Instant) -> BackupState:
    """Return the state with a backup due now if a clock that was ahead set a later time than any other would."""
    if state.due_at <= now + settings.every_hours * HOUR:
        return state
    return replace(state, due_at=now, begun_at=min(state.begun_at, now))


async def keep_outcome(
    db: Database, settings: BackupSettings, state: BackupState, outcome: BackupOutcome, now: Instant
) -> None:
    """Save what came of a backup that was begun in this state."""
    await change_state(
        db, settings, state, now, lambda stored, at: note_outcome(stored, settings, outcome, at)
    )


async def change_state(
    db: Database,
    settings: BackupSettings,
    state: BackupState,
    now: Instant,
    change: Callable[[BackupState, Instant], BackupState],
) -> None:
    """Save a change of the state as it is stored now: much else may have been noted in the hours of a backup."""

    async def write(tx: Transaction) -> None:
        stored = await backup_schedule.find(tx)
        is_same = stored is not None and (stored.label, stored.place) == (state.label, state.place)
        present = correct_state(stored, settings, now) if stored is not None and is_same else state
        await backup_schedule.save(tx, change(present, now))

    await db.write(write)


def note_outcome(
    state: BackupState, settings: BackupSettings, outcome: BackupOutcome, now: Instant
) -> BackupState:
    """Return the state after a backup was made. One of damaged data is none that counts."""
    after = replace(
        state, due_at=plan_next(state.due_at, settings, now), tried_at=now, elsewhere=outcome.elsewhere
    )
    if outcome.found:
        problem = DAMAGED.format(found="; ".join(outcome.found[:3]))
        return replace(after, failures=state.failures + 1, problem=problem)
    return replace(
        after,
        made_at=outcome.made_at,
        name=outcome.name,
        size=outcome.size,
        failures=0,
        problem=None,
        mailed_at=None,
    )


def note_failure(state: BackupState, settings: BackupSettings, problem: str, now: Instant) -> BackupState:
    """Return the state after no backup was made: it is tried again soon, and then each hour."""
    wait = min(RETRIES[min(state.failures, len(RETRIES) - 1)], settings.every_hours * HOUR)
    return replace(state, due_at=now + wait, tried_at=now, failures=state.failures + 1, problem=problem)


def plan_next(due_at: Instant, settings: BackupSettings, now: Instant) -> Instant:
    """Return when the next is due: at the same time of the day as before, and those that were missed are made once.

    One that was made by hand, before it was due, changes nothing.
    """
    every = settings.every_hours * HOUR
    return due_at if now < due_at else due_at + every * ((now - due_at) // every + 1)


# ---------- the process ----------


async def run_process(order: BackupOrder) -> BackupOutcome:
    """Run the process that carries out an order, and return its outcome. Raise BackupFailed."""
    try:
        process = await asyncio.create_subprocess_exec(
            *name_command(*FROM_SERVER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=list_variables(os.environ),
        )
    except OSError as error:
        raise BackupFailed(f"no process can be started: {error.strerror}") from None
    assert process.stdin and process.stdout and process.stderr
    try:
        async with asyncio.timeout(LONGEST):
            with suppress(ConnectionError):
                write_to_process(process.stdin, order.encode())
                await process.stdin.drain()
            out, err = await asyncio.gather(read_all(process.stdout), read_all(process.stderr))
            code = await process.wait()
    except TimeoutError:
        raise BackupFailed(
            f"it took longer than {LONGEST / 3600:.0f} hours; is the target too slow?"
        ) from None
    finally:
        await end_process(process)
    try:
        return decode_outcome(out)
    except (ValueError, TypeError):
        lines = [line.removeprefix("esign: ") for line in err.decode("utf-8", "replace").splitlines() if line]
        said = (lines[-1:] or [f"the process ended with {code}"])[0]
        raise BackupFailed(said.removeprefix("no backup was made: ")) from None


def list_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the process: all but ours, since others can read them and secrets are among them."""
    return {name: value for name, value in environment.items() if not name.upper().startswith(PREFIX)}


async def read_all(stream: asyncio.StreamReader) -> bytes:
    """Return what a process says; the end of it, if that is long. An outcome is short."""
    kept = b""
    while piece := await stream.read(MOST_OUTPUT):
        kept = (kept + piece)[-MOST_OUTPUT:]
    return kept


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Let a process end: it clears up once its standard input closes, and is killed if it does not end by itself."""
    if process.stdin is not None:
        process.stdin.close()
    for stop in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            stop()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), AFTER_KILL)


# ---------- what is told ----------


def find_since(state: BackupState, now: Instant) -> Instant:
    """Return the moment of the last good backup, before the first when they were set up.

    A moment ahead of the clock is not believed: nobody knows how old that backup is.
    """
    if state.made_at is not None and state.made_at <= now + AHEAD:
        return min(state.made_at, now)
    return min(state.begun_at, now)


def find_late(state: BackupState | None, settings: BackupSettings, now: Instant) -> Instant | None:
    """Return since when there is no good backup if that is too long, else None."""
    if settings.to is None or state is None:
        return None
    since = find_since(state, now)
    return since if now - since > LATE * settings.every_hours * HOUR else None


async def find_last(runtime: Runtime) -> Instant | None:
    """Return the moment of the last good backup, before the first when they were set up; None without a target."""
    state = await backup_schedule.find(runtime.db) if runtime.config.backup.to else None
    return None if state is None else find_since(state, runtime.clock.now())


async def list_warnings(runtime: Runtime) -> list[str]:
    """Return the warning of `/readyz` that backups are late. Why is in the log: it may name other machines."""
    state = await backup_schedule.find(runtime.db)
    since = find_late(state, runtime.config.backup, runtime.clock.now())
    if since is None or state is None:
        return []
    tries = f", {state.failures} tries failed" if state.failures else ""
    return [f"no good backup since {rfc3339(since)}{tries}; see the log, or the page Backup of the settings"]


async def report_failures(runtime: Runtime) -> bool:
    """Mail the owners of the organisation that was set up first if no good backup was made for a day or longer.

    They are told once a day until there is one. Return whether a mail was queued.
    """
    settings, now = runtime.config.backup, runtime.clock.now()
    state = await backup_schedule.find(runtime.db)
    if state is None or settings.to is None or not state.failures:
        return False
    since = find_since(state, now)
    is_told = state.mailed_at is not None and 0 <= now - state.mailed_at < UNTOLD
    first = await organisations.find_first(runtime.db)
    if is_told or first is None or now - since < max(UNTOLD, settings.every_hours * HOUR):
        return False
    if not await members.find_administrators(runtime.db, first.id):
        return False
    facts: dict[str, str | int] = {
        "backed_up_to": state.place,
        "backup_problem": state.problem or "",
        "backup_last_at": since,
    }

    async def write(tx: Transaction) -> None:
        await notices.tell_owners(tx, runtime.vault, first.id, News("backup_failed", str(now), facts), now)
        await backup_schedule.note_mail(tx, now)

    await runtime.db.write(write)
    return True
