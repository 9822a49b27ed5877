"""The state of a database at one moment, read from its file and its log while others write to it.

While a read transaction is open, checkpoints bring no more of the log into the file than what that transaction sees,
nobody begins the log anew while it holds more than the file, and nothing else changes the file
(https://sqlite.org/wal.html, "Concurrency"). So the file, read at any pace, differs from the state at its beginning
only in pages that the log of that moment holds too, and SQLite makes that state of both when the copy is opened. No
writer waits for the copy, and it needs no room of its own.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from esign.store.engine.locks import WriteLock, hold_at_start

HEADER = 32  # bytes of a log before its frames (https://sqlite.org/fileformat2.html#walformat)
PATIENCE = 10.0  # seconds that closing waits for the lock of another process


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`size` bytes of the open `file` belong to the state, and the whole `log`; of its end SQLite leaves out what is
    not a whole transaction.
    """

    file: int
    size: int
    log: bytes

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file, at most up to its end; zeros where only the log holds them yet."""
        wanted = max(0, min(size, self.size - offset))
        return os.pread(self.file, wanted, offset).ljust(wanted, b"\0")


@contextmanager
def hold_snapshot(path: Path) -> Iterator[Snapshot]:
    """Hold the state of the database as it is now until the block ends. Raise sqlite3.Error, Locked and OSError.

    Only for a process that does nothing else with the database: as it closes the file, the system drops the locks
    that SQLite holds on it in the same process.
    """
    lock = WriteLock(path)
    with closing(lock), closing(sqlite3.connect(path, isolation_level=None, timeout=PATIENCE)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("BEGIN")
        connection.execute(
            "SELECT count(*) FROM sqlite_master"
        ).fetchone()  # the first read begins the transaction
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        [page_size] = connection.execute("PRAGMA page_size").fetchone()
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield Snapshot(file, pages * page_size, read_log(path.with_name(f"{path.name}-wal")))
        finally:
            connection.execute("ROLLBACK")
            os.close(file)
            hold_at_start(lock, PATIENCE)  # the last connection brings the log into the file as it closes


def read_log(path: Path) -> bytes:
    """Return the whole log, all of it of one generation: it is read again if it was begun anew meanwhile."""
    while True:
        try:
            with path.open("rb") as file:
                log = file.read()
                file.seek(0)
                if file.read(HEADER) == log[:HEADER]:
                    return log
        except FileNotFoundError:
            return b""


def settle_copy(path: Path) -> None:
    """Bring the log of a copy into its file. Raise sqlite3.DatabaseError if it is none that can be opened."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
