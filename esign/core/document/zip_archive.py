"""A ZIP whose files are only stored, written in one go: size and CRC-32 of each are known before it (APPNOTE 6.3.9)."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

STORED, VERSION, UNIX, UTF8 = 0, 20, 3 << 8, 0x800
READABLE = 0o100644 << 16
OLDEST = datetime(1980, 1, 1)  # noqa: DTZ001  (the times of a ZIP have no zone)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: `at` on the reader's clocks, `start` where its head stands in the archive."""

    name: str
    at: datetime
    size: int
    crc: int
    start: int

    @property
    def _shared(self) -> bytes:
        """What stands in both its heads."""
        at = max(self.at.replace(tzinfo=None), OLDEST)
        day = (at.year - 1980) << 9 | at.month << 5 | at.day
        clock = at.hour << 11 | at.minute << 5 | at.second // 2
        name = len(self.name.encode())
        numbers = (VERSION, UTF8, STORED, clock, day, self.crc, self.size, self.size, name, 0)
        return struct.pack("<HHHHHIIIHH", *numbers)

    def head(self) -> bytes:
        """What stands before its content."""
        return b"PK\3\4" + self._shared + self.name.encode()

    def listed(self) -> bytes:
        """Its line in the directory."""
        more = struct.pack("<HHHII", 0, 0, 0, READABLE, self.start)
        return b"PK\1\2" + struct.pack("<H", UNIX | VERSION) + self._shared + more + self.name.encode()


def directory(entries: Sequence[Entry], start: int) -> bytes:
    """The end of the archive; `start`: how much stands before it."""
    lines = b"".join(entry.listed() for entry in entries)
    number = len(entries)
    return lines + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, number, number, len(lines), start, 0)
