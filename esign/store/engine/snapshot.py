"""The state of a database at one moment, read from its file and its log while others write to it.

While a read transaction is open, checkpoints bring no more of the log into the file than what that transaction sees,
nobody begins the log anew while it holds more than the file, and nothing else changes the file
(https://sqlite.org/wal.html, "Concurrency"). So the file, read at any pace, differs from the state at its beginning
only in pages that the log of that moment holds too, and SQLite makes that state of both when the copy is opened. No
writer waits for the copy. The log of the database grows until it ends: copy onto a local disk, and hand on from there.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from esign.store.engine.failures import is_out_of_storage
from esign.store.engine.locks import Locked, WriteLock, hold_at_start

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

HEADER = 32  # bytes of a log before its frames (https://sqlite.org/fileformat2.html#walformat)
PATIENCE = 10.0  # seconds that opening and closing wait for the lock of another process
PIECE = 256 * 1024  # bytes: what was read is still in the processor's cache when it is written


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`size` bytes of the open `file` belong to the state, and the whole log; of its end SQLite leaves out what is
    not a whole transaction.
    """

    file: int
    size: int
    log: Path

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file, at most up to its end; zeros where only the log holds them yet."""
        wanted = max(0, min(size, self.size - offset))
        return os.pread(self.file, wanted, offset).ljust(wanted, b"\0")

    def write_file(self, target: "SupportsWrite[bytes]") -> None:
        """Write the file. Call it after `write_log`."""
        for offset in range(0, self.size, PIECE):
            target.write(self.read(offset, PIECE))

    def write_log(self, target: BinaryIO) -> None:
        """Write the log, all of it of one generation: it is written again if it was begun anew meanwhile."""
        while True:
            try:
                with self.log.open("rb") as log:
                    if write_generation(log, target):
                        return
            except FileNotFoundError:
                return


def write_generation(log: BinaryIO, target: BinaryIO) -> bool:
    """Write what a log holds now; return whether it is still the log of the same generation."""
    left = os.fstat(log.fileno()).st_size  # what is appended from now on is not awaited
    target.seek(0)
    target.truncate()
    header = b""
    while left and (piece := log.read(min(left, PIECE))):
        header = header or piece[:HEADER]
        target.write(piece)
        left -= len(piece)
    log.seek(0)
    return log.read(len(header) or HEADER) == header


@contextmanager
def hold_snapshot(path: Path, patience: float = PATIENCE) -> Iterator[Snapshot]:
    """Hold the state of the database as it is now until the block ends. Raise sqlite3.Error and OSError.

    Only for a process that does nothing else with the database: as it closes the file, the system drops the locks
    that SQLite holds on it in the same process.
    """
    lock = WriteLock(path)
    with closing(lock), closing(sqlite3.connect(path, isolation_level=None, timeout=patience)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("BEGIN")
        connection.execute(
            "SELECT count(*) FROM sqlite_master"
        ).fetchone()  # the first read begins the transaction
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        [page_size] = connection.execute("PRAGMA page_size").fetchone()
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield Snapshot(file, pages * page_size, path.with_name(f"{path.name}-wal"))
        finally:
            connection.execute("ROLLBACK")
            os.close(file)
            # The last connection brings the log into the file as it closes. Whoever holds the lock for so long has
            # a connection too: then ours is not the last, and the copy that was made is good.
            with suppress(Locked):
                hold_at_start(lock, patience)


def settle_copy(path: Path) -> None:
    """Bring the log of a copy into its file.

    Raise sqlite3.DatabaseError if it is none that can be opened, and OSError where the disk refuses what is written.
    """
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.DatabaseError as error:
        raise_storage_failure(error, path)
        raise


def raise_storage_failure(error: sqlite3.DatabaseError, path: Path) -> None:
    """Raise OSError if the disk refused to write `path`, and do nothing for any other error of the database."""
    if is_out_of_storage(error):
        raise OSError(errno.ENOSPC, str(error), str(path)) from None
