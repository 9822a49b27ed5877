"""Rate limits and places for large uploads, both in memory (contract 7).

Requests are counted in fixed windows of one minute, aligned to the clock. A restart forgets all counts.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from esign.core.errors import Problem
from esign.core.rate_network import list_networks
from esign.core.sentence import say
from esign.system.clock import Clock

WINDOW = 60  # seconds
REMEMBERED = 65_536  # callers whose requests are counted at the same time

LARGE = 2**20  # bytes from which on a body needs a place
UPLOADS = 8
UPLOADS_PER_KEY = 4
UPLOADS_PER_ORGANISATION = 6
UPLOADS_SPARE = 4  # in addition to UPLOADS, one for each organisation that holds no place
UPLOADS_OF_STRANGERS = 4  # for uploads without a key, one for each network
PATIENCE = 10.0  # seconds that an upload waits for a place
TOO_SLOW = "The body came too slowly while others were waiting to send theirs; send it again."


@dataclass(frozen=True, slots=True)
class SlowUpload:
    """When an upload is too slow to keep a place that another upload waits for: seconds, bytes a second."""

    after: float = 3.0
    rate: int = 128 * 2**10
    look: float = 0.5


SLOW = SlowUpload()


@dataclass(frozen=True, slots=True)
class RateStanding:
    """How much of one policy a caller has used. `reset` is in seconds from now, `reset_at` is Unix time."""

    policy: str
    limit: int
    used: int
    reset: int
    reset_at: int

    @property
    def remaining(self) -> int:
        """Return how many requests are left in this window."""
        return max(0, self.limit - self.used)

    @property
    def is_exceeded(self) -> bool:
        """Return whether the caller has sent more than the limit."""
        return self.used > self.limit


class RateWindows:
    """The request counts of one minute, by policy and caller.

    The wall clock is read once and the monotonic clock from then on, so a jump of the wall clock moves no
    window.
    """

    def __init__(self, clock: Clock, limits: Mapping[str, int]) -> None:
        """Set the limits. A limit of 0 switches its policy off."""
        self._clock = clock
        self._ahead = clock.now() / 1000 - clock.monotonic()
        self._limits = {policy: limit for policy, limit in limits.items() if limit}
        self._window = 0
        self._counts: dict[tuple[str, str], int] = {}

    def count(self, policy: str, who: str) -> RateStanding | None:
        """Count one request of a caller. Return its standing, or None if the policy is off."""
        return self._count(policy, who, 1)

    def count_address(self, policy: str, address: str) -> RateStanding | None:
        """Count one request of an address. Return the standing that is exceeded, or else that of its network.

        An IPv6 address counts for its network and, with ten times the limit, for the /48 around it.
        """
        standings = [standing for _, standing in self.count_networks(policy, address)]
        return next(
            (standing for standing in standings if standing.is_exceeded), standings[0] if standings else None
        )

    def count_networks(self, policy: str, address: str) -> list[tuple[str, RateStanding]]:
        """Count one request of an address for each network around it.

        Return each network with its standing, or an empty list if the policy is off.
        """
        counted = [
            (network, self._count(policy, network, times)) for network, times in list_networks(address)
        ]
        return [(network, standing) for network, standing in counted if standing is not None]

    def _count(self, policy: str, who: str, times: int) -> RateStanding | None:
        """Count one request against `times` the limit of the policy."""
        limit = self._limits.get(policy)
        if limit is None:
            return None
        limit *= times
        now = self._clock.monotonic() + self._ahead
        window = int(now // WINDOW)
        if window != self._window:
            self._window = window
            self._counts.clear()
        caller = (policy, who)
        # The dict is ordered by the latest request. When it is full, the caller whose last request is the oldest is
        # forgotten. Counting several callers together instead would let one of them use up the limit of the others.
        used = self._counts[caller] = self._counts.pop(caller, 0) + 1
        if len(self._counts) > REMEMBERED:
            del self._counts[next(iter(self._counts))]
        reset_at = (window + 1) * WINDOW
        return RateStanding(policy, limit, used, max(1, math.ceil(reset_at - now)), reset_at)


def build_rate_headers(standings: list[RateStanding]) -> list[tuple[bytes, bytes]]:
    """Return the RateLimit headers and the older X-RateLimit headers, for the policy with the least left."""
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


def make_rate_problem(standing: RateStanding) -> Problem:
    """Return the problem for a caller that has exceeded a policy."""
    told = say(
        "The limit of {limit} requests in {window} seconds (policy {policy}) is used up; try again in {wait} seconds.",
        limit=standing.limit,
        window=WINDOW,
        policy=standing.policy,
        wait=standing.reset,
    )
    return Problem("rate_limited", told, retry_after=standing.reset)


class Uploads:
    """The places for large bodies in memory: a few for each key, and not many in all (contract 7).

    All keys of one organisation form a group. A group may hold at most `per_group` places, and a group that
    holds none may take one of `spare` places beyond `in_all`. If no place is free, an upload that has held its
    place for a while and is slow is ended: its client is told to send it again.
    """

    def __init__(
        self,
        per_key: int = UPLOADS_PER_KEY,
        in_all: int = UPLOADS,
        patience: float = PATIENCE,
        per_group: int | None = None,
        slow: SlowUpload = SLOW,
        spare: int = 0,
    ) -> None:
        self._per_key = per_key
        self._per_group = in_all if per_group is None else per_group
        self._in_all = in_all
        self._spare = spare
        self._patience = patience
        self._slow = slow
        self._held: list[UploadPlace] = []
        self._waiting: list[tuple[UploadPlace, asyncio.Future[None]]] = []

    @property
    def taken_places(self) -> int:
        """Return how many places are taken."""
        return len(self._held)

    @asynccontextmanager
    async def place(self, key: str, group: str = "") -> AsyncIterator["UploadPlace"]:
        """Provide a place, which `take` occupies, and free it at the end."""
        place = UploadPlace(self, key, group)
        try:
            yield place
        finally:
            place.leave()

    async def wait_for(self, place: "UploadPlace") -> None:
        """Wait until the place is taken. Raise `rate_limited` after `patience` seconds."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((place, turn))
        try:
            async with asyncio.timeout(self._patience):
                self.admit()
                while not turn.done():
                    self._cut_slow()
                    await asyncio.wait({turn}, timeout=self._slow.look)
        except TimeoutError:
            raise Problem("rate_limited", "Too many large uploads at once.", retry_after=5) from None
        finally:
            if (place, turn) in self._waiting:
                self._waiting.remove((place, turn))

    def admit(self) -> None:
        """Give the free places to waiting uploads.

        The upload whose group holds the fewest places comes first, then the one whose key holds the fewest,
        then the one that has waited longest.
        """
        while fitting := [entry for entry in self._waiting if self._fits(entry[0])]:
            entry = min(
                fitting, key=lambda entry: (self._count_of_group(entry[0]), self._count_of_key(entry[0]))
            )
            self._waiting.remove(entry)
            self._held.append(entry[0])
            entry[0].taken_at = asyncio.get_running_loop().time()
            entry[1].set_result(None)

    def leave(self, place: "UploadPlace") -> None:
        """Free the place, if it was taken."""
        if place in self._held:
            self._held.remove(place)
            self.admit()

    def _fits(self, place: "UploadPlace") -> bool:
        """Return whether the limits allow this upload a place now."""
        of_group = self._count_of_group(place)
        return (
            len(self._held) < self._in_all + self._spare * (of_group == 0)
            and of_group < self._per_group
            and self._count_of_key(place) < self._per_key
        )

    def _count_of_group(self, place: "UploadPlace") -> int:
        """Return how many places the upload's group holds."""
        return sum(other.group == place.group for other in self._held)

    def _count_of_key(self, place: "UploadPlace") -> int:
        """Return how many places the upload's key holds."""
        return sum((other.key, other.group) == (place.key, place.group) for other in self._held)

    def _cut_slow(self) -> None:
        """End the slowest upload that is below the required rate, if an upload of another key waits."""
        now = asyncio.get_running_loop().time()
        slow = [
            place
            for place in self._held
            if place.reading is not None
            and now - place.taken_at > self._slow.after
            and place.came < self._slow.rate * (now - place.taken_at)
            and any(other.key != place.key for other, _ in self._waiting)
        ]
        if slow:
            slowest = min(slow, key=lambda place: place.came / (now - place.taken_at))
            assert slowest.reading is not None
            slowest.reading.reschedule(now)
            slowest.reading = None


class UploadPlace:
    """A place among the uploads of a key and of all keys, or among the downloads of a person."""

    def __init__(self, rooms: Uploads, key: str, group: str) -> None:
        self._rooms = rooms
        self.key = key
        self.group = group
        self.taken_at = 0.0
        self.came = 0
        self.reading: asyncio.Timeout | None = None

    async def take(self) -> None:
        """Wait for the place. Raise `rate_limited` when no place becomes free in time."""
        await self._rooms.wait_for(self)

    def note(self, size: int) -> None:
        """Count the bytes that have arrived since the place was taken."""
        self.came += size

    @asynccontextmanager
    async def cut_if_slow(self) -> AsyncIterator[None]:
        """Wrap the reading of a body. Raise `rate_limited` if it is too slow while other uploads wait."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self.reading = limit
                try:
                    yield
                finally:
                    self.reading = None
        except TimeoutError:
            if not limit.expired():
                raise
            raise Problem("rate_limited", TOO_SLOW, retry_after=5) from None

    def leave(self) -> None:
        """Free the place, if it was taken."""
        self._rooms.leave(self)
