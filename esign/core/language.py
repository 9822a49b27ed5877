"""The languages of pages, mails and certificate pages: plural forms, text direction and decimal separator.

Plural forms are those of CLDR for whole numbers below a million. The forms above it (French, Spanish, Italian,
Portuguese "many") and those of fractions (Polish "other") are never needed here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

DEFAULT = "en"

Tag = Literal["ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt"]


@dataclass(frozen=True, slots=True)
class Language:
    """A language; `name` is its name in itself.

    `decimal` and `thousands` are the marks within numbers. `forms` lists its plural forms, and `form` returns the
    one of them that a number takes.
    """

    tag: Tag
    name: str
    decimal: str
    thousands: str
    forms: tuple[str, ...]
    form: Callable[[int], str]
    direction: Literal["ltr", "rtl"] = "ltr"

    def choose_form(self, forms: Mapping[str, str], n: int) -> str:
        """Return the form of a counted sentence for a number.

        A sentence that is not translated has the forms of English; then it is the one for many.
        """
        return forms.get(self.form(n)) or forms["other"]


def english(n: int) -> str:
    return "one" if n == 1 else "other"


def french(n: int) -> str:
    return "one" if n in (0, 1) else "other"


def polish(n: int) -> str:
    if n == 1:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


def arabic(n: int) -> str:
    if n < 3:
        return ("zero", "one", "two")[n]
    rest = n % 100
    return "other" if rest < 3 else "few" if rest <= 10 else "many"


TWO = ("one", "other")
LANGUAGES: Mapping[str, Language] = {
    language.tag: language
    for language in (
        Language("ar", "العربية", ".", ",", ("zero", "one", "two", "few", "many", "other"), arabic, "rtl"),
        Language("de", "Deutsch", ",", ".", TWO, english),
        Language("en", "English", ".", ",", TWO, english),
        Language("es", "Español", ",", ".", TWO, english),
        Language("fr", "Français", ",", "\u202f", TWO, french),
        Language("it", "Italiano", ",", ".", TWO, english),
        Language("ja", "日本語", ".", ",", ("other",), lambda n: "other"),
        Language("nl", "Nederlands", ",", ".", TWO, english),
        Language("pl", "Polski", ",", "\u00a0", ("one", "few", "many"), polish),
        Language("pt", "Português", ",", ".", TWO, french),
    )
}


def find_language(tag: str | None) -> Language | None:
    """Return the language of a BCP 47 tag, ignoring the region (`pt-BR` is Portuguese), or None."""
    return LANGUAGES.get((tag or "").split("-")[0].lower())


def isolate_text(text: str, direction: str) -> str:
    """Return `text` isolated from the surrounding sentence when that runs from right to left.

    U+2068 and U+2069 keep a name of the other direction from reordering the sentence around it.
    """
    return f"\u2068{text}\u2069" if direction == "rtl" else text


def choose_language(*wanted: str | None) -> Language:
    """Return the first of the wanted languages that exists, else English."""
    return next(filter(None, map(find_language, wanted)), LANGUAGES[DEFAULT])


def find_accepted(header: str | None) -> str | None:
    """Return the tag of the supported language that an `Accept-Language` header prefers, or None."""
    liked = [(float(match[2] or 1), match[1]) for match in ACCEPTED.finditer(header or "")]
    for quality, tag in sorted(liked, key=lambda one: -one[0]):
        if quality > 0 and (language := find_language(tag)):
            return language.tag
    return None


ACCEPTED = re.compile(
    r"(?:^|,)\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?))?\s*(?=,|$)"
)
