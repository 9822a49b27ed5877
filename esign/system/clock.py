"""Read the time. This is the only place that does; everything else is handed a `Clock` or an instant.

`GuardedClock` is what a running program uses. A wall clock can be set to anything: by an operator, by a broken
time server, by a hypervisor. What a program does because of the time is partly irreversible (a document
expires, a mail is sent, a row is deleted). So the wall clock is compared with the monotonic clock, which cannot
be set:

- While both agree to within a minute, the wall clock is the time.
- When they disagree by more, the time continues along the monotonic clock: stamps, retries and sessions do not
  see the jump. Nothing irreversible is done (`read_settled_time` stands still). When the wall clock comes back, all of
  this ends. When it stays where it is for ten minutes, or an operator confirms it, it is accepted.
- `ClockMark` carries this over a restart: the last time that was certain. On a machine that was not restarted
  meanwhile, its clock since boot tells how late it is. On any other, a wall clock that is behind the mark is
  wrong. One that is more than two weeks ahead may be right (the machine was off), so it is taken as the time,
  and only irreversible work waits for ten minutes.
"""

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from esign.core.instant import DAY, MINUTE, Instant, Millis

TOLERANCE: Millis = MINUTE
CONFIRMED_AFTER = 600.0  # seconds for which a clock that jumped must be steady before it is accepted
FAR: Millis = 14 * DAY  # after a longer stop, a wrong clock is as likely as a machine that was off
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    def now(self) -> Instant:
        """Return the wall time in milliseconds: for expiry, signatures and tokens."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never jump: for durations and time-outs."""
        ...


class SystemClock:
    """The machine's own clock. Its monotonic time includes sleep if the system offers such a clock."""

    def now(self) -> Instant:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.clock_gettime(MONOTONIC)


def read_processor_seconds() -> float:
    """Return the processor time, in seconds, that this process has used; other load does not affect it."""
    return time.process_time()


MONOTONIC = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def read_boot_id() -> str:
    """Return the id of this boot of the machine, or "" if the system does not tell."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class ClockMark:
    """A time that was certain: `at` by the wall clock, `elapsed` ms since the boot with the id `boot_id`."""

    at: Instant
    elapsed: Millis
    boot_id: str


@dataclass(frozen=True, slots=True)
class ClockDoubt:
    """Why the wall clock is not accepted.

    `since` is the last time that was certain, `ahead` by how much the wall clock is ahead of (or, negative,
    behind) the expected time, and `steady_since` the monotonic time since which it has not jumped again.
    """

    since: Instant
    ahead: Millis
    steady_since: float


class GuardedClock:
    """A clock that does not follow a jump of the wall clock until it is confirmed. Safe to read from any thread."""

    def __init__(self, source: Clock, mark: ClockMark | None = None, boot_id: str = "") -> None:
        self.source = source
        self._boot_id = boot_id
        self._lock = threading.Lock()
        self._doubt: ClockDoubt | None = None
        self._lowest: Instant | None = (
            None  # the mark of an earlier boot, while the time at the start is in doubt
        )
        wall, at = source.now(), source.monotonic()
        self._wall, self._at = wall, at
        if mark is not None:
            self._begin(mark, wall, at)

    def _begin(self, mark: ClockMark, wall: Instant, at: float) -> None:
        elapsed = round(at * 1000) - mark.elapsed
        if mark.boot_id and mark.boot_id == self._boot_id and elapsed >= 0:
            self._wall = mark.at + elapsed
        else:
            self._judge(mark.at, wall, at)

    def _judge(self, lowest: Instant, wall: Instant, at: float) -> Instant:
        """Return the time at a start of which only is known that it is not before `lowest`."""
        self._adopt(wall, at)
        if not lowest - TOLERANCE <= wall <= lowest + FAR:
            self._wall = max(wall, lowest)
            self._lowest, self._doubt = lowest, ClockDoubt(lowest, wall - lowest, at)
        return self._wall

    def now(self) -> Instant:
        return self._read()[0]

    def monotonic(self) -> float:
        return self.source.monotonic()

    def read_wall_clock(self) -> Instant:
        """Return what the wall clock says, right or wrong. Only for showing it to an operator."""
        return self.source.now()

    def read_settled_time(self) -> Instant:
        """Return the time up to which irreversible work may be done: now, or the last time that was certain."""
        now, doubt = self._read()
        return now if doubt is None else min(now, doubt.since)

    @property
    def doubt(self) -> ClockDoubt | None:
        """Return why nothing irreversible is done at present, or None while the wall clock is accepted."""
        return self._read()[1]

    def mark(self) -> ClockMark | None:
        """Return what to store for the next start, or None while the time is in doubt."""
        now, doubt = self._read()
        return None if doubt else ClockMark(now, round(self.source.monotonic() * 1000), self._boot_id)

    def confirm(self) -> None:
        """Accept the wall clock from now on, because an operator says that it is right."""
        with self._lock:
            self._adopt(self.source.now(), self.source.monotonic())

    def _read(self) -> tuple[Instant, ClockDoubt | None]:
        """Return the time, and the doubt about it or None."""
        with self._lock:
            wall, at = self.source.now(), self.source.monotonic()
            expected = self._wall + round((at - self._at) * 1000)
            if abs(wall - expected) > TOLERANCE:
                wall = self._distrust(wall, at, expected)
            elif self._doubt is None:
                if at - self._at >= CONFIRMED_AFTER:  # follow the small corrections of a time server
                    self._wall, self._at = wall, at
            elif self._lowest is None or at - self._doubt.steady_since >= CONFIRMED_AFTER:
                self._adopt(wall, at)  # it came back, or it was far ahead at the start and has stayed there
            return wall, self._doubt

    def _distrust(self, wall: Instant, at: float, expected: Instant) -> Instant:
        """Return the time while the wall clock differs from the expected time."""
        doubt, ahead = self._doubt, wall - expected
        if doubt is not None and self._lowest is not None and abs(ahead - doubt.ahead) > TOLERANCE:
            return self._judge(self._lowest, wall, at)  # it was wrong at the start, and has been set since
        if doubt is None:
            self._doubt = ClockDoubt(expected, ahead, at)
        elif abs(ahead - doubt.ahead) > TOLERANCE:
            self._doubt = replace(doubt, ahead=ahead, steady_since=at)
        elif at - doubt.steady_since >= CONFIRMED_AFTER:
            self._adopt(wall, at)
            return wall
        return expected

    def _adopt(self, wall: Instant, at: float) -> None:
        self._wall, self._at = wall, at
        self._doubt, self._lowest = None, None
