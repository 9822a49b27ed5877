"""Write and read a large file once, without pushing out what others have in memory.

What waits to be written is never much: whoever else writes to this disk waits for it at each `fsync`.
"""

import io
import os
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
    """Reads a file from its beginning to its end, and drops from memory what was read."""

    _dropped = 0

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer as far as one read does, and return with how many bytes; 0 at the end."""
        count = super().readinto(buffer) or 0
        at = self.tell()
        if at - self._dropped >= WINDOW:
            os.posix_fadvise(self.fileno(), self._dropped, at - self._dropped, os.POSIX_FADV_DONTNEED)
            self._dropped = at
        return count


def settle_file(file: BinaryIO) -> None:
    """Wait until what was written is on the disk, and drop it from memory: what is read next comes from the disk."""
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
