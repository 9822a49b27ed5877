"""Write and read a large file once, without pushing out what others have in memory.

What waits to be written is never much: other programs that write to this disk wait for it at each `fsync`.
"""

import io
import os
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from esign.backup.handover import Writable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

WINDOW = 64 * 2**20  # bytes


class SteadyWriter:
    """Writes to a part of a file, and waits for the disk at each window."""

    def __init__(self, file: BinaryIO, part: Writable) -> None:
        self._file, self._part = file, part
        self._written = 0

    def write(self, content: bytes) -> int:
        """Write all of it, and return how many bytes these were. Raise OSError."""
        self._part.write(content)
        self._written += len(content)
        if self._written >= WINDOW:
            self._written = 0
            settle_file(self._file)
        return len(content)


class SteadyReader(io.FileIO):
    """Reads a file, and drops from memory what was read from one place on."""

    _begin = _end = 0  # what was read on end, and is not dropped yet

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer as far as one read does, and return with how many bytes; 0 at the end."""
        at = self.tell()
        count = super().readinto(buffer) or 0
        if at != self._end:
            self._begin = at
        self._end = at + count
        if self._end - self._begin >= WINDOW:
            drop_from_memory(self.fileno(), self._begin, self._end - self._begin)
            self._begin = self._end
        return count


def settle_file(file: BinaryIO) -> None:
    """Wait until what was written is on the disk, and drop it from memory: what is read next comes from the disk."""
    file.flush()
    os.fsync(file.fileno())
    drop_from_memory(file.fileno(), 0, 0)


def drop_from_memory(handle: int, begin: int, size: int) -> None:
    """Advise the system to keep a part of a file no longer; a size of 0 reaches to its end. Some take no advice."""
    with suppress(OSError):
        os.posix_fadvise(handle, begin, size, os.POSIX_FADV_DONTNEED)
