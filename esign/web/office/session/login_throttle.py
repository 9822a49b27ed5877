"""Limit how often a password or a code may be tried within any 15 minutes.

Strangers can try passwords. They must neither guess many nor lock the owner of an account out. Attempts beyond
the limit are therefore delayed and not refused (`wait_for_turn`). They are counted by account and network together, and
by network; never by account alone or in total, because anybody could use up such a limit for others. A browser
that has signed in to the account before (`actions.people.known_browsers`) is counted separately.

Attempts that need a password or a session first (`count`) are refused beyond the limit, since a code has only
six digits.

Memory is bounded per kind of attempt. When a kind is full, the entry that was unused for longest is dropped;
strangers never share one count, because anybody could use it up for the others. A refused attempt is not
recorded, so a single network, which soon has to wait, cannot push out the entries of others.
"""

import asyncio
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from esign.core.errors import Problem
from esign.core.rate_network import LOOSELY, list_networks
from esign.core.sentence import say
from esign.system.clock import Clock

SPAN = 15 * 60.0  # seconds
ACCOUNT, ADDRESS = 10, 30
REMEMBERED = 16_384  # keys of each kind

# Seconds that an attempt beyond the limit waits. By account and network: from FIRST, doubled each time up to SLOWEST.
# By network alone: up to PACE.
FIRST, SLOWEST, PACE = 0.5, 15.0, 3.0
WAITING = 5  # attempts of one network that may wait at the same time; of one account and network, one
RETRY = 15

Key = tuple[str, str]
Counted = tuple[tuple[Key, int], ...]  # each key with its limit


class LoginThrottle:
    """Counts attempts. The counts are in memory only, so that a flood of attempts causes no writes.

    No count ever ends a session or keeps a user out who is signed in already.
    """

    def __init__(self, clock: Clock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._clock = clock
        self._sleep = sleep
        self._times: defaultdict[str, OrderedDict[str, deque[float]]] = defaultdict(OrderedDict)
        self._waiting: Counter[Key] = Counter()

    def count(self, kind: str, account: str, ip: str | None, device: str | None = None) -> None:
        """Count one more attempt; raise `rate_limited`, without counting it, if there were too many."""
        now = self._clock.monotonic()
        counted = list_keys(kind, account, ip, device)
        for key, most in counted:
            times = self._recent(key, now)
            if len(times) >= most:
                wait = math.ceil(times[0] + SPAN - now)
                raise Problem("rate_limited", say_wait(wait), retry_after=wait)
        self._note(counted, now)

    def forgive(self, kind: str, account: str, ip: str | None, device: str | None = None) -> None:
        """Undo the last attempt, because it succeeded.

        The account starts from zero, and each network gets one attempt back.
        """
        self._forgive(list_keys(kind, account, ip, device))

    @asynccontextmanager
    async def wait_for_turn(
        self, account: str, ip: str | None, device: str | None = None
    ) -> AsyncIterator[None]:
        """Wait before one more attempt at a password; the delay grows with the number of attempts.

        `device` is a browser that the account knows. Raise `rate_limited`, without counting the attempt, only
        if others are waiting already: one of the same account and network, or `WAITING` of the same network.
        """
        now = self._clock.monotonic()
        own, *_ = counted = list_password_keys(account, ip, device)
        before = [(key, len(self._recent(key, now)), most) for key, most in counted]
        beyond = [(key, times - most) for key, times, most in before if times >= most]
        for key, _ in beyond:
            if self._waiting[key] >= (1 if key == own[0] else WAITING):
                text = "Too many attempts from your network. Wait a moment."
                raise Problem("rate_limited", text, retry_after=RETRY)
        self._note(counted, now)
        self._waiting.update(key for key, _ in beyond)
        try:
            if beyond:
                await self._sleep(max(compute_delay(key == own[0], over) for key, over in beyond))
            yield
        finally:
            for key, _ in beyond:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key]

    def forgive_password(self, account: str, ip: str | None, device: str | None = None) -> None:
        """Undo the last attempt at a password, because it was correct."""
        self._forgive(list_password_keys(account, ip, device))

    def _forgive(self, counted: Counted) -> None:
        ((kind, who), _), *others = counted
        self._times[kind].pop(who, None)
        for (kind, who), _ in others:
            if times := self._times[kind].get(who):
                times.pop()

    def _recent(self, key: Key, now: float) -> Sequence[float]:
        """Return the times of the attempts that still count, oldest first; looking up a key does not create it."""
        kind, who = key
        times = self._times[kind].get(who)
        while times and times[0] <= now - SPAN:
            times.popleft()
        return times or ()

    def _note(self, counted: Counted, now: float) -> None:
        """Record one attempt under each key, and drop entries beyond the bound or out of date."""
        for (kind, who), _ in counted:
            known = self._times[kind]
            known.setdefault(who, deque(maxlen=2 * ADDRESS * LOOSELY)).append(now)
            known.move_to_end(who)
            while len(known) > REMEMBERED or not is_recent(next(iter(known.values())), now):
                known.popitem(last=False)


def is_recent(times: Sequence[float], now: float) -> bool:
    """Return whether the latest of these attempts still counts."""
    return bool(times) and times[-1] > now - SPAN


def list_keys(kind: str, account: str, ip: str | None, device: str | None = None) -> Counted:
    """Return the keys under which an attempt counts, each with its limit. A known browser counts alone."""
    if device is not None:
        return (((f"{kind} browser", f"{fold_account(account)} {device}"), ACCOUNT),)
    return (((f"{kind} account", fold_account(account)), ACCOUNT), *list_network_keys(kind, ip))


def list_password_keys(account: str, ip: str | None, device: str | None) -> Counted:
    """Return the keys under which an attempt at a password counts; never the account alone, which anybody may name."""
    if device is not None:
        return ((("password browser", f"{fold_account(account)} {device}"), ACCOUNT),)
    around = tuple(
        (("password account", f"{fold_account(account)} {network}"), ACCOUNT * times)
        for network, times in list_networks(ip or "local")
    )
    return (*around, *list_network_keys("password", ip))


def list_network_keys(kind: str, ip: str | None) -> Counted:
    """Return the keys for the networks around an address; wider networks have higher limits."""
    return tuple(((f"{kind} address", network), ADDRESS * n) for network, n in list_networks(ip or "local"))


def fold_account(account: str) -> str:
    """Return the account's name as a key: case-folded and of bounded length."""
    return account.casefold()[:320]


def compute_delay(is_account: bool, over: int) -> float:
    """Return the seconds to wait before an attempt, when `over` attempts came before it beyond the limit."""
    if is_account:
        return min(SLOWEST, FIRST * (1 << min(over, 10)))
    return min(PACE, FIRST / 5 * (over + 1))


def say_wait(seconds: int) -> str:
    """Return the sentence that tells how long to wait, rounded up to whole minutes."""
    minutes = max(1, math.ceil(seconds / 60))
    return say("Too many attempts. Wait {n} minutes.", one="Too many attempts. Wait a minute.", n=minutes)
