"""The one place that reads the time; everything else is handed a `Clock` or an instant."""

import time
from typing import Protocol

from esign.core.instant import Instant


class Clock(Protocol):
    def now(self) -> Instant:
        """Wall time in milliseconds: for expiry, signatures, tokens."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump: for durations and time-outs."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> Instant:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
