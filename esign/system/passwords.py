"""Hash passwords with argon2id (RFC 9106) in threads, and refuse passwords that are easy to guess."""

import asyncio
import os
from base64 import b64encode
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple, TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from esign.core.errors import Problem
from esign.core.people import password as rules
from esign.core.rate_network import find_network, find_wide_network

AT_ONCE = 2
LANE = 10  # how many requests of one network may wait
WAITING = 200  # how many may wait in all, each with some kilobytes; further requests are told to retry later
GUESSABLE = 3  # of zxcvbn's 0 to 4: below it fewer than 10^8 guesses are enough

TOO_EASY = "This password is easy to guess. Use several words that don’t belong together."

T = TypeVar("T")


class PasswordLane(NamedTuple):
    """A waiting line for hashes.

    Lanes of callers who have proved who they are (`known`) go before those of strangers.
    """

    known: bool
    name: str


def build_stranger_lane(address: str | None) -> PasswordLane:
    """Return the lane of a network; for IPv6 it is the /48."""
    address = address or ""
    return PasswordLane(False, find_wide_network(address) or find_network(address))


def build_known_lane(name: str) -> PasswordLane:
    """Return the lane of a browser known to the account, a signed-in user, or the holder of a mailed link."""
    return PasswordLane(True, name)


class Passwords:
    """Computes and compares hashes; each takes some 50 ms of a core and 19 MiB (OWASP's minimum)."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
        self._queue = FairQueue(AT_ONCE)
        # Comparing with this takes as much work as with any hash.
        self._nobody = f"$argon2id$v=19$m=19456,t=2,p=1${make_noise(16)}${make_noise(32)}"

    async def hash(self, text: str, lane: PasswordLane) -> str:
        return await self._work(lane, self._hasher.hash, rules.normalise_password(text))

    async def is_password(self, stored: str | None, text: str, lane: PasswordLane) -> bool:
        """Return whether `text` is the password. If there is none (`stored` is None), the answer takes as long."""
        against = stored or self._nobody
        fits = await self._work(lane, self._compare, against, rules.normalise_password(text))
        return fits and stored is not None

    async def find_complaint(
        self, text: str, about: Sequence[str], lane: PasswordLane, *, with_totp: bool
    ) -> str | None:
        """Return what is wrong with a new password, as a sentence, or None.

        `about` are words that others know about the person.
        """
        chosen = rules.normalise_password(text)
        if wrong := rules.find_complaint(chosen, with_totp=with_totp):
            return wrong
        return TOO_EASY if await self._work(lane, is_guessable, chosen, about) else None

    def _compare(self, stored: str, text: str) -> bool:
        try:
            return self._hasher.verify(stored, text)
        except (VerificationError, InvalidHashError):
            return False

    async def _work(self, lane: PasswordLane, work: Callable[..., T], *given: object) -> T:
        """Run `work` in a thread and return its result. Raises `rate_limited` if too many wait."""
        async with self._queue.place(lane):
            return await asyncio.to_thread(work, *given)


class FairQueue:
    """A few places, given to the lanes in turn, and to those of known callers before those of strangers.

    Many requests from one network wait for each other, not others for them. Strangers, from however many
    networks, never keep out a caller who has proved who they are.
    """

    def __init__(self, places: int, lane: int = LANE, waiting: int = WAITING) -> None:
        self._free = places
        self._lane = lane
        self._most = waiting
        self._lanes: dict[PasswordLane, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, lane: PasswordLane) -> AsyncIterator[None]:
        """Wait for a place, and release it at the end.

        Raises `rate_limited` if the caller's lane is full. If the whole queue is full, it is raised for the
        last request of the longest lane of strangers, or of the longest lane of known callers if no stranger
        waits.
        """
        await self._enter(lane)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, lane: PasswordLane) -> None:
        if self._free:
            self._free -= 1
            return
        self._make_room(lane)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lanes.setdefault(lane, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave()  # it had been given the place already
            else:
                self._drop(lane, turn)
            raise

    def _make_room(self, lane: PasswordLane) -> None:
        """Raise `rate_limited` if this lane is full.

        If the whole queue is full, drop the last request of the longest lane.
        """
        own = len(self._lanes.get(lane, ()))
        if own >= self._lane:
            raise build_too_many_problem()
        if sum(map(len, self._lanes.values())) < self._most:
            return
        longest = max(self._lanes, key=lambda each: (not each.known, len(self._lanes[each])))
        if longest.known > lane.known or (
            longest.known == lane.known and len(self._lanes[longest]) <= own + 1
        ):
            raise build_too_many_problem()
        turn = self._lanes[longest].pop()
        if not self._lanes[longest]:
            del self._lanes[longest]
        if not turn.done():
            turn.set_exception(build_too_many_problem())

    def _drop(self, lane: PasswordLane, turn: asyncio.Future[None]) -> None:
        with suppress(KeyError, ValueError):
            self._lanes[lane].remove(turn)
            if not self._lanes[lane]:
                del self._lanes[lane]

    def _leave(self) -> None:
        """Give the place to the first request of the lane whose turn it is. That lane then goes to the end."""
        while self._lanes:
            lane = next((each for each in self._lanes if each.known), next(iter(self._lanes)))
            waiting = self._lanes.pop(lane)
            turn = waiting.popleft()
            if waiting:
                self._lanes[lane] = waiting
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


def make_noise(size: int) -> str:
    """Return random bytes in argon2's encoding."""
    return b64encode(os.urandom(size)).rstrip(b"=").decode()


def build_too_many_problem() -> Problem:
    return Problem(
        "rate_limited", "Many people are signing in right now. Try again in a moment.", retry_after=5
    )


def is_guessable(chosen: str, about: Sequence[str]) -> bool:
    from zxcvbn import (
        zxcvbn,
    )  # imported late: megabytes of words, which a server that changes no password does not need

    return bool(zxcvbn(chosen[: rules.JUDGED], user_inputs=list(about))["score"] < GUESSABLE)
