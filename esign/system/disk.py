"""Watch the free space on the disk of the data folder, and keep a reserve for signing.

Below `spare` free bytes new files are refused, so that the remaining space serves the recipients who sign. The
reserve is a file that takes up space as long as there is plenty. It is deleted when even signing has hardly any
space left, and made again later.
"""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

log = logging.getLogger("esign")

SPARE = 256 * 2**20
RESERVE = 64 * 2**20
NAME = "reserve"

Free = Callable[[Path], int]


def count_free_bytes(folder: Path) -> int:
    """Return how many bytes this user can still write in the folder. Raises OSError."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def is_in_memory(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Return whether the files of a folder take up memory (tmpfs). False where the system does not say it."""
    try:
        device = folder.stat().st_dev
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:  # proc(5): id, parent, device, …, "-", kind of file system, …
        fields = line.split()
        if len(fields) > 3 and fields[2] == number and "-" in fields:
            return fields[fields.index("-") + 1] in ("tmpfs", "ramfs")
    return False


class DiskRoom:
    """The space in one data folder; `look` is called every few seconds, and after a write that found no space.

    `free` returns the free bytes of a folder.
    """

    def __init__(
        self, folder: Path, spare: int = SPARE, reserve: int = RESERVE, free: Free = count_free_bytes
    ) -> None:
        self.spare = spare
        self._folder = folder
        self._file = folder / NAME
        self._size = reserve
        self._free = free
        self._was_short = False

    def is_short(self) -> bool:
        """Return whether new files must wait. An error when asking the system counts as no space."""
        try:
            return self._free(self._folder) < self.spare
        except OSError:
            return True

    def check_room(self) -> None:
        """Delete the reserve if the space is nearly used up, make it if there is plenty, and log changes."""
        try:
            free = self._free(self._folder)
        except OSError as error:
            log.error("the free space on the disk of the data folder is unknown: %s", error)
            return
        if free < self._size:
            self.release()
        elif 0 < 2 * self._size <= free - self.spare and not self._is_made():
            self._make()
        self._tell(free)

    def release(self) -> None:
        """Delete the reserve, if there is one, so that its space serves what has to be written now."""
        try:
            self._file.unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            log.error("the reserve in the data folder cannot be released: %s", error.strerror)
            return
        log.warning("the disk is full: the reserve of %s MiB was released", self._size // 2**20)

    def _is_made(self) -> bool:
        return self._file.exists() and self._file.stat().st_size == self._size

    def _make(self) -> None:
        try:
            handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.posix_fallocate(handle, 0, self._size)
            finally:
                os.close(handle)
        except OSError as error:  # some file systems cannot; everything else works without a reserve
            log.info("no reserve can be made in the data folder: %s", error.strerror)
            with suppress(OSError):
                self._file.unlink()

    def _tell(self, free: int) -> None:
        short = free < self.spare
        if short and not self._was_short:
            log.error(
                "the disk of the data folder has %s MiB left: nothing can be uploaded until there are %s MiB;"
                " signing continues",
                free // 2**20,
                self.spare // 2**20,
            )
        if self._was_short and not short:
            log.warning("the disk of the data folder has room again: uploads are taken")
        self._was_short = short
