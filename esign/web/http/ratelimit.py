"""How often somebody may ask: fixed windows of a minute, aligned to the clock, in memory (contract 7)."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from esign.core.errors import Problem
from esign.core.network import networks_of
from esign.system.clock import Clock

WINDOW = 60
REMEMBERED = 65_536

LARGE = 2**20
UPLOADS = 8
UPLOADS_PER_KEY = 4
UPLOADS_PER_ORGANISATION = 6
UPLOADS_SPARE = 4  # beyond all of them, one for each organisation that holds none
UPLOADS_OF_STRANGERS = 4  # beside the others, one for each network
PATIENCE = 10.0
TOO_SLOW = "The body came too slowly while others were waiting to send theirs; send it again."


@dataclass(frozen=True, slots=True)
class Slow:
    """When an upload is too slow to hold a place that others wait for: seconds, bytes a second."""

    after: float = 3.0
    rate: int = 128 * 2**10
    look: float = 0.5


SLOW = Slow()


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
        return self._count(policy, who, 1)

    def count_address(self, policy: str, address: str) -> Standing | None:
        """One more of this address: by its network, and of IPv6 ten times as much by the /48 around it.

        Where either is exceeded, that standing; else the network's.
        """
        standings = [standing for _, standing in self.count_networks(policy, address)]
        return next(
            (standing for standing in standings if standing.exceeded), standings[0] if standings else None
        )

    def count_networks(self, policy: str, address: str) -> list[tuple[str, Standing]]:
        """One more of this address: where each of the networks around it stands; none where the policy is off."""
        counted = [(network, self._count(policy, network, times)) for network, times in networks_of(address)]
        return [(network, standing) for network, standing in counted if standing is not None]

    def _count(self, policy: str, who: str, times: int) -> Standing | None:
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
        # The last to ask stands last. Whoever asked longest ago is forgotten where too many ask: a count that several
        # share would be one that anybody can use up for the others.
        used = self._counts[caller] = self._counts.pop(caller, 0) + 1
        if len(self._counts) > REMEMBERED:
            del self._counts[next(iter(self._counts))]
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
    """Places for large bodies in memory: a few for each key, not many in all (docs/dev/security.md 4).

    All keys of one group, which is an organisation, leave some places to others, and a group that holds none may take
    one of `spare` places beyond `in_all`. Where nothing is free, an upload that
    has held its place for a while and comes slowly makes room: its client is told to send it again.
    """

    def __init__(
        self,
        per_key: int = UPLOADS_PER_KEY,
        in_all: int = UPLOADS,
        patience: float = PATIENCE,
        per_group: int | None = None,
        slow: Slow = SLOW,
        spare: int = 0,
    ) -> None:
        self._per_key = per_key
        self._per_group = in_all if per_group is None else per_group
        self._in_all = in_all
        self._spare = spare
        self._patience = patience
        self._slow = slow
        self._held: list[Place] = []
        self._waiting: list[tuple[Place, asyncio.Future[None]]] = []

    @property
    def held(self) -> int:
        """How many places are taken."""
        return len(self._held)

    @asynccontextmanager
    async def place(self, key: str, group: str = "") -> AsyncIterator["Place"]:
        """A place that may be taken, and is left at the end."""
        place = Place(self, key, group)
        try:
            yield place
        finally:
            place.leave()

    async def wait_for(self, place: "Place") -> None:
        """Return when the place is taken; raises `rate_limited` when patience ends."""
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
        """Give what is free to who waits: first whose group, then whose key holds the fewest, then who came first."""
        while fitting := [entry for entry in self._waiting if self._fits(entry[0])]:
            entry = min(fitting, key=lambda entry: (self._of_group(entry[0]), self._of_key(entry[0])))
            self._waiting.remove(entry)
            self._held.append(entry[0])
            entry[0].taken_at = asyncio.get_running_loop().time()
            entry[1].set_result(None)

    def leave(self, place: "Place") -> None:
        """Free the place, if it was taken."""
        if place in self._held:
            self._held.remove(place)
            self.admit()

    def _fits(self, place: "Place") -> bool:
        of_group = self._of_group(place)
        return (
            len(self._held) < self._in_all + self._spare * (of_group == 0)
            and of_group < self._per_group
            and self._of_key(place) < self._per_key
        )

    def _of_group(self, place: "Place") -> int:
        return sum(other.group == place.group for other in self._held)

    def _of_key(self, place: "Place") -> int:
        return sum((other.key, other.group) == (place.key, place.group) for other in self._held)

    def _cut_slow(self) -> None:
        """End the slowest of those that stand in the way of others, where it is too slow to be waited for."""
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


class Place:
    """A place among the uploads of a key and of all keys, or among the downloads of a person."""

    def __init__(self, rooms: Uploads, key: str, group: str) -> None:
        self._rooms = rooms
        self.key = key
        self.group = group
        self.taken_at = 0.0
        self.came = 0
        self.reading: asyncio.Timeout | None = None

    async def take(self) -> None:
        """Wait for it; raises `rate_limited` when patience ends."""
        await self._rooms.wait_for(self)

    def note(self, size: int) -> None:
        """So many more bytes have come since it was taken."""
        self.came += size

    @asynccontextmanager
    async def cut_if_slow(self) -> AsyncIterator[None]:
        """Read a body inside; raises `rate_limited` where it comes too slowly while others wait for a place."""
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
        self._rooms.leave(self)
