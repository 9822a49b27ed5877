"""What an error of SQLite or of the disk means for the program."""

import sqlite3


class StorageFailed(Exception):
    """The disk refused a write: the program must stop, because a failed sync must never be retried."""


class DatabaseMoved(StorageFailed):
    """Another file, or none, has the path of the database: what is written to ours would be lost with it."""

    def __init__(self) -> None:
        super().__init__(
            "the database was moved, deleted or replaced while it was open, and nothing more is written to it; to put a"
            " backup back, stop every esign first, and move esign.db-wal and esign.db-shm away with esign.db"
        )


# Result codes of SQLite after which nothing written through this handle may be believed.
BROKEN = {
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
}
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
PASSING = {sqlite3.SQLITE_FULL, *LOCKED}


def is_passing(error: BaseException) -> bool:
    """A full disk or a foreign lock: nothing was written, and it may pass."""
    return result_code(error) in PASSING


def is_storage(error: Exception) -> bool:
    """A failure of the disk, in contrast to a broken rule or statement."""
    return isinstance(error, OSError) or result_code(error) in BROKEN | PASSING


def result_code(error: BaseException) -> int | None:
    """The primary result code, without SQLite's extension bits."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
