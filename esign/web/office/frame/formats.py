"""Texts for times, sizes and counts on pages."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from esign.core.instant import DAY, HOUR, MINUTE, Instant, rfc3339, to_datetime


def format_count(number: int, noun: str) -> str:
    """Return the number with its noun: `1 page`, `12 pages`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_size(octets: int) -> str:
    """Return a size in bytes as text: `341 kB`, `1.2 MB`."""
    return f"{max(1, round(octets / 1e3))} kB" if octets < 999_500 else f"{octets / 1e6:.1f} MB"


@dataclass(frozen=True, slots=True)
class Times:
    """Formats instants in a time zone, relative to `now` where a method says so."""

    zone: str
    now: Instant

    def iso(self, at: Instant) -> str:
        """Return the instant in RFC 3339."""
        return rfc3339(at)

    def day(self, at: Instant) -> str:
        """Return `22 Nov 2026`."""
        there = self._to_local(at)
        return f"{there.day} {there:%b %Y}"

    def moment(self, at: Instant) -> str:
        """Return `22 Nov 2026, 05:35`."""
        there = self._to_local(at)
        return f"{there.day} {there:%b %Y}, {there:%H:%M}"

    def clock(self, at: Instant) -> str:
        """Return `05:35`."""
        return f"{self._to_local(at):%H:%M}"

    def date(self, at: Instant) -> str:
        """Return `2026-11-22`, as a date field takes it."""
        return f"{self._to_local(at):%Y-%m-%d}"

    def heading(self, at: Instant) -> str:
        """Return `Today, 22 Nov` or `Yesterday, 21 Nov`, otherwise `Friday, 20 Nov 2026`."""
        there, today = self._to_local(at), self._to_local(self.now)
        short = f"{there.day} {there:%b}"
        days = (today.date() - there.date()).days
        if days in (0, 1):
            return f"{('Today', 'Yesterday')[days]}, {short}"
        return f"{there:%A}, {short} {there.year}"

    def near(self, at: Instant) -> str:
        """Return `today at 05:35`, `tomorrow at 05:35` or `yesterday at 05:35`, otherwise `on 22 Nov 2026`."""
        days = (self._to_local(at).date() - self._to_local(self.now).date()).days
        word = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(days)
        return f"{word} at {self.clock(at)}" if word else f"on {self.day(at)}"

    def second(self, at: Instant) -> str:
        """Return `22 Nov 2026, 05:35:07`."""
        there = self._to_local(at)
        return f"{there.day} {there:%b %Y}, {there:%H:%M:%S}"

    def ago(self, at: Instant) -> str:
        """Return `now`, `12 minutes ago` or `3 hours ago`; after 24 hours, the day."""
        age = self.now - at
        if age < 2 * MINUTE:
            return "now"
        if age < HOUR:
            return f"{age // MINUTE} minutes ago"
        if age < DAY:
            return "an hour ago" if age < 2 * HOUR else f"{age // HOUR} hours ago"
        return self.day(at)

    def brief(self, at: Instant) -> str:
        """Return `now`, `12 min ago`, `3 h ago`, `Yesterday` or `18 Nov`; in another year, with the year."""
        age, there, today = self.now - at, self._to_local(at), self._to_local(self.now)
        if age < HOUR:
            return "now" if age < 2 * MINUTE else f"{age // MINUTE} min ago"
        if there.date() == today.date():
            return f"{age // HOUR} h ago"
        if (today.date() - there.date()).days == 1:
            return "Yesterday"
        return f"{there.day} {there:%b}" if there.year == today.year else f"{there.day} {there:%b %Y}"

    def _to_local(self, at: Instant) -> datetime:
        return to_datetime(at).astimezone(ZoneInfo(self.zone))
