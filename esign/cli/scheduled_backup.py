"""Run a backup to the target of the settings: for the server, which sends the order, or by hand."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from esign.cli.exit_codes import FOUND, run_steps

if TYPE_CHECKING:
    from esign.backup.backup_order import BackupOrder, BackupOutcome
    from esign.backup.make_backup import Check
    from esign.config import Config
    from esign.system.app_key import KeySource


def run_for_server() -> NoReturn:
    """Carry out the order on standard input, and write its outcome to standard output, both on one line.

    When the server ends, standard input does, and the backup is given up.
    """
    from esign.backup.backup_order import decode_order
    from esign.backup.work_off_order import work_off_order
    from esign.system.app_key import KeySource
    from esign.system.idle_priority import become_idle
    from esign.system.own_secrets import hide_own_secrets

    become_idle()
    signal.signal(signal.SIGTERM, give_up)
    order = decode_order(sys.stdin.buffer.readline())
    hide_own_secrets()
    threading.Thread(target=follow_server, name="server", daemon=True).start()

    def work() -> int:
        from esign.store.engine.connections import FILE

        key_file = Path(order.key_file) if order.key_file else None
        source = KeySource(Path(order.data) / FILE, key_file, None, os.environ)
        outcome = work_off_order(order, make_check(source))
        sys.stdout.buffer.write(outcome.encode())
        sys.stdout.buffer.flush()
        return FOUND if outcome.found else 0

    run_steps(work)


def follow_server() -> None:
    """End this process by a signal, so that it clears up, as soon as standard input ends."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def give_up(number: int, frame: FrameType | None) -> None:
    """End this process, and clear up on the way."""
    raise KeyboardInterrupt


def make_check(source: "KeySource") -> "Check":
    """Return the check of a copy. Without the passphrase of the application key it leaves out what needs that key."""
    from esign.cli.check_beside import check_beside
    from esign.cli.check_copy import find_key_of_copy
    from esign.system.app_key import is_key_protected

    def check(copy: Path) -> "AbstractContextManager[Callable[[], list[str]]]":
        found = find_key_of_copy(copy, source)
        is_closed = found.passphrase is None and found.read_passphrase() is None and is_key_protected(found)
        return check_beside(copy, None if is_closed else source)

    return check


def run_by_hand(config: "Config") -> NoReturn:
    """Make a backup to the target of the settings now, as the server does, say what came of it, and exit."""
    from esign.actions.server.clock_watch import is_in_doubt
    from esign.actions.server.scheduled_backups import keep_outcome, load_state
    from esign.backup.backup_order import make_order
    from esign.cli.installation import open_database, try_key
    from esign.system.clock import SystemClock

    now = SystemClock().now()
    made: list[BackupOutcome] = []

    async def prepare(source: "KeySource") -> "BackupOrder":
        async with open_database(config, source) as db:
            state = await load_state(db, config.backup, now)
            is_sure = not await is_in_doubt(db)
        return make_order(config, state.label, now, may_delete=is_sure, was_elsewhere=state.elsewhere)

    async def keep(source: "KeySource") -> None:
        async with open_database(config, source) as db:
            at = SystemClock().now()
            state = await load_state(db, config.backup, at)
            await keep_outcome(db, config.backup, state, made[0], at)

    def work() -> int:
        import asyncio

        from esign.backup.work_off_order import work_off_order
        from esign.system.idle_priority import give_way

        source = try_key(config)
        order = asyncio.run(prepare(source))
        give_way()  # to the server
        made.append(work_off_order(order, make_check(source)))
        asyncio.run(keep(source))
        return write_outcome(order, made[0])

    run_steps(work)


def write_outcome(order: "BackupOrder", outcome: "BackupOutcome") -> int:
    """Print what was made and deleted, and return the exit code."""
    kind = "whole" if outcome.is_whole else "what has changed since the last whole one"
    state = "read back" + " and checked" * outcome.is_whole
    if outcome.found:
        state = "read back; what it holds is DAMAGED"
    click.echo(f"{order.place.text}: {outcome.name}, {-(-outcome.size // 2**20):,} MiB, {kind}, {state}.")
    for name in outcome.deleted:
        click.echo(f"Deleted, since {order.keep} are kept: {name}")
    if not order.may_delete:
        click.echo("Nothing older was deleted: the clock is in doubt (esign clock show).", err=True)
    if not outcome.elsewhere:
        click.echo(
            f"{order.place.text} is on the disk of the data: this backup is lost with that disk.", err=True
        )
    for line in outcome.found:
        click.echo(f"  {line}", err=True)
    return FOUND if outcome.found else 0
