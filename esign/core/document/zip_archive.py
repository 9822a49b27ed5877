"""Writes the headers of a ZIP archive without compression, as a stream.

The size and CRC-32 of each file must be known before its header is written (APPNOTE 6.3.9).
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

STORED, VERSION, UNIX, UTF8 = 0, 20, 3 << 8, 0x800
READABLE = 0o100644 << 16
OLDEST = datetime(1980, 1, 1)  # noqa: DTZ001  (the times of a ZIP have no zone)


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One file of the archive. `at` is a local time, `start` the offset of its header in the archive."""

    name: str
    at: datetime
    size: int
    crc: int
    start: int

    @property
    def _common_part(self) -> bytes:
        """Return the part that its local header and its directory entry have in common."""
        at = max(self.at.replace(tzinfo=None), OLDEST)
        day = (at.year - 1980) << 9 | at.month << 5 | at.day
        clock = at.hour << 11 | at.minute << 5 | at.second // 2
        name = len(self.name.encode())
        numbers = (VERSION, UTF8, STORED, clock, day, self.crc, self.size, self.size, name, 0)
        return struct.pack("<HHHHHIIIHH", *numbers)

    def head(self) -> bytes:
        """Return the local header, which stands before the content."""
        return b"PK\3\4" + self._common_part + self.name.encode()

    def write_directory_line(self) -> bytes:
        """Return its entry in the central directory."""
        more = struct.pack("<HHHII", 0, 0, 0, READABLE, self.start)
        return b"PK\1\2" + struct.pack("<H", UNIX | VERSION) + self._common_part + more + self.name.encode()


def write_directory(entries: Sequence[ZipEntry], start: int) -> bytes:
    """Return the end of the archive: the central directory, which stands at the offset `start`."""
    lines = b"".join(entry.write_directory_line() for entry in entries)
    number = len(entries)
    return lines + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, number, number, len(lines), start, 0)
