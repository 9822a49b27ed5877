"""The languages that there are: which one is meant, and how each counts."""

import pytest

from esign.core import language
from esign.core.document import consent
from esign.core.language import LANGUAGES


@pytest.mark.parametrize(
    ("tag", "numbers"),
    [
        ("en", {"one": [1], "other": [0, 2, 5, 11, 21, 100]}),
        ("de", {"one": [1], "other": [0, 2, 11, 101]}),
        ("fr", {"one": [0, 1], "other": [2, 11, 101]}),
        ("pt", {"one": [0, 1], "other": [2, 21]}),
        ("ja", {"other": [0, 1, 2, 100]}),
        ("pl", {"one": [1], "few": [2, 3, 4, 22, 104], "many": [0, 5, 11, 12, 13, 14, 21, 112, 1000]}),
        (
            "ar",
            {
                "zero": [0],
                "one": [1],
                "two": [2],
                "few": [3, 10, 103, 110],
                "many": [11, 26, 99, 111],
                "other": [100, 101, 102, 200, 1000],
            },
        ),
    ],
)
def test_a_number_takes_the_form_of_its_language(tag: str, numbers: dict[str, list[int]]) -> None:
    assert numbers == {
        form: [n for n in some if LANGUAGES[tag].form(n) == form] for form, some in numbers.items()
    }


@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_language_names_each_form_that_a_number_takes(tag: str) -> None:
    assert {LANGUAGES[tag].form(n) for n in range(1_000)} == set(LANGUAGES[tag].forms)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (("pt-BR",), "pt"),
        (("DE",), "de"),
        ((None, "ja"), "ja"),
        (("ko", "zh-Hant-TW", "ar"), "ar"),
        (("../de", ""), "en"),
        ((), "en"),
    ],
)
def test_the_first_wanted_language_that_there_is_is_chosen(
    wanted: tuple[str | None, ...], found: str
) -> None:
    assert language.choose_language(*wanted).tag == found


def test_what_people_wrote_is_kept_apart_in_a_sentence_from_right_to_left() -> None:
    assert language.isolate_text("No. 1", "rtl") == "\u2068No. 1\u2069"
    assert language.isolate_text("No. 1", "ltr") == "No. 1"
    assert "«\u2068No. 1\u2069»" in consent.write_agreement("ar", "No. 1")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, None),
        ("", None),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("ko, ja;q=0.3, pl;q=0.7", "pl"),
        ("en;q=0, fr", "fr"),
        ("en;q=0", None),
        ("*", None),
        ("fr;q=high, es;q=0.1", "es"),
        ("," * 5_000 + "it", "it"),
        ("x" * 5_000, None),
    ],
)
def test_a_browser_s_favourite_is_found(header: str | None, found: str | None) -> None:
    assert language.find_accepted(header) == found


def test_a_counted_sentence_that_is_not_translated_has_an_english_form() -> None:
    english = {"one": "1 page", "other": "{n} pages"}
    for each in LANGUAGES.values():
        assert {each.choose_form(english, n) for n in range(120)} <= set(english.values())
    polish = {"one": "strona", "few": "strony", "many": "stron"}
    assert [LANGUAGES["pl"].choose_form(polish, n) for n in (1, 3, 5)] == ["strona", "strony", "stron"]
