"""The files of an installation that belong into its backup: the database as it is at one moment, keys and settings."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from esign.backup.archive import ArchiveFile, hold_content, hold_file
from esign.backup.handover import Writable, write_behind
from esign.store.engine.connections import FILE
from esign.store.engine.snapshot import hold_snapshot

CONFIGURATION = "esign.toml"
DATA = "data/"  # before the path of each file of the data folder
LOG = f"{FILE}-wal"
# Made again when needed, or of use to the running server alone.
LEFT_OUT = {
    FILE,
    LOG,
    f"{FILE}-shm",
    "lock",
    "write.lock",
    "key.lock",
    "reserve",
    "pictures",
    "setup-link",
    "before-migration",
    "backup.lock",
    "backup-blocks",
}


def copy_installation(folder: Path, configuration: Path | None, scratch: Path) -> list[ArchiveFile]:
    """Return the files of a backup, the configuration first, after copying the database into `scratch / "data"`.

    Nothing of the database is held any more when this returns: a slow target of the backup does not let its log grow.
    Raise OSError and what `hold_snapshot` raises.
    """
    copy = scratch / DATA
    copy.mkdir(0o700)
    log, database = copy / LOG, copy / FILE
    with hold_snapshot(folder / FILE) as snapshot:
        with open_new(log) as target:
            snapshot.write_log(target)
        with open_new(database) as target, write_behind(target) as late:
            hashed = HashedWriter(late)
            snapshot.write_file(hashed)
        copied = replace(hold_file(DATA + FILE, database), sha256=hashed.digest.hexdigest())
        return list_files(folder, configuration, copied, log)


class HashedWriter:
    """Hashes what it hands on."""

    def __init__(self, target: Writable) -> None:
        self._target, self.digest = target, hashlib.sha256()

    def write(self, content: bytes) -> int:
        """Write all of it, and return how many bytes these were."""
        self.digest.update(content)
        return self._target.write(content)


@contextmanager
def hold_installation(folder: Path, configuration: Path | None, scratch: Path) -> Iterator[list[ArchiveFile]]:
    """Give the files of a backup with the database where it is, of which only the log is copied into `scratch`.

    For increments, which write little: the log of the database grows until the block ends. Raise OSError and what
    `hold_snapshot` raises.
    """
    log = scratch / LOG
    with hold_snapshot(folder / FILE) as snapshot:
        with open_new(log) as target:
            snapshot.write_log(target)
        database = ArchiveFile(DATA + FILE, snapshot.size, snapshot.read)
        yield list_files(folder, configuration, database, log)


def list_files(
    folder: Path, configuration: Path | None, database: ArchiveFile, log: Path
) -> list[ArchiveFile]:
    """Return the files of a backup, the configuration first.

    The state of the database is held before the keys are read: a key that it names is there already. Raise OSError.
    """
    first = [] if configuration is None else [hold_content(CONFIGURATION, configuration.read_bytes())]
    keys = [
        hold_content(name, path.read_bytes())
        for path in find_keys(folder)
        if belongs_in_backup(name := DATA + str(path.relative_to(folder)))
    ]
    return [*first, database, hold_file(DATA + LOG, log), *keys]


def open_new(path: Path) -> BinaryIO:
    """Open a new file of mode 0600 for writing."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def measure_installation(folder: Path) -> int:
    """Return about how many bytes the copy of the database takes. Raise OSError."""
    log = folder / LOG
    return (folder / FILE).stat().st_size + (log.stat().st_size if log.exists() else 0)


def find_keys(folder: Path) -> Iterator[Path]:
    """Yield the files below a data folder that are neither the database nor made again when needed."""
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        path = Path(entry.path)
        if entry.name.startswith(".") or entry.name in LEFT_OUT:  # what is being written begins with a dot
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from find_keys(path)
        elif entry.is_file():
            yield path


def belongs_in_backup(name: str) -> bool:
    """Return whether a backup can hold this file of a data folder.

    Anything else named like the database is refused: SQLite rolls back a journal that it finds beside a database, and
    deletes the file that the end of the journal names.
    """
    first, *rest = name.removeprefix(DATA).split("/")
    if any(part.startswith(".") for part in (first, *rest)):
        return False
    if first.startswith(FILE):
        return not rest and first in (FILE, LOG)
    return first not in LEFT_OUT
