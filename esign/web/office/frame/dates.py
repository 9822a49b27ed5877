"""Convert between instants and the local dates and times that users type into forms."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from esign.core.instant import EPOCH, Instant, to_datetime


def to_instant(local: datetime, zone: str) -> Instant:
    """Return the instant at which the clocks of the zone show this local time."""
    return (local.replace(tzinfo=ZoneInfo(zone)) - EPOCH) // timedelta(milliseconds=1)


def parse_day_end(text: str, zone: str) -> Instant:
    """Return the end of a day such as `2026-11-22`, exclusive; raise ValueError for anything else."""
    return to_instant(datetime.combine(date.fromisoformat(text) + timedelta(days=1), time()), zone)


def parse_day_start(text: str, zone: str) -> Instant:
    """Return the beginning of a day such as `2026-11-22`; raise ValueError for anything else."""
    return to_instant(datetime.combine(date.fromisoformat(text), time()), zone)


def parse_local_time(text: str, zone: str) -> Instant:
    """Return the instant of a `datetime-local` value such as `2026-11-22T05:35`; raise ValueError for anything else."""
    local = datetime.fromisoformat(text)
    if local.tzinfo is not None:
        raise ValueError("a time on the clocks of the organisation names no zone")
    return to_instant(local, zone)


def format_for_field(at: Instant, zone: str) -> str:
    """Return the instant as a `datetime-local` field takes it, on the clocks of the zone."""
    return f"{to_datetime(at).astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
