"""How often a secret may be tried: by account, by address and in all in any 15 minutes (reliability.md T22)."""

import math
from collections import deque

from esign.clock import Clock
from esign.core.errors import Problem
from esign.web.origin import household

SPAN = 15 * 60.0  # seconds
ACCOUNT, ADDRESS, ALL = 10, 30, 300
REMEMBERED = 16_384
SWEEP = 60.0
OTHERS = "everybody else"


class Tries:
    """In memory, so that a flood writes nothing; a session that is there already is never asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times: dict[tuple[str, str], deque[float]] = {}
        self._forgot = clock.monotonic()

    def count(self, kind: str, account: str, ip: str | None) -> None:
        """One more try; raises `rate_limited` where there were too many, without counting this one."""
        now = self._clock.monotonic()
        windows = [(self._recent(key, now), most) for key, most in keys(kind, account, ip)]
        for times, most in windows:
            if len(times) >= most:
                wait = math.ceil(times[0] + SPAN - now)
                raise Problem("rate_limited", f"Too many tries; wait {minutes(wait)}.", retry_after=wait)
        for times, _ in windows:
            times.append(now)

    def forgive(self, kind: str, account: str, ip: str | None) -> None:
        """The last try was right: the account starts again, and the others have one try back."""
        (own, _), *others = keys(kind, account, ip)
        self._times.pop(own, None)
        for key, _ in others:
            if times := self._times.get(key):
                times.pop()

    def _recent(self, key: tuple[str, str], now: float) -> deque[float]:
        if key not in self._times and len(self._times) >= REMEMBERED:
            self._forget(now)
            if len(self._times) >= REMEMBERED:
                key = (key[0], OTHERS)
        times = self._times.setdefault(key, deque())
        while times and times[0] <= now - SPAN:
            times.popleft()
        return times

    def _forget(self, now: float) -> None:
        """Looking through all of them is work, so it is done once a minute however many come."""
        if now - self._forgot < SWEEP:
            return
        self._forgot = now
        self._times = {key: times for key, times in self._times.items() if times and times[-1] > now - SPAN}


def keys(kind: str, account: str, ip: str | None) -> tuple[tuple[tuple[str, str], int], ...]:
    """What is counted, with the most of it."""
    return (
        ((f"{kind} account", account.casefold()[:320]), ACCOUNT),
        ((f"{kind} address", household(ip or "local")), ADDRESS),
        ((kind, ""), ALL),
    )


def minutes(seconds: int) -> str:
    n = math.ceil(seconds / 60)
    return "a minute" if n <= 1 else f"{n} minutes"
