"""Serves as `esign serve` does, by a clock that is set from outside: its file (`moved_clock`) is the first argument."""

import sys
import time
from pathlib import Path

from esign.cli import main
from esign.core.instant import Instant
from esign.system import clock
from tests.reliability.moved_clock import MovedTime


def move(moved: MovedTime) -> None:
    """Let every clock of this process be moved."""

    def now(self: clock.SystemClock) -> Instant:
        return time.time_ns() // 1_000_000 + moved.read()[0]

    def monotonic(self: clock.SystemClock) -> float:
        return time.clock_gettime(clock.MONOTONIC) + moved.read()[1]

    setattr(clock.SystemClock, "now", now)  # noqa: B010  a method is replaced on purpose
    setattr(clock.SystemClock, "monotonic", monotonic)  # noqa: B010


if __name__ == "__main__":
    move(MovedTime(Path(sys.argv.pop(1))))
    main()
