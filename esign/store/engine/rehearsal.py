"""Finds out what a start of this version would do to a database, without changing anything of it."""

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from esign.store.engine import migrate
from esign.store.engine.connections import FILE, prepare
from esign.store.engine.migrate import Migration
from esign.system.clock import Clock
from esign.system.disk import count_free_bytes

FACTOR = 3  # of the size of the database: its copy, and a log of rewritten pages that may be as large, with a reserve


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What migrating a copy took: time in seconds, the bytes by which it grew, and those that it took meanwhile."""

    seconds: float
    growth: int
    needed: int


class NoRoom(Exception):
    """There is too little room for a copy; the message says how much is needed, and where."""


@contextmanager
def open_untouched(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database for reading, and leave no file beside it that was not there.

    Without a log beside it nobody has it open, and SQLite can be told that it does not change. With one, it is read
    like any other reader does.
    """
    way = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{way}", uri=True)) as connection:
        yield connection


def find_missing_migrations(path: Path) -> list[Migration]:
    """Return the migrations that a start would apply, in their order. Raises UnfitSchema and ForeignDatabase."""
    with open_untouched(path) as connection:
        known = migrate.load_migrations()
        migrate.check(connection, known)
        return list(_leave_out_applied(connection, known))


def _leave_out_applied(connection: sqlite3.Connection, known: Sequence[Migration]) -> Iterator[Migration]:
    applied = migrate.read_applied(connection)
    for migration in known:
        trace = migrate.TRACES.get(migration.name)
        if applied is None and trace is not None and migrate.has_trace(connection, trace):
            continue  # it is recognised by what it left
        if applied is None or migration.name not in applied:
            yield migration


def measure_size(path: Path) -> int:
    """Return the bytes of the database with its log."""
    beside = (path, path.with_name(f"{path.name}-wal"))
    return sum(each.stat().st_size for each in beside if each.exists())


def rehearse(path: Path, scratch: Path, clock: Clock) -> Rehearsal:
    """Migrate a copy of the database in a folder below `scratch`, and delete it.

    Raises NoRoom, UnfitSchema, sqlite3.Error and OSError.
    """
    needed, free = FACTOR * measure_size(path), count_free_bytes(scratch)
    if free < needed:
        raise NoRoom(
            f"a copy of the database needs {write_size(needed)} in {scratch}, where {write_size(free)} are free;"
            " name another folder with --scratch, or leave the rehearsal out with --no-rehearsal"
        )
    with tempfile.TemporaryDirectory(prefix="esign-rehearsal-", dir=scratch) as folder:
        copy = Path(folder) / FILE
        with open_untouched(path) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        before = copy.stat().st_size
        # While another connection is open, the log is not deleted, and its size says how much was written.
        with closing(sqlite3.connect(copy)) as observer:
            observer.execute("PRAGMA journal_mode = WAL").fetchone()
            observer.execute("SELECT count(*) FROM sqlite_master").fetchone()
            began = clock.monotonic()
            prepare(copy)
            seconds = clock.monotonic() - began
            log = measure_size(copy) - copy.stat().st_size
            observer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        growth = copy.stat().st_size - before
    return Rehearsal(seconds, growth, max(growth, 0) + log)


def write_size(size: int) -> str:
    """Return a number of bytes in MiB, rounded up."""
    return f"{-(-size // 2**20):,} MiB"
