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
            "the database was moved, deleted or replaced while it was open, and nothing more is written to it; to"
            " restore a backup, stop every esign first, and move esign.db-wal and esign.db-shm away with esign.db"
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

# Extended result codes of a disk that takes no writes.
REFUSED_WRITES = {
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_DIR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
}


# What the engine itself raises, by the names that every engine for Python has (PEP 249).
DatabaseError = sqlite3.DatabaseError
OperationalError = sqlite3.OperationalError


def is_passing(error: BaseException) -> bool:
    """Return whether a full disk or a lock of another process caused the error: nothing was written, and it may
    pass.
    """
    return result_code(error) in PASSING


def is_locked(error: BaseException) -> bool:
    """Return whether another process holds a lock; for a read that is rare, as it needs none in WAL mode."""
    return result_code(error) in LOCKED


def is_corrupt(error: BaseException) -> bool:
    """Return whether a page of the database is damaged."""
    return result_code(error) == sqlite3.SQLITE_CORRUPT


def is_no_database(error: BaseException) -> bool:
    """Return whether the file does not begin as a database does."""
    return result_code(error) == sqlite3.SQLITE_NOTADB


def is_out_of_storage(error: BaseException) -> bool:
    """Return whether the disk was full, or refused a write: what is in the database is not to blame."""
    return (
        result_code(error) == sqlite3.SQLITE_FULL
        or getattr(error, "sqlite_errorcode", None) in REFUSED_WRITES
    )


def is_unreadable_file(error: BaseException) -> bool:
    """Return whether the system did not let the program open or read the file: its content may be whole."""
    return result_code(error) in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


def is_storage(error: Exception) -> bool:
    """Return whether the storage failed, in contrast to a broken constraint or statement."""
    return isinstance(error, OSError) or result_code(error) in BROKEN | PASSING


def result_code(error: BaseException) -> int | None:
    """Return SQLite's primary result code, without the bits of the extended code, or None."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
