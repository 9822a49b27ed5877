"""How often somebody may ask: fixed windows of a minute, aligned to the clock, in memory (contract 7)."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from esign.clock import Clock
from esign.core.errors import Problem

WINDOW = 60
REMEMBERED = 65_536
OVERFLOW = "everybody else"

LARGE = 2**20
UPLOADS = 8
UPLOADS_PER_KEY = 4
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where somebody stands in one policy: `reset` in seconds from now, `reset_at` as unix time."""

    policy: str
    limit: int
    used: int
    reset: int
    reset_at: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def exceeded(self) -> bool:
        return self.used > self.limit


class Windows:
    """Counts per policy and caller; the wall clock is read once, so that a jump of it moves no window."""

    def __init__(self, clock: Clock, limits: Mapping[str, int]) -> None:
        """A limit of 0 means that the policy is switched off."""
        self._clock = clock
        self._ahead = clock.now() / 1000 - clock.monotonic()
        self._limits = {policy: limit for policy, limit in limits.items() if limit}
        self._window = 0
        self._counts: dict[tuple[str, str], int] = {}

    def count(self, policy: str, who: str) -> Standing | None:
        """One more of this caller; None where the policy is switched off."""
        limit = self._limits.get(policy)
        if limit is None:
            return None
        now = self._clock.monotonic() + self._ahead
        window = int(now // WINDOW)
        if window != self._window:
            self._window = window
            self._counts.clear()
        caller = (policy, who)
        if caller not in self._counts and len(self._counts) >= REMEMBERED:
            caller = (policy, OVERFLOW)
        used = self._counts[caller] = self._counts.get(caller, 0) + 1
        reset_at = (window + 1) * WINDOW
        return Standing(policy, limit, used, max(1, math.ceil(reset_at - now)), reset_at)


def headers(standings: list[Standing]) -> list[tuple[bytes, bytes]]:
    """Both families of headers, for the policy with the least left."""
    if not standings:
        return []
    tightest = min(standings, key=lambda standing: standing.remaining)
    policies = ", ".join(f'"{s.policy}";q={s.limit};w={WINDOW}' for s in standings)
    return [
        (b"ratelimit-policy", policies.encode()),
        (b"ratelimit", f'"{tightest.policy}";r={tightest.remaining};t={tightest.reset}'.encode()),
        (b"x-ratelimit-limit", b"%d" % tightest.limit),
        (b"x-ratelimit-remaining", b"%d" % tightest.remaining),
        (b"x-ratelimit-reset", b"%d" % tightest.reset_at),
    ]


def too_many(standing: Standing) -> Problem:
    return Problem(
        "rate_limited",
        f"The limit of {standing.limit} requests in {WINDOW} seconds (policy {standing.policy}) is used up;"
        f" try again in {standing.reset} seconds.",
        retry_after=standing.reset,
    )


class Uploads:
    """Places for large bodies in memory: a few for each key, not many in all (reliability.md 6.5)."""

    def __init__(
        self, per_key: int = UPLOADS_PER_KEY, in_all: int = UPLOADS, patience: float = PATIENCE
    ) -> None:
        self._per_key = per_key
        self._patience = patience
        self._all = asyncio.Semaphore(in_all)
        self._own: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(self, key_id: str) -> AsyncIterator["Place"]:
        """A place that may be taken, and is left at the end."""
        own = self._own.setdefault(key_id, asyncio.Semaphore(self._per_key))
        place = Place((own, self._all), self._patience)
        try:
            yield place
        finally:
            place.leave()


class Place:
    """A place among the uploads of a key and of all keys, or among the downloads of a person."""

    def __init__(self, rooms: Sequence[asyncio.Semaphore], patience: float) -> None:
        self._rooms = rooms
        self._patience = patience
        self._entered: list[asyncio.Semaphore] = []

    async def take(self) -> None:
        """Wait for it; raises `rate_limited` when patience ends."""
        try:
            async with asyncio.timeout(self._patience):
                for room in self._rooms:
                    await room.acquire()
                    self._entered.append(room)
        except TimeoutError:
            raise Problem("rate_limited", "Too many large uploads at once.", retry_after=5) from None

    def leave(self) -> None:
        while self._entered:
            self._entered.pop().release()
