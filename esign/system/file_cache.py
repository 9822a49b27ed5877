"""A bounded folder of files that can be made again at any time, sorted into shelves.

A shelf is a folder inside it, so that everything about one thing can be removed at once. No error of the file system
leaves this module: what cannot be read is missing, and what cannot be written is made again when it is next needed.
All functions block for a moment; call them in a thread.
"""

import logging
import os
import re
import shutil
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

log = logging.getLogger("esign")

NAME = re.compile(r"[0-9a-z_]+(\.[0-9a-z_]+)*")
CHECKSUM = 4  # bytes at the end of each file: a file that was cut off by a power cut is missing
TEMPORARY = ".new"
KEPT = 7 / 8  # of the bytes stay when the oldest files go, so that this happens seldom


class FileCache:
    """Holds up to about `most` bytes in `folder`; the files that were used longest ago go first.

    `has_room` says whether the disk has room for more.
    """

    def __init__(self, folder: Path, most: int, has_room: Callable[[], bool] = lambda: True) -> None:
        self._folder = folder
        self._most = most
        self._has_room = has_room
        self._numbers = count()
        self._lock = threading.Lock()
        self._used = 0  # bytes; those of an earlier run are counted by `trim`
        self._trouble = False

    @property
    def is_keeping(self) -> bool:
        """Return whether what is written now will be there later, as far as it can be known."""
        return self._most > 0 and not self._trouble and self._has_room()

    def read(self, shelf: str, name: str) -> bytes | None:
        """Return the content, or None if it is missing or damaged."""
        path = self._locate(shelf, name)
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):  # a file of another user can be read, but counts as not used
            os.utime(path)  # the time of the last use
        content = stored[:-CHECKSUM]
        return content if stored[-CHECKSUM:] == _compute_checksum(content) else None

    def has(self, shelf: str, name: str) -> bool:
        """Return whether there is a file of this name that can be seen, damaged or not."""
        return os.path.exists(self._locate(shelf, name))  # noqa: PTH110  (Path.exists raises where access is denied)

    def write(self, shelf: str, name: str, content: bytes) -> None:
        """Store the content, unless that fails or the disk is nearly full."""
        if not self._most or not self._has_room():
            return
        path = self._locate(shelf, name)
        temporary = path.with_name(f"{name}.{next(self._numbers)}{TEMPORARY}")
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with open(temporary, "xb", opener=_open_privately) as file:
                file.write(content + _compute_checksum(content))
            temporary.replace(path)
            self._trouble = False
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            self._warn(error)
            return
        with self._lock:
            self._used += len(content)
            full = self._used > self._most
        if full:
            self.trim()

    def remove(self, shelf: str) -> None:
        """Remove everything on the shelf."""
        shutil.rmtree(self._locate(shelf), ignore_errors=True)

    def list_shelves(self) -> list[str]:
        """Return the names of the shelves, empty ones included."""
        with suppress(OSError):
            return [one.name for one in os.scandir(self._folder) if NAME.fullmatch(one.name)]
        return []

    def trim(self) -> int:
        """Count what is there, and remove the files that were used longest ago if it is too much.

        Return the number of bytes that are left. Temporary files go too: a run that was killed has left them, or
        the write under way fails and loses nothing.
        """
        with self._lock:
            files = sorted(self._list_files())
            self._used = sum(size for _, size, _ in files)
            bound = int(self._most * KEPT) if self._used > self._most else self._most
            for _, size, path in files:
                if self._used <= bound and path.suffix != TEMPORARY:
                    continue
                with suppress(OSError):
                    path.unlink()
                    self._used -= size
                with suppress(OSError):
                    path.parent.rmdir()  # fails while there is something on the shelf
            return self._used

    def find_damaged(self) -> list[Path]:
        """Return the files whose content is not the one that was written."""
        return [path for _, _, path in self._list_files() if path.suffix != TEMPORARY and _is_damaged(path)]

    def _list_files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield (time of the last use in seconds, bytes, path) of each file."""
        for shelf in self.list_shelves():
            with suppress(OSError):
                for entry in os.scandir(self._folder / shelf):
                    with suppress(OSError):
                        found = entry.stat(follow_symlinks=False)
                        yield found.st_mtime, found.st_size, Path(entry.path)

    def _locate(self, shelf: str, name: str | None = None) -> Path:
        """Return the path of a shelf, or of a file on it. Raises ValueError for names that could lead elsewhere."""
        for part in (shelf, name):
            if part is not None and not NAME.fullmatch(part):
                raise ValueError(f"{part!r} is no name of a shelf or file")
        return self._folder / shelf / name if name is not None else self._folder / shelf

    def _warn(self, error: OSError) -> None:
        """Log the first of several failures; a shelf that was removed meanwhile is none."""
        if not self._trouble and not isinstance(error, FileNotFoundError):
            log.warning("%s cannot be written, so pictures are drawn each time: %s", self._folder, error)
            self._trouble = True


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_damaged(path: Path) -> bool:
    """Return whether a file can be read and does not end with its checksum."""
    try:
        stored = path.read_bytes()
    except OSError:
        return False
    return stored[-CHECKSUM:] != _compute_checksum(stored[:-CHECKSUM])


def _compute_checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM)
