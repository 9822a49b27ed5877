"""Copies the database before a migration changes it, and deletes the copies when they are old."""

import filecmp
import logging
import os
import re
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from esign import __version__
from esign.core.instant import DAY, SECOND, Instant
from esign.store.engine.inspection import list_damage
from esign.system.disk import count_free_bytes

log = logging.getLogger("esign")

FOLDER = "before-migration"  # in the data folder
KEPT = 30 * DAY
NAME = re.compile(r"esign-[0-9A-Za-z.+]+-[0-9]{8}T[0-9]{6}Z\.db(\.part(-journal)?)?")
MARGIN = 16 * 2**20  # bytes that stay free beside the copy


class CopyFailed(Exception):
    """The database could not be copied, and is as it was; the message says why and what to do."""


def copy_database(connection: sqlite3.Connection, path: Path, now: Instant) -> Path:
    """Copy the open database at `path` into the folder for copies, check the copy, and return its path.

    The caller keeps others from writing. Raises CopyFailed.
    """
    try:
        return _copy(connection, path, now)
    except (OSError, sqlite3.Error) as error:
        raise CopyFailed(
            f"the database cannot be copied before it is migrated: {error}; nothing was changed; check the disk,"
            " or set storage.backup_before_migration = false if you have a backup"
        ) from error


def _copy(connection: sqlite3.Connection, path: Path, now: Instant) -> Path:
    folder = path.with_name(FOLDER)
    folder.mkdir(0o700, exist_ok=True)
    folder.chmod(0o700)
    needed, free = measure_copy(connection), count_free_bytes(folder)
    if free < needed:
        raise CopyFailed(
            f"the copy of the database before it is migrated needs {needed // 2**20:,} MiB in {folder}, where"
            f" {free // 2**20:,} MiB are free; nothing was changed; free some of the disk, or set"
            " storage.backup_before_migration = false if you have a backup"
        )
    copy = name_copy(folder, now)
    part = copy.with_name(f"{copy.name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(part, isolation_level=None)) as target:
            target.execute("PRAGMA synchronous = OFF")  # it counts once it is whole, and is synchronised then
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, which opens without others beside it
        check_copy(connection, part)
        _synchronise(part)
        same = find_same(part)
        part.rename(copy)
        _synchronise(folder)
        for older in same:
            older.unlink(missing_ok=True)
    finally:
        part.unlink(missing_ok=True)
    log.info("the database is migrated; a copy of it as it was is kept for 30 days: %s", copy)
    return copy


def name_copy(folder: Path, now: Instant) -> Path:
    """Return a file that is not there, named after this version and the time."""
    for second in count(now // SECOND):
        at = datetime.fromtimestamp(second, UTC)
        if not (copy := folder / f"esign-{__version__}-{at:%Y%m%dT%H%M%SZ}.db").exists():
            return copy
    raise AssertionError("the seconds never end")


def find_same(copy: Path) -> list[Path]:
    """Return the copies beside it that have the same content: each start makes one until a migration ends."""
    return [
        other
        for other in copy.parent.iterdir()
        if NAME.fullmatch(other.name)
        and ".part" not in other.name
        and filecmp.cmp(copy, other, shallow=False)
    ]


def remove_leftovers(path: Path) -> None:
    """Remove what a killed process left of a copy of the database at `path`. The caller keeps others from copying."""
    folder = path.with_name(FOLDER)
    with suppress(OSError):
        for file in list(folder.iterdir()):
            if NAME.fullmatch(file.name) and ".part" in file.name:
                file.unlink(missing_ok=True)
        folder.rmdir()  # if it is empty


def measure_copy(connection: sqlite3.Connection) -> int:
    """Return the bytes that must be free for a copy of the open database."""
    size: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return size * int(connection.execute("PRAGMA page_size").fetchone()[0]) + MARGIN


def check_copy(connection: sqlite3.Connection, copy: Path) -> None:
    """Raise CopyFailed unless the pages of the copy are whole and its tables have as many rows as the original's."""
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro", uri=True)) as made:
        found = list_damage(made) or (
            [] if count_rows(made) == count_rows(connection) else ["rows are missing"]
        )
    if found:
        raise CopyFailed(
            f"the database cannot be copied before it is migrated: the copy is not whole ({found[0]}); nothing was"
            " changed; run esign check with the version before, and check the disk"
        )


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in tables}


def _synchronise(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def delete_old_copies(data: Path, now: Instant) -> int:
    """Delete the copies that are older than 30 days by the time in their names, and return their number.

    Nothing else in the folder is: a copy may be being made.
    """
    folder, gone = data / FOLDER, 0
    for file in folder.iterdir() if folder.is_dir() else ():
        if not NAME.fullmatch(file.name) or ".part" in file.name:
            continue
        try:
            made = datetime.strptime(file.name.split(".db")[0][-16:], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:  # digits that are no time: not ours
            continue
        if made.timestamp() * SECOND < now - KEPT:
            file.unlink(missing_ok=True)
            gone += 1
    with suppress(OSError):
        folder.rmdir()  # once it is empty
    return gone
