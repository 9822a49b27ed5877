"""Days and times as people write them into forms, on the clocks of their organisation."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from esign.core.instant import EPOCH, Instant, to_datetime


def instant_of(local: datetime, zone: str) -> Instant:
    """What the clocks of the zone call so."""
    return (local.replace(tzinfo=ZoneInfo(zone)) - EPOCH) // timedelta(milliseconds=1)


def end_of(text: str, zone: str) -> Instant:
    """When a day such as `2026-11-22` is over; ValueError for what is none."""
    return instant_of(datetime.combine(date.fromisoformat(text) + timedelta(days=1), time()), zone)


def begin_of(text: str, zone: str) -> Instant:
    """When a day such as `2026-11-22` begins; ValueError for what is none."""
    return instant_of(datetime.combine(date.fromisoformat(text), time()), zone)


def moment_of(text: str, zone: str) -> Instant:
    """The moment that a field for date and time holds, such as `2026-11-22T05:35`; ValueError for what is none."""
    local = datetime.fromisoformat(text)
    if local.tzinfo is not None:
        raise ValueError("a time on the clocks of the organisation names no zone")
    return instant_of(local, zone)


def as_field(at: Instant, zone: str) -> str:
    """The moment as such a field takes it."""
    return f"{to_datetime(at).astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
