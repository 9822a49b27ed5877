"""Count what the program does, for `/metrics`: plain numbers in memory, which a scrape reads and nothing else.

Only the event loop counts, so nothing is locked: a request costs a look-up, a bisection and two additions. The numbers
begin at 0 with each start of the program, which is what a counter of Prometheus may do.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
LONG_BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # of seals
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class DurationCounts:
    """How many durations fell below each bound but not below the one before, and their sum, in seconds."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...] = BOUNDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds


class RequestDurations:
    """The durations of requests by method, route and class of status.

    The route is what the router found: a path with the names of its parameters, or the identity of a page's endpoint,
    for which a scrape looks up the path. All requests that no route took, such as those of a scanner, have the identity
    of None, so that strangers cannot add routes.
    """

    def __init__(self) -> None:
        self.by_route: dict[tuple[str, str | int, int], DurationCounts] = {}

    def count(self, scope: Mapping[str, Any], status: int, seconds: float) -> None:
        """Count one request that was answered; status 0 is one without an answer."""
        key = (scope["method"], scope.get("esign.route") or id(scope.get("endpoint")), status // 100)
        counts = self.by_route.get(key)
        if counts is None:
            if key[0] not in METHODS:
                key = ("other", *key[1:])
            counts = self.by_route.setdefault(key, DurationCounts())
        counts.add(seconds)


@dataclass(slots=True)
class Measures:
    """What one run of the program has counted.

    `mails` are by result, `deliveries` (to webhooks) and `seals` too. `seal_durations` are those of seals that were
    made, from the attempt's start until they are saved. `patrolled` counts the `contents` and `seals` that the
    patrol has read. `backups` are scheduled ones, by result. `anchors` counts those that
    were `made` or `failed`, and the deliveries of them (`delivered`, `undelivered`). `sealing_fails` says that a
    worker ended with a seal, and no practice page could be sealed since.
    """

    requests: RequestDurations = field(default_factory=RequestDurations)
    seal_durations: DurationCounts = field(default_factory=lambda: DurationCounts(LONG_BOUNDS))
    seals: Counter[str] = field(default_factory=Counter)
    mails: Counter[str] = field(default_factory=Counter)
    deliveries: Counter[str] = field(default_factory=Counter)
    patrolled: Counter[str] = field(default_factory=Counter)
    backups: Counter[str] = field(default_factory=Counter)
    anchors: Counter[str] = field(default_factory=Counter)
    sealing_fails: bool = False
