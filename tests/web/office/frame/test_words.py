"""Every sentence that the web application asks for is in the English catalogue, and none is there for nothing."""

import re
from pathlib import Path

import pytest
from markupsafe import Markup

import esign.web
from esign.core.language import LANGUAGES
from esign.core.sentence import say
from esign.web.office.frame.words import OfficeWords, choose_words, load_words

WEB = Path(next(iter(esign.web.__path__)))
WORDS = load_words("en")
SOURCE = "\n".join(
    path.read_text()
    for path in (
        *(WEB / "office").rglob("*.py"),
        *(WEB / "templates" / "office").glob("*.html"),
        WEB / "words.py",
    )
)
ASKED = re.compile(
    r"""\b(?:t|words)(?:\.count|\.link)?\(\s*["']([a-z_]+(?:\.[A-Za-z0-9_-]+)+)["'](?=\s*[,)])"""
)
QUOTED = re.compile(r"""["']([A-Za-z_]+(?:\.[A-Za-z0-9_-]+)*)["']""")
# The beginning of a key whose rest is a value: f"draft.role.{role}" or "draft.role." ~ role.
BEGUN = re.compile(r"""["']([a-z_]+[A-Za-z0-9_.-]*[._-])(?:\{|["'])""")


def words(tag: str, **sentences: object) -> OfficeWords:
    return OfficeWords(
        LANGUAGES[tag], {"greet": "{name}, <b>hello</b>", "two": "<a>one</a>, <a>two</a>"}, sentences
    )


def test_no_sentence_is_missing() -> None:
    assert set(ASKED.findall(SOURCE)) - WORDS.catalogue.keys() == set()


def test_no_sentence_is_left_over() -> None:
    scripted = {key for key in WORDS.catalogue if ".script." in key}
    left = WORDS.catalogue.keys() - set(QUOTED.findall(SOURCE)) - scripted
    assert {key for key in left if not key.startswith(tuple(BEGUN.findall(SOURCE)))} == set()


def test_a_sentence_of_an_error_is_found_by_its_form() -> None:
    own = words(
        "de",
        **{"At most {n} recipients.": {"one": "Höchstens eine Person.", "other": "Höchstens {n} Personen."}},
    )
    assert own.say(say("At most {n} recipients.", n=5)) == "Höchstens 5 Personen."
    assert own.say(say("At most {n} recipients.", n=1)) == "Höchstens eine Person."


def test_a_sentence_that_is_not_translated_is_said_in_english_and_escaped() -> None:
    assert words("de").say("Nobody <knows> this.") == "Nobody &lt;knows&gt; this."
    assert isinstance(words("de").say("Nobody knows this."), Markup)


def test_values_are_escaped_and_isolated_where_writing_runs_from_right_to_left() -> None:
    assert words("en")("greet", name="<i>") == "&lt;i&gt;, <b>hello</b>"
    assert words("ar")("greet", name="Ada") == "\u2068Ada\u2069, <b>hello</b>"


def test_links_of_a_sentence_lead_to_their_addresses_in_their_order() -> None:
    assert (
        words("en").link("two", "/a?x=1&y=2", "/b")
        == '<a href="/a?x=1&amp;y=2">one</a>, <a href="/b">two</a>'
    )


@pytest.mark.parametrize(
    ("wanted", "tag"), [((None, "fr-CA"), "fr"), (("pt", "de"), "pt"), (("xx", None), "en")]
)
def test_the_first_language_that_is_installed_is_chosen(wanted: tuple[str | None, ...], tag: str) -> None:
    assert choose_words(*wanted).locale == tag


def test_large_numbers_are_grouped_as_the_language_does() -> None:
    assert [load_words(tag).group(12_345) for tag in ("en", "de", "fr", "pl")] == [
        "12,345",
        "12.345",
        "12\u202f345",
        "12\u00a0345",
    ]
    assert load_words("en").group(1_234) == "1234"
