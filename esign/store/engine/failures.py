"""What an error of SQLite or of the disk means for the program."""

import sqlite3


class StorageFailed(Exception):
    """The disk refused a write. The program must stop, because a failed sync must never be retried."""


class DatabaseMoved(StorageFailed):
    """The path of the database leads to another file, or to none.

    Whatever is written to the open file would be lost with it.
    """

    def __init__(self) -> None:
        super().__init__(
            "the database was moved, deleted or replaced while it was open, and nothing more is written to it; to put a"
            " backup back, stop every esign first, and move esign.db-wal and esign.db-shm away with esign.db"
        )


# Result codes of SQLite after which writes through this handle cannot be trusted.
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
    """Return whether a full disk or a lock of another process caused the error: nothing was written, and it may
    pass.
    """
    return result_code(error) in PASSING


def is_storage(error: Exception) -> bool:
    """Return whether the storage failed, in contrast to a broken constraint or statement."""
    return isinstance(error, OSError) or result_code(error) in BROKEN | PASSING


def result_code(error: BaseException) -> int | None:
    """Return SQLite's primary result code, without the bits of the extended code, or None."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
