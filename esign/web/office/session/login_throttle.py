"""How often a secret may be tried, in any 15 minutes (contract 3.7).

Passwords are tried by strangers, who must neither guess many nor keep the owner of an account out: beyond the limit a
try is slower and not refused (`turn`). It is counted by account and network together, and by network, never by account
alone or in all, since a limit that anybody can use up for others is a weapon. A browser that has signed in to the
account before (`actions.people.known_browsers`) is counted apart from everybody else.

What only somebody can try who has a password or a session already (`count`) is refused beyond the limit: a second
factor has six digits.

Memory is bounded by kind. Where a kind is full, what was not tried for longest is forgotten, and nobody is counted
together with strangers: a shared count would be one that anybody can use up for others. What is refused leaves no
trace, so that a single network, which soon waits, makes nothing be forgotten.
"""

import asyncio
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from esign.core.errors import Problem
from esign.core.network import LOOSELY, networks_of
from esign.system.clock import Clock

SPAN = 15 * 60.0  # seconds
ACCOUNT, ADDRESS = 10, 30
REMEMBERED = 16_384  # of each kind

# Seconds that a try waits beyond the limit: by account and network, doubled up to SLOWEST; by network, up to PACE.
FIRST, SLOWEST, PACE = 0.5, 15.0, 3.0
WAITING = 5  # tries of one network that wait at the same time; of one account from one network a single one
RETRY = 15

Key = tuple[str, str]
Counted = tuple[tuple[Key, int], ...]  # each key with the most of it


class Tries:
    """In memory, so that a flood writes nothing; a session that is there already is never asked."""

    def __init__(self, clock: Clock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._clock = clock
        self._sleep = sleep
        self._times: defaultdict[str, OrderedDict[str, deque[float]]] = defaultdict(OrderedDict)
        self._waiting: Counter[Key] = Counter()

    def count(self, kind: str, account: str, ip: str | None, device: str | None = None) -> None:
        """Count one more try; raises `rate_limited` where there were too many, without counting this one."""
        now = self._clock.monotonic()
        counted = keys(kind, account, ip, device)
        for key, most in counted:
            times = self._recent(key, now)
            if len(times) >= most:
                wait = math.ceil(times[0] + SPAN - now)
                raise Problem("rate_limited", f"Too many tries; wait {minutes(wait)}.", retry_after=wait)
        self._note(counted, now)

    def forgive(self, kind: str, account: str, ip: str | None, device: str | None = None) -> None:
        """Take back the last try, which was right: the account starts again, and the others have one try back."""
        self._forgive(keys(kind, account, ip, device))

    @asynccontextmanager
    async def turn(self, account: str, ip: str | None, device: str | None = None) -> AsyncIterator[None]:
        """Wait for the turn of one more try of a password, longer the more there were.

        `device` is a browser that the account knows.

        Raises `rate_limited`, without counting it, only where others of the same network are waiting already.
        """
        now = self._clock.monotonic()
        own, *_ = counted = password_keys(account, ip, device)
        before = [(key, len(self._recent(key, now)), most) for key, most in counted]
        beyond = [(key, times - most) for key, times, most in before if times >= most]
        for key, _ in beyond:
            if self._waiting[key] >= (1 if key == own[0] else WAITING):
                text = "Too many tries at once from your network; wait a moment."
                raise Problem("rate_limited", text, retry_after=RETRY)
        self._note(counted, now)
        self._waiting.update(key for key, _ in beyond)
        try:
            if beyond:
                await self._sleep(max(delay(key == own[0], over) for key, over in beyond))
            yield
        finally:
            for key, _ in beyond:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key]

    def forgive_password(self, account: str, ip: str | None, device: str | None = None) -> None:
        """Take back the last try of a password, which was right."""
        self._forgive(password_keys(account, ip, device))

    def _forgive(self, counted: Counted) -> None:
        ((kind, who), _), *others = counted
        self._times[kind].pop(who, None)
        for (kind, who), _ in others:
            if times := self._times[kind].get(who):
                times.pop()

    def _recent(self, key: Key, now: float) -> Sequence[float]:
        """Return the tries that count, the oldest first; looking leaves no trace."""
        kind, who = key
        times = self._times[kind].get(who)
        while times and times[0] <= now - SPAN:
            times.popleft()
        return times or ()

    def _note(self, counted: Counted, now: float) -> None:
        for (kind, who), _ in counted:
            known = self._times[kind]
            known.setdefault(who, deque(maxlen=2 * ADDRESS * LOOSELY)).append(now)
            known.move_to_end(who)
            while len(known) > REMEMBERED or not is_recent(next(iter(known.values())), now):
                known.popitem(last=False)


def is_recent(times: Sequence[float], now: float) -> bool:
    """Return whether one of the tries still counts."""
    return bool(times) and times[-1] > now - SPAN


def keys(kind: str, account: str, ip: str | None, device: str | None = None) -> Counted:
    """Return what is counted, with the most of it; a browser that is known has tries of its own."""
    if device is not None:
        return (((f"{kind} browser", f"{plain(account)} {device}"), ACCOUNT),)
    return (((f"{kind} account", plain(account)), ACCOUNT), *network_keys(kind, ip))


def password_keys(account: str, ip: str | None, device: str | None) -> Counted:
    """Return what is counted of tries of a password: never the account alone, which anybody may name."""
    if device is not None:
        return ((("password browser", f"{plain(account)} {device}"), ACCOUNT),)
    around = tuple(
        (("password account", f"{plain(account)} {network}"), ACCOUNT * times)
        for network, times in networks_of(ip or "local")
    )
    return (*around, *network_keys("password", ip))


def network_keys(kind: str, ip: str | None) -> Counted:
    return tuple(((f"{kind} address", network), ADDRESS * n) for network, n in networks_of(ip or "local"))


def plain(account: str) -> str:
    return account.casefold()[:320]


def delay(is_account: bool, over: int) -> float:
    """Return the seconds that a try waits, of which `over` came before it beyond the limit."""
    if is_account:
        return min(SLOWEST, FIRST * (1 << min(over, 10)))
    return min(PACE, FIRST / 5 * (over + 1))


def minutes(seconds: int) -> str:
    n = math.ceil(seconds / 60)
    return "a minute" if n <= 1 else f"{n} minutes"
