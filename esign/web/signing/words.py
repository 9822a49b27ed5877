"""The sentences of the signing pages in the reader's language, and dates the way it writes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from markupsafe import Markup

from esign.core import language
from esign.core.instant import Instant, to_datetime

FOLDER = Path(__file__).parent / "words"


@dataclass(frozen=True, slots=True)
class Words:
    """One catalogue. Its sentences are ours and may hold `<b>`; whatever is put into them is escaped."""

    language: language.Language
    catalogue: Mapping[str, Any]

    @property
    def locale(self) -> str:
        return self.language.tag

    def without_mail(self) -> "Words":
        """The same where no mail leaves: no sentence promises one, or says that one was sent."""
        return Words(self.language, {**self.catalogue, **self.catalogue["nomail"]})

    def __call__(self, key: str, **values: object) -> Markup:
        apart = {name: self._apart(value) for name, value in values.items()}
        return filled(self.catalogue[key], apart)

    def _apart(self, value: object) -> object:
        """What people wrote, as against numbers and sentences of ours."""
        return language.apart(value, self.language.direction) if type(value) is str else value

    def count(self, key: str, n: int) -> Markup:
        """The form of a counted sentence that fits `n`."""
        return filled(self.catalogue[key][self.language.form(n)], {"n": n})

    def day(self, there: date) -> str:
        """`14 December 2026`."""
        month = self.catalogue["months"][there.month - 1]
        return str(self.catalogue["date"].format(day=there.day, month=month, year=there.year))

    def date(self, at: Instant, zone: str) -> str:
        """The day, in words, on the calendar of the zone."""
        return self.day(to_datetime(at).astimezone(ZoneInfo(zone)))

    def moment(self, at: Instant, zone: str) -> str:
        """Day and minute, on the clocks of the zone."""
        there = to_datetime(at).astimezone(ZoneInfo(zone))
        return str(self.catalogue["date_time"].format(date=self.day(there), time=f"{there:%H:%M}"))

    def number(self, given: object) -> str:
        """With the mark that the language sets before a fraction; nothing groups the digits, as nobody types that."""
        return str(given).replace(".", self.language.decimal)

    def size(self, octets: int) -> Markup:
        """`412 kB`, `1.3 MB`: in thousands, as file managers count."""
        if octets < 999_500:
            return self("kB", n=max(1, round(octets / 1_000)))
        return self("MB", n=Markup(self.number(f"{octets / 1_000_000:.1f}")))  # noqa: S704  (digits)

    @property
    def script(self) -> Mapping[str, Any]:
        """What the page's script says, for the `words` template of the page."""
        return {**self.catalogue["script"], "decimal": self.language.decimal}


def filled(sentence: str, values: Mapping[str, object]) -> Markup:
    return Markup(sentence).format(**values)  # noqa: S704  (ours; `format` escapes what is put in)


@dataclass(frozen=True, slots=True)
class Library:
    """Every catalogue that is installed, by language."""

    languages: Mapping[str, Words]

    @classmethod
    @cache
    def load(cls) -> "Library":
        return cls({tag: read(one) for tag, one in language.LANGUAGES.items()})

    def choose(self, *wanted: str | None) -> Words:
        """The first wanted language that is installed, else English."""
        return self.languages[language.choose(*wanted).tag]


def read(one: language.Language) -> Words:
    return Words(one, json.loads((FOLDER / f"{one.tag}.json").read_text("utf-8")))
