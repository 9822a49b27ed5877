"""Restore a backup into an empty data folder: extracted below it, made ready there, and only then put in place."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from zipfile import ZipFile

from esign.backup.collect import DATA
from esign.backup.encryption import Identity
from esign.backup.extract import extract_backup, sync_folder
from esign.backup.increment import extract_increment
from esign.store.engine import folder as data_folder
from esign.store.engine.connections import FILE
from esign.store.engine.locks import AlreadyServed, try_lock
from esign.system.disk import count_free_bytes

STAGE = ".esign-restore"  # in the data folder, while a backup is extracted there
NAMED = 5  # files in the way that are named

Result = TypeVar("Result")


class CannotRestore(Exception):
    """The backup cannot be restored there; the message says why and what to do."""


def restore_backup(
    archive: ZipFile,
    identity: Identity | None,
    size: int,
    folder: Path,
    prepare: Callable[[Path], Result],
    base: tuple[ZipFile, Identity | None] | None = None,
) -> Result:
    """Restore a backup of `size` bytes into a data folder, and return what `prepare` does.

    An increment needs its `base`, with the key of that. `prepare` gets the folder with the extracted files, before any
    of them is in place. Whatever fails, the data folder is empty afterwards, or absent, as it was. Raise CannotRestore,
    AlreadyServed, UnfitSchema, and what `extract_backup` and `prepare` raise.
    """
    was_there = folder.exists()
    if was_there:
        require_empty(folder)  # before anything about it is changed
    data_folder.prepare(folder)
    try:
        with hold_empty_folder(folder) as stage:
            require_room(folder, size)
            if base is None:
                extract_backup(archive, identity, stage)
            else:
                extract_increment(*base, archive, identity, stage)
            result = prepare(stage / DATA)
            put_in_place(stage / DATA, folder)
            return result
    except BaseException:
        if not was_there:
            with suppress(OSError):  # something is in it that is not ours
                folder.rmdir()
        raise


@contextmanager
def hold_empty_folder(folder: Path) -> Iterator[Path]:
    """Lock an empty data folder and give a new folder in it, which is deleted as the block ends.

    What an interrupted restore left there is deleted first. Raise CannotRestore and AlreadyServed.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not try_lock(handle):
            raise AlreadyServed(f"another esign server, or a restore, works on {folder}")
        stage = folder / STAGE
        require_empty(folder)
        remove_stage(stage)
        stage.mkdir(0o700)
        try:
            yield stage
        finally:
            remove_stage(stage)
    finally:
        os.close(handle)


def require_empty(folder: Path) -> None:
    """Raise CannotRestore if anything but an interrupted restore is in a folder."""
    try:
        found = sorted(path.name for path in folder.iterdir() if path.name != STAGE)
    except NotADirectoryError:
        raise CannotRestore(f"{folder} is no folder; name another with --data-dir") from None
    if found:
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise CannotRestore(
            f"{folder} is not empty, it holds {', '.join(found[:NAMED])}{more}; move them away, or name another"
            " folder with --data-dir"
        )


def remove_stage(stage: Path) -> None:
    """Delete the folder of a restore with all that is in it."""
    if stage.is_symlink():
        stage.unlink()
    shutil.rmtree(stage, ignore_errors=True)


def require_room(folder: Path, size: int) -> None:
    """Raise CannotRestore unless the content of a backup of this size has room."""
    free = count_free_bytes(folder)
    if free < size:
        raise CannotRestore(
            f"{size // 2**20 + 1:,} MiB are needed in {folder}, where {free // 2**20:,} are free; name"
            " another folder with --data-dir"
        )


def put_in_place(made: Path, folder: Path) -> None:
    """Move the files into the data folder, the database last: without it, no server starts beside keys.

    Raise OSError after moving all of them back.
    """
    log = made / f"{FILE}-wal"
    if log.exists() and log.stat().st_size:  # it holds what was just written: that mails are held back
        raise CannotRestore("the log of the restored database could not be emptied; is the disk full?")
    require_empty(folder)
    for left in (log.name, f"{FILE}-shm", "write.lock"):  # of the check that ended
        (made / left).unlink(missing_ok=True)
    moved: list[str] = []
    try:
        for name in sorted((path.name for path in made.iterdir()), key=lambda name: (name == FILE, name)):
            (made / name).rename(folder / name)
            moved.append(name)
        sync_folder(folder)
    except BaseException:
        for name in moved:
            (folder / name).rename(made / name)
        raise
