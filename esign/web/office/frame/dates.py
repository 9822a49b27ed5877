"""Convert between instants and the local dates and times that users type into forms."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from esign.core.instant import EPOCH, Instant, to_datetime


def instant_of(local: datetime, zone: str) -> Instant:
    """Return the instant at which the clocks of the zone show this local time."""
    return (local.replace(tzinfo=ZoneInfo(zone)) - EPOCH) // timedelta(milliseconds=1)


def end_of(text: str, zone: str) -> Instant:
    """Return the end of a day such as `2026-11-22`, exclusive; raise ValueError for anything else."""
    return instant_of(datetime.combine(date.fromisoformat(text) + timedelta(days=1), time()), zone)


def begin_of(text: str, zone: str) -> Instant:
    """Return the beginning of a day such as `2026-11-22`; raise ValueError for anything else."""
    return instant_of(datetime.combine(date.fromisoformat(text), time()), zone)


def moment_of(text: str, zone: str) -> Instant:
    """Return the instant of a `datetime-local` value such as `2026-11-22T05:35`; raise ValueError for anything else."""
    local = datetime.fromisoformat(text)
    if local.tzinfo is not None:
        raise ValueError("a time on the clocks of the organisation names no zone")
    return instant_of(local, zone)


def as_field(at: Instant, zone: str) -> str:
    """Return the instant as a `datetime-local` field takes it, on the clocks of the zone."""
    return f"{to_datetime(at).astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
