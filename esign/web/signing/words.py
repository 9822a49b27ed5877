"""The sentences of the signing pages in the reader's language, and dates the way it writes them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from markupsafe import Markup

from esign.core.instant import Instant, to_datetime

FOLDER = Path(__file__).parent / "words"
DEFAULT = "en"

# Which form of a counted sentence a number takes (CLDR); a language is its catalogue and its row here.
PLURALS: Mapping[str, Callable[[int], str]] = {"en": lambda n: "one" if n == 1 else "other"}


@dataclass(frozen=True, slots=True)
class Words:
    """One catalogue. Its sentences are ours and may hold `<b>`; whatever is put into them is escaped."""

    locale: str
    direction: str
    catalogue: Mapping[str, Any]

    def __call__(self, key: str, **values: object) -> Markup:
        return filled(self.catalogue[key], values)

    def count(self, key: str, n: int) -> Markup:
        """The form of a counted sentence that fits `n`."""
        return filled(self.catalogue[key][PLURALS[self.locale](n)], {"n": n})

    def date(self, at: Instant, zone: str) -> str:
        """The day, in words, on the calendar of the zone."""
        return self._day(to_datetime(at).astimezone(ZoneInfo(zone)))

    def moment(self, at: Instant, zone: str) -> str:
        """Day and minute, on the clocks of the zone."""
        there = to_datetime(at).astimezone(ZoneInfo(zone))
        return str(self.catalogue["date_time"].format(date=self._day(there), time=f"{there:%H:%M}"))

    def _day(self, there: datetime) -> str:
        month = self.catalogue["months"][there.month - 1]
        return str(self.catalogue["date"].format(day=there.day, month=month, year=there.year))

    @property
    def script(self) -> Mapping[str, Any]:
        """What the page's script says, for the `words` template of the page."""
        return {**self.catalogue["script"], "monthsShort": self.catalogue["months_short"]}


def filled(sentence: str, values: Mapping[str, object]) -> Markup:
    return Markup(sentence).format(**values)  # noqa: S704  (ours; `format` escapes what is put in)


@dataclass(frozen=True, slots=True)
class Library:
    """Every catalogue that is installed, by language."""

    languages: Mapping[str, Words]

    @classmethod
    def load(cls) -> "Library":
        return cls({path.stem: read(path) for path in sorted(FOLDER.glob("*.json"))})

    def choose(self, *wanted: str | None) -> Words:
        """The first wanted language that is installed, else English."""
        for locale in filter(None, wanted):
            for name in (locale.lower(), locale.split("-")[0].lower()):
                if name in self.languages:
                    return self.languages[name]
        return self.languages[DEFAULT]


def read(path: Path) -> Words:
    catalogue = json.loads(path.read_text("utf-8"))
    return Words(path.stem, catalogue.get("direction", "ltr"), catalogue)
