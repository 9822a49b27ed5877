"""Times on pages, in the language and the time zone of their reader."""

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from esign.core.instant import DAY, HOUR, MINUTE, Instant, rfc3339, to_datetime
from esign.web.office.frame.words import OfficeWords


def write_date(key: str, there: date, words: OfficeWords) -> str:
    """Return a day in the order of the language, with the short name of its month: `22 Nov 2026` or `22 Nov`."""
    month = words.catalogue["months_short"][there.month - 1]
    return str(words.catalogue[key].format(day=there.day, month=month, year=there.year))


@dataclass(frozen=True, slots=True)
class Times:
    """Formats instants in a time zone, relative to `now` where a method says so."""

    zone: str
    now: Instant
    words: OfficeWords

    def iso(self, at: Instant) -> str:
        """Return the instant in RFC 3339."""
        return rfc3339(at)

    def day(self, at: Instant) -> str:
        """Return `22 Nov 2026`."""
        return self._write_date("date_short", self._to_local(at))

    def moment(self, at: Instant) -> str:
        """Return `22 Nov 2026, 05:35`."""
        return str(self.words("date_time", date=self.day(at), time=self.clock(at)))

    def clock(self, at: Instant) -> str:
        """Return `05:35`."""
        return f"{self._to_local(at):%H:%M}"

    def date(self, at: Instant) -> str:
        """Return `2026-11-22`, as a date field takes it."""
        return f"{self._to_local(at):%Y-%m-%d}"

    def heading(self, at: Instant) -> str:
        """Return `Today, 22 Nov` or `Yesterday, 21 Nov`, otherwise `Friday, 20 Nov 2026`."""
        there, today = self._to_local(at), self._to_local(self.now)
        days = (today.date() - there.date()).days
        if days in (0, 1):
            key = ("today", "yesterday")[days]
            return str(self.words(key, date=self._write_date("day_short", there)))
        weekday = self.words.catalogue["weekdays"][there.weekday()]
        return str(self.words("date_weekday", weekday=weekday, date=self.day(at)))

    def near(self, at: Instant) -> str:
        """Return `today at 05:35`, `tomorrow at 05:35` or `yesterday at 05:35`, otherwise `on 22 Nov 2026`."""
        days = (self._to_local(at).date() - self._to_local(self.now).date()).days
        word = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(days)
        if word is None:
            return str(self.words("near_day", date=self.day(at)))
        return str(self.words(f"near_{word}", time=self.clock(at)))

    def second(self, at: Instant) -> str:
        """Return `22 Nov 2026, 05:35:07`."""
        return str(self.words("date_time", date=self.day(at), time=f"{self._to_local(at):%H:%M:%S}"))

    def ago(self, at: Instant) -> str:
        """Return `now`, `12 minutes ago` or `3 hours ago`; after 24 hours, the day."""
        age = self.now - at
        if age < 2 * MINUTE:
            return str(self.words("now"))
        if age < HOUR:
            return str(self.words.count("ago_minutes", age // MINUTE))
        return str(self.words.count("ago_hours", age // HOUR)) if age < DAY else self.day(at)

    def brief(self, at: Instant) -> str:
        """Return `now`, `12 min ago`, `3 h ago`, `Yesterday` or `18 Nov`; in another year, with the year."""
        age, there, today = self.now - at, self._to_local(at), self._to_local(self.now)
        if age < HOUR:
            key = "now" if age < 2 * MINUTE else "brief_minutes"
            return str(self.words(key, n=age // MINUTE))
        if there.date() == today.date():
            return str(self.words("brief_hours", n=age // HOUR))
        if (today.date() - there.date()).days == 1:
            return str(self.words("brief_yesterday"))
        return self._write_date("day_short" if there.year == today.year else "date_short", there)

    def _write_date(self, key: str, there: datetime) -> str:
        return write_date(key, there, self.words)

    def _to_local(self, at: Instant) -> datetime:
        return to_datetime(at).astimezone(ZoneInfo(self.zone))
