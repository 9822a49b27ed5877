"""The folder for the unencrypted copies of a backup that is being made: closed to others, and gone afterwards.

A process that is killed cannot delete its folder. Each folder is locked by the process that uses it, so the next one
knows whose are left over.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from esign.store.engine.locks import try_lock
from esign.system.disk import count_free_bytes, is_in_memory

PREFIX = "esign-backup-"
NAME = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")  # as tempfile.mkdtemp makes it
ON_DISK = Path("/var/tmp")  # noqa: S108 -- each folder in it is made anew, of mode 0700
MARGIN = 16 * 2**20  # bytes beside a copy: what its database needs to be opened


class NoRoom(Exception):
    """The folder has too little room; the message says which, and how much is needed."""


def choose_parent() -> Path:
    """Return the folder for temporary files; where that lies in memory, one on a disk if there is one."""
    usual = Path(tempfile.gettempdir())
    if "TMPDIR" in os.environ or not is_in_memory(usual):
        return usual
    is_better = os.access(ON_DISK, os.W_OK | os.X_OK) and not is_in_memory(ON_DISK)
    return ON_DISK if is_better else usual


def require_room(parent: Path, size: int) -> None:
    """Raise NoRoom unless a copy of `size` bytes has room in a folder. Raise OSError."""
    needed, free = size + MARGIN, count_free_bytes(parent)
    if free < needed:
        memory = ", which lies in memory," if is_in_memory(parent) else ""
        raise NoRoom(
            f"for the copy that is checked, {needed // 2**20 + 1:,} MiB are needed in {parent}{memory} where"
            f" {free // 2**20:,} are free; name another folder with --scratch or backup.scratch"
        )


@contextmanager
def open_scratch(parent: Path) -> Iterator[Path]:
    """Give a new folder of mode 0700, which is deleted as the block ends. Raise OSError.

    First those go that processes of this user left which were killed.
    """
    remove_left_folders(parent)
    folder, handle = make_locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def make_locked_folder(parent: Path) -> tuple[Path, int]:
    """Make a folder and lock it; return it with the file that holds the lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:  # another process took it for one that was left
            continue
        with suppress(OSError):  # a file system without locks
            if not try_lock(handle) or not folder.exists():
                os.close(handle)
                continue
        return folder, handle


def remove_left_folders(parent: Path) -> None:
    """Delete the folders of processes that ended without deleting them. Links and those of others stay."""
    with suppress(OSError):
        for entry in [*os.scandir(parent)]:
            if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                remove_if_left(Path(entry.path))


def remove_if_left(folder: Path) -> None:
    """Delete a folder of this user that no process has locked."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            is_own = found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700
            if is_own and try_lock(handle):
                shutil.rmtree(folder, ignore_errors=True)  # follows no links
        finally:
            os.close(handle)
