"""Put the files of a backup into an empty folder, each checked against its hash, and the database made whole."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from zipfile import ZipFile

from esign.backup.archive import DamagedBackup, FileHash, read_archive, read_first
from esign.backup.collect import CONFIGURATION, DATA, belongs_in_backup
from esign.backup.container import measure_content, open_content, read_about
from esign.backup.encryption import Identity
from esign.store.engine.connections import FILE
from esign.store.engine.failures import DatabaseError
from esign.store.engine.snapshot import settle_copy

LARGEST_CONFIGURATION = 2**20  # bytes


def extract_backup(archive: ZipFile, identity: Identity | None, folder: Path) -> list[FileHash]:
    """Write the files of the data folder into `folder / "data"`, and `esign.toml` beside it; return what there is.

    All of it is on the disk when this returns. Raise WrongKey, DamagedBackup, NewerBackup and OSError.
    """
    files = read_backup(archive, identity, lambda name, pieces: write_file(folder / name, pieces))
    try:
        settle_copy(folder / DATA / FILE)
    except DatabaseError as error:
        raise DamagedBackup(f"its database cannot be opened: {error}") from None
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        sync_folder(path)
    return files


def read_backup(
    archive: ZipFile, identity: Identity | None, write: Callable[[str, Iterator[bytes]], None]
) -> list[FileHash]:
    """Give each file of a whole backup to `write` with its pieces, which it must use up; return what there is.

    Raise WrongKey, DamagedBackup, NewerBackup and OSError.
    """
    about = read_about(archive)

    def write_known(name: str, pieces: Iterator[bytes]) -> None:
        if name != CONFIGURATION and not (name.startswith(DATA) and belongs_in_backup(name)):
            raise DamagedBackup(f"it holds {name!r}, which is no file of an installation")
        write(name, pieces)

    with open_content(archive, identity) as stream:
        found = read_archive(stream, measure_content(archive), write_known)
    if found.about != asdict(about):
        raise DamagedBackup("it says other things of itself outside than inside")
    if DATA + FILE not in {each.name for each in found.files}:
        raise DamagedBackup("it holds no database")
    return found.files


def extract_configuration(archive: ZipFile, identity: Identity | None) -> bytes | None:
    """Return the `esign.toml` of a backup, or None if it has none. Raise WrongKey, DamagedBackup and NewerBackup."""
    read_about(archive)
    with open_content(archive, identity) as stream:
        return read_first(stream, CONFIGURATION, LARGEST_CONFIGURATION)


def write_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a new file of mode 0600, in folders of mode 0700, and wait until it is on the disk."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the entries of a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
