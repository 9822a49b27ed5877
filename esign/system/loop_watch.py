"""A thread that notices when the event loop stands still, and logs where.

Only a service manager with a watchdog (systemd has one, which the loop feeds itself) may end a process for
that: without one, nobody would start it again. So this only logs, once for each standstill, and counts.
"""

import asyncio
import logging
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from esign.system.clock import SystemClock

log = logging.getLogger("esign")

BOUND_SECONDS = 10.0
BEATS = 4  # within each bound


class LoopWatch:
    """How often the event loop stood still for longer than its bound."""

    def __init__(self, bound: float = BOUND_SECONDS) -> None:
        self.standstills = 0
        self._bound = bound
        self._beat_at = 0.0
        self._ended = threading.Event()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Watch the event loop and its thread inside the context."""
        loop, thread, clock = asyncio.get_running_loop(), threading.get_ident(), SystemClock()
        timer: asyncio.TimerHandle | None = None

        def beat() -> None:
            nonlocal timer
            self._beat_at = clock.monotonic()
            timer = loop.call_later(self._bound / BEATS, beat)

        beat()
        watcher = threading.Thread(
            target=self._watch, args=(thread, clock.monotonic), name="loop watch", daemon=True
        )
        watcher.start()
        try:
            yield
        finally:
            self._ended.set()
            if timer is not None:
                timer.cancel()

    def _watch(self, thread: int, read_time: Callable[[], float]) -> None:
        """Compare the last beat with the clock until the context ends."""
        told_for = 0.0
        checked_at = read_time()
        while not self._ended.wait(self._bound / BEATS):
            now, beat_at = read_time(), self._beat_at
            # A machine that was suspended, or a process that was stopped, held up this thread too.
            was_stopped = now - checked_at > self._bound
            checked_at = now
            if now - beat_at > self._bound and beat_at != told_for and not was_stopped:
                told_for = beat_at
                self.standstills += 1
                frame = sys._current_frames().get(thread)
                where = "".join(traceback.format_stack(frame)) if frame else "(its thread has ended)"
                log.error(
                    "the event loop has stood still for %.0f seconds. It stands at:\n%s",
                    now - beat_at,
                    where,
                )
