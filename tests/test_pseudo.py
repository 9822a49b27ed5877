"""The language for tests: what it does to a sentence."""

import re

import pytest

from esign.web.signing.words import WordLibrary
from tests import pseudo

PLACES = re.compile(r"\{\w*\}|</?\w+>")


@pytest.mark.parametrize(
    "sentence",
    ["Start", "Send a code to {email}?", "<b>{name}</b> signs after you", "Your sealed copy is ready."],
)
def test_a_sentence_grows_by_two_fifths_and_keeps_its_places(sentence: str) -> None:
    longer = pseudo.stretch(sentence)
    bare, grown = (PLACES.sub("", one) for one in (sentence, longer))
    assert len(grown) >= len(bare) * 1.35
    assert PLACES.findall(longer) == PLACES.findall(sentence)
    assert not re.search("[aceiosu]", grown)


def test_what_has_no_letters_stays() -> None:
    assert pseudo.translate({"a": "{n}%", "b": ["{day} {month}", "…"], "c": {"one": ", ", "other": ""}}) == {
        "a": "{n}%",
        "b": ["{day} {month}", "…"],
        "c": {"one": ", ", "other": ""},
    }


def test_a_catalogue_keeps_its_keys_and_forms() -> None:
    english = WordLibrary.load().languages["en"].catalogue
    longer = pseudo.translate(english)
    assert longer.keys() == english.keys() and longer["script"].keys() == english["script"].keys()
    assert longer["pages"].keys() == {"one", "other"} and len(longer["months"]) == 12
