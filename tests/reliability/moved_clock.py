"""The clock of a served process, set from outside: `wall` and `monotonic` are what is added to those of the machine."""

import mmap
import struct
import sys
from pathlib import Path

from esign.core.instant import Millis

LAYOUT = struct.Struct("<qd")  # milliseconds of the wall clock, seconds of the one that cannot be set


class MovedClock:
    """What is added, in a file that the served process reads at every look at its clock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.wall: Millis = 0
        self.elapsed = 0.0
        path.write_bytes(LAYOUT.pack(0, 0.0))

    @property
    def command(self) -> tuple[str, ...]:
        """Return what serves by this clock, to be followed by the arguments of the program."""
        return (sys.executable, "-m", "tests.reliability.serve_moved", str(self.path))

    def set_wall(self, ahead: Millis) -> None:
        """Set the wall clock alone, as an operator or a time server does."""
        self.wall = ahead
        self._write()

    def pass_time(self, span: Millis) -> None:
        """Let time go by: both clocks move."""
        self.wall += span
        self.elapsed += span / 1000
        self._write()

    def _write(self) -> None:
        with self.path.open("r+b") as file:
            file.write(LAYOUT.pack(self.wall, self.elapsed))


class MovedTime:
    """Reads the file of a MovedClock."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._view = mmap.mmap(file.fileno(), LAYOUT.size, access=mmap.ACCESS_READ)

    def read(self) -> tuple[Millis, float]:
        """Return what is added to the wall clock and to the other one."""
        wall, elapsed = LAYOUT.unpack(self._view[:])
        return int(wall), float(elapsed)
