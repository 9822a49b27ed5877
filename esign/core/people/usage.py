"""What an organisation uses in a day, and the requests that are counted in memory before they are written."""

from collections import Counter
from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.instant import DAY, EPOCH, Instant, to_datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """What one transaction, or one day, adds up to; `storage_bytes` are those of the files added."""

    documents_created: int = 0
    documents_sent: int = 0
    documents_completed: int = 0
    emails: int = 0
    api_requests: int = 0
    storage_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Meter:
    """One organisation in one mode on one day (UTC, counted from 1970)."""

    organisation_id: str
    mode: Mode
    day: int


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month in UTC: its first day, counted from 1970, and the instant at which the next begins."""

    first_day: int
    ends_at: Instant


def month_of(now: Instant) -> Month:
    first = to_datetime(now).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
    return Month((first - EPOCH).days, (following - EPOCH).days * DAY)


class Tally:
    """API requests not written yet: a crash loses at most what came since the last flush."""

    def __init__(self) -> None:
        self._counts: Counter[Meter] = Counter()

    def count(self, organisation_id: str, mode: Mode, now: Instant) -> None:
        self._counts[Meter(organisation_id, mode, now // DAY)] += 1

    def pending(self, meter: Meter) -> int:
        return self._counts[meter]

    def snapshot(self) -> dict[Meter, int]:
        return dict(self._counts)

    def written(self, counts: dict[Meter, int]) -> None:
        """What was written is no longer pending; what came meanwhile is."""
        self._counts.subtract(counts)
        self._counts = +self._counts
