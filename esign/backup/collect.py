"""The files of an installation that belong into its backup: the database as it is at one moment, keys and settings."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esign.backup.archive import ArchiveFile, hold_content
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


@contextmanager
def hold_installation(folder: Path, configuration: Path | None) -> Iterator[list[ArchiveFile]]:
    """Give the files of a backup, the configuration first. Raise OSError and what `hold_snapshot` raises.

    The state of the database is held before the keys are read: a key that it names is there already.
    """
    first = [] if configuration is None else [hold_content(CONFIGURATION, configuration.read_bytes())]
    with hold_snapshot(folder / FILE) as snapshot:
        yield [
            *first,
            ArchiveFile(DATA + FILE, snapshot.size, snapshot.read),
            hold_content(DATA + LOG, snapshot.log),
            *(
                hold_content(DATA + str(path.relative_to(folder)), path.read_bytes())
                for path in find_keys(folder)
            ),
        ]


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
