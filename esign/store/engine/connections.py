"""Opens the database: the settings of each connection, the migration of the schema, and the start of the writer."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiosqlite

from esign.core.instant import Instant
from esign.store.engine import migrate, migration_copy, readers, search_words
from esign.store.engine.database import Database, WritingConnection
from esign.store.engine.locks import WriteLock, hold_at_start
from esign.store.engine.readers import PointReader, ReaderPool
from esign.system.clock import SystemClock

FILE = "esign.db"
READERS = 3
ITERATED = 64  # rows that an iteration over a result fetches at once; the program fetches whole results
STARTING_SECONDS = 10.0  # a start waits for a lock of another process
PRAGMAS = (
    "PRAGMA busy_timeout = 1500",
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 0",
    "PRAGMA wal_autocheckpoint = 0",
)
WRITER_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA cache_size = -4000",  # KiB; more would only cache file contents, which the writer does not read
)

PREPARING_PRAGMAS = (*PRAGMAS, *WRITER_PRAGMAS, f"PRAGMA busy_timeout = {STARTING_SECONDS * 1000:.0f}")
# The writer waits for a lock on the event loop, where callers can be refused in time. It waits for no checkpoint.
SERVING_PRAGMAS = (*PRAGMAS, *WRITER_PRAGMAS, "PRAGMA busy_timeout = 0")
READER_PRAGMAS = (*PRAGMAS, "PRAGMA query_only = ON")
POINT_PRAGMAS = (*READER_PRAGMAS, "PRAGMA busy_timeout = 100")  # the loop waits with them


async def open_database(path: Path, copy_first: bool = False) -> Database:
    """Open or create the database at `path`, migrate its schema, and start its writer.

    With `copy_first` a database whose schema changes is copied before.

    Raises migrate.UnfitSchema, migrate.ForeignDatabase, migration_copy.CopyFailed, locks.Locked, sqlite3.Error.
    """
    await asyncio.to_thread(prepare, path, copy_first)
    writer = await connect_writer(path, SERVING_PRAGMAS)
    try:
        return Database(
            path, writer, ReaderPool(path, READERS, READER_PRAGMAS), PointReader(path, POINT_PRAGMAS)
        )
    except BaseException:  # the thread of an open writer would keep the program from ending
        await writer.thread.close()
        raise


def prepare(path: Path, copy_first: bool = False) -> None:
    """Check and migrate the database with a connection of its own, under the advisory lock."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    lock = WriteLock(path)
    connection = sqlite3.connect(path, isolation_level=None, timeout=STARTING_SECONDS)
    try:
        hold_at_start(lock, STARTING_SECONDS)
        migrate.check(connection)
        for pragma in PREPARING_PRAGMAS:
            connection.execute(pragma)
        migration_copy.remove_leftovers(path)
        copy = None
        if copy_first and not migrate.is_complete(connection):
            copy = migration_copy.copy_database(connection, path, find_least_time(connection))
        try:
            migrate.migrate(connection)
        except migrate.MigrationFailed:  # the database is as it was; after an error of the disk it may not be
            if copy is not None:
                copy.unlink()
            raise
        search_words.prepare(connection)
    finally:
        connection.close()
        lock.close()


def find_least_time(connection: sqlite3.Connection) -> Instant:
    """Return the time of this machine, or the last one that was certain if that is later."""
    certain = None
    with suppress(sqlite3.Error):  # the schema may be older than the table
        certain = connection.execute("SELECT at FROM clock_mark WHERE id = 1").fetchone()
    return max(SystemClock().now(), certain[0] if certain else 0)


async def connect_writer(path: Path, pragmas: Iterable[str]) -> WritingConnection:
    """Open the connection of the writer with these pragmas."""
    opened: list[sqlite3.Connection] = []

    def open_here() -> sqlite3.Connection:
        opened.append(readers.connect(path, ()))
        return opened[0]

    thread = await aiosqlite.Connection(open_here, ITERATED)
    try:
        for pragma in pragmas:
            await thread.execute_fetchall(pragma)
    except BaseException:  # as above
        await thread.close()
        raise
    return WritingConnection(opened[0], thread)


@asynccontextmanager
async def open_for_command(path: Path, copy_first: bool = False) -> AsyncIterator[Database]:
    """Open the database for one command and close it afterwards."""
    database = await open_database(path, copy_first)
    try:
        yield database
    finally:
        await database.close()
