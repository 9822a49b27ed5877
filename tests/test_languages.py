"""Every catalogue is whole: the same sentences with the same places in each language, and none left in English."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import esign
from esign.core.language import LANGUAGES

FORMS = {"zero", "one", "two", "few", "many", "other"}
SPELT_OUT = {"zero", "one", "two"}  # forms of one number each, which may be a word
FOLDERS = ("web/signing/words", "mail/words", "pdf/typst/labels")
AREAS = "web/office/words"  # has a folder for each language, and a file in it for each area
ROOT = Path(esign.__file__).parent
EVERY = (*FOLDERS, AREAS)
LISTS = {"months": 12, "months_alone": 12, "months_short": 12, "weekdays": 7}
# What is English too, by language: words that both languages share.
SHARED: Mapping[str, list[str]] = json.loads(Path(__file__).with_name("shared_words.json").read_text("utf-8"))
# Units and signs that several languages write as English does, and sentences made of their places alone.
SIGNS = re.compile(r"[\W\d]*|\{n\} ?(kB|MB|GB|ms|%)|(\W*\{\w+\}\W*)+")
# What a mail names in quotation marks: a button, a link or a page.
QUOTED = re.compile(r"[“«„「『]\s*([^“”«»„「」『』{}]+?)\s*[”»“」』]")
# The word of a language for a document that the sender cancelled, as a pattern for its forms.
CANCELLED = {
    "en": "cancelled",
    "de": "zurückgezogen",
    "fr": "retiré",
    "es": "retir(ado|ó)",
    "it": "ritirato",
    "nl": "ingetrokken",
    "pl": "wycof",
    "pt": "retir(ado|ou)",
    "ar": "سحب|سُحب|مسحوب",
    "ja": "取り下げ",
}
PLACE = r"\{\w*(?::[^}]*)?\}"


def read(folder: str, tag: str) -> dict[str, Any]:
    """The catalogue of a language; one that is kept in a file for each area, by area."""
    if folder == AREAS:
        return {
            path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / folder / tag).glob("*.json")
        }
    found: dict[str, Any] = json.loads((ROOT / folder / f"{tag}.json").read_text("utf-8"))
    return found


def sentences(catalogue: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """(key, sentence or its forms), flat."""
    for key, value in catalogue.items():
        if isinstance(value, dict) and not (value and set(value) <= FORMS):
            yield from sentences(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def places(sentence: str) -> list[str]:
    """Its placeholders and marks."""
    return sorted(re.findall(rf"{PLACE}|</?\w+>", sentence))


def texts(value: Any) -> list[str]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]


@pytest.mark.parametrize("folder", FOLDERS)
def test_there_is_a_catalogue_for_each_language_and_for_no_other(folder: str) -> None:
    assert {path.stem for path in (ROOT / folder).glob("*.json")} == set(LANGUAGES)


def test_each_area_of_the_web_application_is_there_in_each_language() -> None:
    assert {path.name for path in (ROOT / AREAS).iterdir()} == set(LANGUAGES)
    areas = {path.name for path in (ROOT / AREAS / "en").glob("*.json")}
    assert {
        tag: {path.name for path in (ROOT / AREAS / tag).iterdir()} for tag in LANGUAGES
    } == dict.fromkeys(LANGUAGES, areas)


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("folder", EVERY)
def test_no_sentence_is_missing_empty_or_left_over(folder: str, tag: str) -> None:
    english, own = dict(sentences(read(folder, "en"))), dict(sentences(read(folder, tag)))
    assert own.keys() == english.keys()
    assert all(text.strip() for value in own.values() for text in texts(value))
    lists = {key.rpartition(".")[2]: len(value) for key, value in own.items() if isinstance(value, list)}
    assert lists.items() <= LISTS.items()


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("folder", EVERY)
def test_each_sentence_has_the_places_and_marks_of_the_english_one(folder: str, tag: str) -> None:
    own = dict(sentences(read(folder, tag)))
    for key, english in sentences(read(folder, "en")):
        if isinstance(english, dict):
            whole = places(english["other"])
            for form, text in own[key].items():
                spelt = [place for place in whole if place != "{n}"]
                assert places(text) in ([whole, spelt] if form in SPELT_OUT else [whole]), (key, form)
        elif isinstance(english, str):
            assert places(own[key]) == places(english), key


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("folder", EVERY)
def test_each_counted_sentence_has_the_forms_of_its_language(folder: str, tag: str) -> None:
    counted = {
        key: set(value) for key, value in sentences(read(folder, tag)) if isinstance(value, dict) and value
    }
    assert {key: forms for key, forms in counted.items() if forms != set(LANGUAGES[tag].forms)} == {}


@pytest.mark.parametrize("tag", [tag for tag in LANGUAGES if tag != "en"])
@pytest.mark.parametrize("folder", EVERY)
def test_no_sentence_is_left_in_english(folder: str, tag: str) -> None:
    own, alike = dict(sentences(read(folder, tag))), {}
    for key, english in sentences(read(folder, "en")):
        said = [text for text in texts(own[key]) if text in texts(english) and not SIGNS.fullmatch(text)]
        if said and not isinstance(english, list):
            alike[key] = said
    assert {key: said for key, said in alike.items() if not set(said) <= set(SHARED.get(tag, ()))} == {}


@pytest.mark.parametrize("tag", SHARED)
def test_no_shared_word_is_listed_for_nothing(tag: str) -> None:
    said = {text for folder in EVERY for _, value in sentences(read(folder, tag)) for text in texts(value)}
    assert set(SHARED[tag]) - said == set()


@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_cancelled_document_is_called_so_everywhere(tag: str) -> None:
    said = [
        value
        for folder in EVERY
        for key, value in sentences(read(folder, tag))
        if re.search(r"cancelled(_title|_subject|_heading)?$", key)
    ]
    assert len(said) > 12
    assert [one for one in said if not re.search(CANCELLED[tag], one, re.IGNORECASE)] == []


@pytest.mark.parametrize("tag", LANGUAGES)
def test_what_a_mail_names_is_there_under_that_name(tag: str) -> None:
    shown = {
        text.replace("\u00a0", " ").rstrip("… ")
        for folder in ("web/signing/words", AREAS)
        for _, value in sentences(read(folder, tag))
        for text in texts(value)
    }
    named = {
        name
        for _, value in sentences(read("mail/words", tag))
        for text in texts(value)
        for name in QUOTED.findall(text.replace("\u00a0", " "))
    }
    assert len(named) > 5
    assert named - shown == {"410 Gone"}
