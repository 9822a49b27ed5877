"""The sentences of the web application in the language of the person who reads a page.

Each language has a folder, and each area of the application a file in it. The keys of an area are named
`area.key`, but for those of the area `common`. The file `sentences.json` holds what is raised as an error, by its
English form.
"""

import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from esign.core import language
from esign.core.sentence import PLACE, Sentence, read_back, read_parts
from esign.web.words import PageWords

log = logging.getLogger("esign.web")

UNKNOWN = "no catalogue of the web application has the sentence %r"
CODE = re.compile("^[a-z_]+: ")
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
        """Return the sentence of an error in this language, for a page."""
        return escape(self.tell(sentence))

    def tell(self, sentence: str) -> str:
        """Return the sentence of an error in this language as plain text, for a script.

        A sentence that the catalogue does not have is English. That is an error of the program, and logged.
        """
        form, values = read_parts(sentence)
        if form not in self.sentences:
            log.warning(UNKNOWN, form)
        return self._fill(str(sentence), form, values)

    def recognise(self, text: str) -> Markup:
        """Return a stored text for a page: a sentence of this program in this language, any other as it is.

        What a mail server or another program said is stored in the same places as the program's own sentences.
        """
        return escape(self.recall(text))

    def recognise_clause(self, clause: str) -> Markup:
        """Return a stored clause, such as `timeout: no answer within the time allowed`, as a sentence for a page.

        The word before the colon is for programs.
        """
        bare = CODE.sub("", clause).rstrip(".")
        return self.recognise(f"{bare[:1].upper()}{bare[1:]}.")

    def recall(self, text: str) -> str:
        """Return a stored text as `recognise` does, but as plain text, for a script."""
        known = text if text in self.sentences else read_back(text, list_english_forms())
        return self._fill(text, *read_parts(known))

    def _fill(self, text: str, form: str, values: Mapping[str, object]) -> str:
        """Return the sentence of a form with its values, or `text` if the catalogue does not have it."""
        found = self.sentences.get(form)
        if found is None:
            return text
        if isinstance(found, dict):
            found = self.language.choose_form(found, int(str(values["n"])))
        shown = {name: ShownValue(self, value) for name, value in values.items()}
        return str(found).format(**shown) if shown else str(found)

    def script(self, *areas: str) -> Markup:
        """Return the sentences of the scripts of some areas as a JSON object for a page's `words`."""
        return dump_script_words(self.language.tag, areas)


@cache
def dump_script_words(tag: str, areas: tuple[str, ...]) -> Markup:
    """Return what the scripts of some areas say, by key without the area, as JSON that is safe inside a page.

    It is made once: looking through all sentences took a fifth of the time of each page.
    """
    begun = tuple(f"{area}.script." for area in areas)
    return htmlsafe_json_dumps(
        {
            key.rpartition(".")[2]: said
            for key, said in load_words(tag).catalogue.items()
            if key.startswith(begun)
        }
    )


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


@cache
def list_english_forms() -> Mapping[str, str]:
    """Return the English texts that have places for values, each with the form by which it is found."""
    return {
        text: form
        for form, said in load_words(language.DEFAULT).sentences.items()
        for text in (said.values() if isinstance(said, dict) else (said,))
        if "{" in text and re.search("[a-z]", PLACE.sub("", text))
    }


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value of a sentence, written as the language does."""

    words: OfficeWords
    value: object

    def __format__(self, spec: str) -> str:
        """Return a sentence in the language, a number with its marks, and any other text isolated from its sentence."""
        if isinstance(self.value, Sentence):
            return self.words.tell(self.value)
        if isinstance(self.value, int):
            return self.words.group(self.value)
        if isinstance(self.value, float):
            return self.words.number(format(self.value, spec))
        if self.words.language.direction == "rtl":
            return language.isolate_text(str(self.value), "rtl")
        return str(self.value)


FORMS = frozenset({"zero", "one", "two", "few", "many", "other"})


def choose_words(*wanted: str | None) -> OfficeWords:
    """Return the first wanted language that is installed, or English."""
    return load_words(language.choose_language(*wanted).tag)
