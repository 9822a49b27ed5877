"""What an organisation uses in a day, and the counts of API requests that are held in memory until they are
written.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from esign.core.actor import Mode
from esign.core.instant import DAY, EPOCH, HOUR, Instant, Millis, to_datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """The counts of one transaction or of one day.

    `storage_bytes` is the size of the files added. Completed documents are also counted by the time since they were
    sent (`COMPLETION_TIMES`). `reminders_answered` counts recipients who finished within `ANSWER_TIME` of a reminder.
    """

    documents_created: int = 0
    documents_sent: int = 0
    documents_completed: int = 0
    emails: int = 0
    api_requests: int = 0
    storage_bytes: int = 0
    completed_in_hour: int = 0
    completed_in_day: int = 0
    completed_in_week: int = 0
    completed_later: int = 0
    reminders_sent: int = 0
    reminders_answered: int = 0


# The counters of completed documents, each with the time since sending that it counts up to.
COMPLETION_TIMES: Mapping[str, float] = {
    "completed_in_hour": HOUR,
    "completed_in_day": DAY,
    "completed_in_week": 7 * DAY,
    "completed_later": inf,
}
ANSWER_TIME: Millis = 2 * DAY


def name_completion_time(took: Millis) -> str:
    """Return the name of the counter for a document that was completed so long after it was sent."""
    return next(name for name, most in COMPLETION_TIMES.items() if took <= most)


@dataclass(frozen=True, slots=True)
class Meter:
    """The key of a count: one organisation in one mode on one day (UTC, counted from 1970)."""

    organisation_id: str
    mode: Mode
    day: int


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month in UTC: its first day, counted from 1970, and the instant at which the next begins."""

    first_day: int
    ends_at: Instant


def find_month(now: Instant) -> Month:
    """Return the calendar month in UTC that contains `now`."""
    first = to_datetime(now).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
    return Month((first - EPOCH).days, (following - EPOCH).days * DAY)


class RequestTally:
    """API requests that are not written yet. A crash loses at most those since the last flush."""

    def __init__(self) -> None:
        self._counts: Counter[Meter] = Counter()

    def count(self, organisation_id: str, mode: Mode, now: Instant) -> None:
        """Count one request."""
        self._counts[Meter(organisation_id, mode, now // DAY)] += 1

    def count_pending(self, meter: Meter) -> int:
        """Return how many requests of this meter are not written yet."""
        return self._counts[meter]

    def snapshot(self) -> dict[Meter, int]:
        """Return the requests that are not written yet, by their meter."""
        return dict(self._counts)

    def subtract_written(self, counts: dict[Meter, int]) -> None:
        """Subtract the counts that were written; requests counted meanwhile stay pending."""
        self._counts.subtract(counts)
        self._counts = +self._counts
