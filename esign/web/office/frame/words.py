"""The sentences of the web application in the language of the person who reads a page.

Each language has a folder, and each area of the application a file in it. The keys of an area are named
`area.key`, but for those of the area `common`. The file `sentences.json` holds what is raised as an error, by its
English form.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from esign.core import language
from esign.core.sentence import read_parts
from esign.web.words import PageWords, fill_sentence

FOLDER = Path(__file__).parents[1] / "words"
SENTENCES = "sentences"
COMMON = "common"  # the area whose keys have no name before them
LINK = Markup("<a>")


@dataclass(frozen=True, slots=True)
class OfficeWords(PageWords):
    """The sentences of one language, and those of errors by their English form."""

    sentences: Mapping[str, Any]

    def link(self, key: str, *addresses: str, **values: object) -> Markup:
        """Return a sentence whose `<a>` marks lead to the addresses, in their order."""
        said = self(key, **values)
        for address in addresses:
            said = Markup(said.replace(LINK, Markup('<a href="{}">').format(address), 1))  # noqa: S704  (ours)
        return said

    def say(self, sentence: str) -> Markup:
        """Return the sentence of an error in this language, or in English where the catalogue does not have it."""
        form, values = read_parts(sentence)
        found = self.sentences.get(form)
        if found is None:
            return escape(str(sentence))
        if isinstance(found, dict):
            found = found[self.language.form(int(str(values["n"])))]
        return fill_sentence(found, values)

    def script(self, *areas: str) -> Mapping[str, Any]:
        """Return the sentences of the scripts of some areas by their keys without the area, for a page's `words`."""
        begun = tuple(f"{area}.script." for area in areas)
        return {key.rpartition(".")[2]: said for key, said in self.catalogue.items() if key.startswith(begun)}


@cache
def load_words(tag: str) -> OfficeWords:
    """Return the sentences of one language. They are read when somebody first reads a page in it.

    A sentence that the language lacks is English. The tests find it; a page must not fail for it.
    """
    areas = sorted((FOLDER / tag).glob("*.json"))
    read = {path.stem: json.loads(path.read_text("utf-8")) for path in areas}
    sentences = read.pop(SENTENCES, {})
    flat = {key: said for area, words in read.items() for key, said in flatten(area, words)}
    flat = {key.removeprefix(f"{COMMON}."): said for key, said in flat.items()}
    if tag != language.DEFAULT:
        english = load_words(language.DEFAULT)
        flat, sentences = {**english.catalogue, **flat}, {**english.sentences, **sentences}
    return OfficeWords(language.LANGUAGES[tag], flat, sentences)


def flatten(above: str, words: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield each sentence of nested objects with its key. The forms of a counted sentence stay together."""
    for key, said in words.items():
        if isinstance(said, dict) and not said.keys() <= FORMS:
            yield from flatten(f"{above}.{key}", said)
        else:
            yield f"{above}.{key}", said


FORMS = frozenset({"zero", "one", "two", "few", "many", "other"})


def choose_words(*wanted: str | None) -> OfficeWords:
    """Return the first wanted language that is installed, or English."""
    return load_words(language.choose_language(*wanted).tag)
