"""The phrases of letters by language, with places for data, numbers and dates."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from markupsafe import Markup

from esign.core.instant import Instant, to_datetime
from esign.core.language import Language, choose_language, isolate_text


@dataclass(frozen=True, slots=True)
class LetterWords:
    """The phrases of one language in one time zone; `rich` ones are markup with their data escaped."""

    language: Language
    phrases: Mapping[str, Any]
    zone: ZoneInfo
    rich: bool

    def say(self, key: str, **data: object) -> str:
        """Return the phrase `key` with its data; a rich letter uses the phrase `<key>_html` if there is one."""
        data = {name: write_line(value) if type(value) is str else value for name, value in data.items()}
        if self.rich:
            data = {name: self._isolate_text(value) for name, value in data.items()}
            phrase = Markup(self.phrases.get(f"{key}_html", self.phrases[key]))  # noqa: S704 - the phrase is ours
            return phrase.format(**data)
        return str(self.phrases[key]).format(**data)

    def _isolate_text(self, value: object) -> object:
        return isolate_text(value, self.language.direction) if type(value) is str else value

    def join(self, *sentences: str) -> str:
        return (Markup(" ") if self.rich else " ").join(sentences)

    def count(self, key: str, n: int, **data: object) -> str:
        forms: Mapping[str, str] = self.phrases[key]
        return forms[self.language.form(n)].format(n=n, **data)

    def day(self, at: Instant) -> str:
        """Return a date such as `20 December 2026`."""
        return self._write_date("day", at)

    def moment(self, at: Instant) -> str:
        """Return a time such as `20 December 2026, 14:05 CET`."""
        return self._write_date("moment", at)

    def days_left(self, now: Instant, until: Instant) -> str:
        """Return the number of midnights between the two instants, in words."""
        days = (self._localise(until).date() - self._localise(now).date()).days
        return self.count("days_left", days) if days > 0 else self.say("today")

    def size(self, octets: int) -> str:
        """Return a size such as `412 kB` or `1.3 MB`, in powers of 1,000 as file managers count."""
        if octets < 1_000:
            return self.count("bytes", octets)
        if octets < 999_500:
            return self.say("kB", n=round(octets / 1_000))
        return self.say("MB", n=f"{octets / 1_000_000:.1f}".replace(".", self.language.decimal))

    def _write_date(self, key: str, at: Instant) -> str:
        local = self._localise(at)
        month = self.phrases["months"][local.month - 1]
        return self.say(
            key, day=local.day, month=month, year=local.year, time=f"{local:%H:%M}", zone=f"{local:%Z}"
        )

    def _localise(self, at: Instant) -> Any:
        return to_datetime(at).astimezone(self.zone)


def write_line(text: str) -> str:
    """Return data as one line: line ends and control characters become spaces."""
    return _CONTROL.sub(" ", text).strip()


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class LoadWords(Protocol):
    """Returns the phrases of a letter."""

    def __call__(self, locale: str, time_zone: str, *, rich: bool) -> LetterWords: ...


def load_words(locale: str, time_zone: str, *, rich: bool) -> LetterWords:
    """Return the phrases of the language nearest to a BCP 47 tag, or of English."""
    language = choose_language(locale)
    return LetterWords(language, load_phrases(language.tag), ZoneInfo(time_zone), rich)


@cache
def load_phrases(language: str) -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(
        (files("esign.mail") / "words" / f"{language}.json").read_text("utf-8")
    )
    return read
