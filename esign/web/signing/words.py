"""The sentences of the signing pages in the reader's language, and dates and numbers as that language writes them."""

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
class SigningWords:
    """The sentences of one language.

    They come from this repository and may contain `<b>`. Values put into them are escaped.
    """

    language: language.Language
    catalogue: Mapping[str, Any]

    @property
    def locale(self) -> str:
        return self.language.tag

    def without_mail(self) -> "SigningWords":
        """Return the sentences for an installation that sends no mail: none promises a mail or says one was sent."""
        return SigningWords(self.language, {**self.catalogue, **self.catalogue["nomail"]})

    def __call__(self, key: str, **values: object) -> Markup:
        """Return a sentence with values put in."""
        isolated = {name: self._isolate(value) for name, value in values.items()}
        return fill_sentence(self.catalogue[key], isolated)

    def _isolate(self, value: object) -> object:
        """Return a text from people isolated from the direction of the sentence, any other value unchanged."""
        return language.isolate_text(value, self.language.direction) if type(value) is str else value

    def count(self, key: str, n: int) -> Markup:
        """Return the form of a counted sentence that fits `n`."""
        return fill_sentence(self.catalogue[key][self.language.form(n)], {"n": n})

    def day(self, there: date) -> str:
        """Return a date such as `14 December 2026`."""
        month = self.catalogue["months"][there.month - 1]
        return str(self.catalogue["date"].format(day=there.day, month=month, year=there.year))

    def date(self, at: Instant, zone: str) -> str:
        """Return the day of an instant in the time zone, in words."""
        return self.day(to_datetime(at).astimezone(ZoneInfo(zone)))

    def moment(self, at: Instant, zone: str) -> str:
        """Return the day and the minute of an instant in the time zone."""
        there = to_datetime(at).astimezone(ZoneInfo(zone))
        return str(self.catalogue["date_time"].format(date=self.day(there), time=f"{there:%H:%M}"))

    def number(self, given: object) -> str:
        """Return a number with the decimal mark of the language. Digits are not grouped."""
        return str(given).replace(".", self.language.decimal)

    def size(self, octets: int) -> Markup:
        """Return a size such as `412 kB` or `1.3 MB`. Units are powers of 1,000, as in file managers."""
        if octets < 999_500:
            return self("kB", n=max(1, round(octets / 1_000)))
        return self("MB", n=Markup(self.number(f"{octets / 1_000_000:.1f}")))  # noqa: S704  (digits)

    @property
    def script(self) -> Mapping[str, Any]:
        """Return the sentences of the page's script, for the `words` template of the page."""
        return {**self.catalogue["script"], "decimal": self.language.decimal}


def fill_sentence(sentence: str, values: Mapping[str, object]) -> Markup:
    """Return the sentence with values put in. Values are escaped unless they are Markup."""
    if not values and "{" not in sentence and "}" not in sentence:  # most have none: 0.3 µs against 8 µs
        return Markup(sentence)  # noqa: S704  (from the catalogue)
    return Markup(sentence).format(**values)  # noqa: S704  (from the catalogue; `format` escapes the values)


@dataclass(frozen=True, slots=True)
class WordLibrary:
    """The sentences of every installed language."""

    languages: Mapping[str, SigningWords]

    @classmethod
    @cache
    def load(cls) -> "WordLibrary":
        """Return the library, which is read once."""
        return cls({tag: read_words(one) for tag, one in language.LANGUAGES.items()})

    def choose(self, *wanted: str | None) -> SigningWords:
        """Return the first wanted language that is installed, or English."""
        return self.languages[language.choose_language(*wanted).tag]


def read_words(one: language.Language) -> SigningWords:
    """Return the sentences of one language."""
    return SigningWords(one, json.loads((FOLDER / f"{one.tag}.json").read_text("utf-8")))
