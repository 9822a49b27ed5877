"""A loop whose clock stands still while the machine holds this process up: deadlines count what it could do itself."""

import asyncio
import math
import selectors
from collections.abc import Callable
from threading import get_ident
from time import thread_time

from esign.core.instant import Instant
from esign.system.clock import SystemClock

CLOCK = SystemClock()
SLICE = 0.02  # seconds that it sleeps at once
SLACK = 0.02  # seconds by which any machine is late


class Watch(selectors.EpollSelector):
    """Time that was asked for, and time that this thread worked, is counted; what took longer was the machine."""

    def __init__(self) -> None:
        super().__init__()
        self._seen, self._worked, self._lost = CLOCK.monotonic(), thread_time(), 0.0
        self._thread = get_ident()

    def now(self) -> float:
        if get_ident() == self._thread:  # another thread has worked for another time, and time would go back
            self._pass(thread_time() - self._worked)
        return self._seen - self._lost

    def _pass(self, accounted: float) -> None:
        now = CLOCK.monotonic()
        self._lost += max(0.0, now - self._seen - accounted - SLACK)
        self._seen, self._worked = now, thread_time()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._thread = get_ident()
        end = self.now() + (math.inf if timeout is None else max(0.0, timeout))
        while True:
            slice = min(SLICE, max(0.0, end - self._seen + self._lost))
            events = super().select(slice)
            self._pass(slice)
            if events or self._seen - self._lost >= end:
                return events


class Steady(asyncio.SelectorEventLoop):
    """The loop with that watch."""

    def __init__(self) -> None:
        self._watch = Watch()
        super().__init__(self._watch)

    def time(self) -> float:
        return self._watch.now()


class SteadyClock:
    """The wall time of a program in such a loop: it goes on as the loop does."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = CLOCK.now() - self._loop.time() * 1000

    def now(self) -> Instant:
        return int(self._began + self._loop.time() * 1000)

    def monotonic(self) -> float:
        return self._loop.time()


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What the tests of a folder run in, where its conftest.py takes this hook."""
    return {"steady": Steady}
