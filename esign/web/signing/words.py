"""The sentences of the signing pages in the reader's language."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from esign.core import language
from esign.web.words import PageWords

FOLDER = Path(__file__).parent / "words"


@dataclass(frozen=True, slots=True)
class SigningWords(PageWords):
    """The sentences of the signing pages in one language."""

    def without_mail(self) -> "SigningWords":
        """Return the sentences for an installation that sends no mail: none promises a mail or says one was sent."""
        return SigningWords(self.language, {**self.catalogue, **self.catalogue["nomail"]})

    @property
    def script(self) -> Mapping[str, Any]:
        """Return the sentences of the page's script, for the `words` template of the page."""
        return {**self.catalogue["script"], "decimal": self.language.decimal}


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
