"""Points in time as whole milliseconds since 1970 in UTC, and their one text form (RFC 3339, contract 2.4)."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

Instant: TypeAlias = int
Millis: TypeAlias = int

SECOND: Millis = 1_000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
DAY: Millis = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_datetime(at: Instant) -> datetime:
    """Return the same instant as an aware `datetime` in UTC."""
    return EPOCH + timedelta(milliseconds=at)


def rfc3339(at: Instant) -> str:
    """Format an instant with milliseconds in UTC, such as `2026-11-21T00:14:00.123Z`."""
    return f"{format_second(at // SECOND)}.{at % SECOND:03}Z"


@lru_cache(4096)  # an answer has the same few seconds many times: 0.3 µs against 1.5 µs
def format_second(second: int) -> str:
    """Format a time in whole seconds since 1970, such as `2026-11-21T00:14:00`."""
    return to_datetime(second * SECOND).isoformat()[:-6]


def parse(text: str) -> Instant:
    """Return the instant of an RFC 3339 time with any offset.

    Raises ValueError when the text is not a time or has no offset.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset from UTC, such as Z")
    return (moment - EPOCH) // timedelta(milliseconds=1)
