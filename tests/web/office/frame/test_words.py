"""Every sentence that the web application asks for is in the English catalogue, and none is there for nothing."""

import re
from pathlib import Path

import pytest
from markupsafe import Markup

import esign.web
from esign.core.language import LANGUAGES
from esign.core.sentence import TOGETHER, join, say
from esign.web.office.frame.words import OfficeWords, choose_words, load_words
from tests.web.office.conftest import UnknownSentences

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
    begun = tuple(set(BEGUN.findall(SOURCE)))
    assert {key for key in left if not key.startswith(begun)} == set()


def test_a_sentence_of_an_error_is_found_by_its_form() -> None:
    own = words(
        "de",
        **{"At most {n} recipients.": {"one": "Höchstens eine Person.", "other": "Höchstens {n} Personen."}},
    )
    assert own.say(say("At most {n} recipients.", n=5)) == "Höchstens 5 Personen."
    assert own.say(say("At most {n} recipients.", n=1)) == "Höchstens eine Person."


def test_a_sentence_that_no_catalogue_has_is_said_in_english_escaped_and_logged(
    unknown_sentences: UnknownSentences,
) -> None:
    assert words("de").say("Nobody <knows> this.") == "Nobody &lt;knows&gt; this."
    assert isinstance(words("de").say("Nobody knows this."), Markup)
    assert [one.rpartition("sentence ")[2] for one in unknown_sentences.found] == [
        "'Nobody <knows> this.'",
        "'Nobody knows this.'",
    ]
    unknown_sentences.found.clear()


def test_values_are_written_as_the_language_does_and_sentences_among_them_are_translated() -> None:
    own = words(
        "de",
        **{
            "The file has {bytes:,} bytes.": "Die Datei hat {bytes} Bytes.",
            "Page {page} measures {width:g} points.": "Seite {page} misst {width:g} Punkte.",
            "“{name}”: {problem}": "„{name}“: {problem}",
            "At most {n} recipients.": {"one": "Höchstens eine.", "other": "Höchstens {n}."},
            TOGETHER: TOGETHER,
            "Try again.": "Versuchen Sie es noch einmal.",
        },
    )
    assert (
        own.say(say("The file has {bytes:,} bytes.", bytes=12_345_678)) == "Die Datei hat 12.345.678 Bytes."
    )
    assert own.say(say("Page {page} measures {width:g} points.", page=3, width=612.5)) == (
        "Seite 3 misst 612,5 Punkte."
    )
    inside = say("“{name}”: {problem}", name="<b>", problem=say("At most {n} recipients.", n=20_000))
    assert own.tell(inside) == "„<b>“: Höchstens 20.000."
    assert own.say(inside) == "„&lt;b&gt;“: Höchstens 20.000."
    assert own.say(join([say("At most {n} recipients.", n=1), "", "Try again."])) == (
        "Höchstens eine. Versuchen Sie es noch einmal."
    )


def test_a_value_is_isolated_in_a_sentence_that_runs_from_right_to_left() -> None:
    own = words("ar", **{"There is no event “{name}”.": "لا يوجد حدث «{name}»."})
    assert own.tell(say("There is no event “{name}”.", name="x.y")) == "لا يوجد حدث «\u2068x.y\u2069»."


FRENCH = words(
    "fr",
    **{
        "The mail server did not answer in time": "Le serveur de messagerie n’a pas répondu à temps",
        "No answer within the time allowed.": "Pas de réponse dans le temps imparti.",
        "Its certificate expired on {day}.": "Son certificat a expiré le {day}.",
        "You have {n} views. Delete one to save another.": {
            "one": "Vous avez {n} vue. Supprimez-la.",
            "other": "Vous avez {n} vues. Supprimez-en une.",
        },
    },
)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("The mail server did not answer in time", "Le serveur de messagerie n’a pas répondu à temps"),
        ("550 5.1.1 <no@x.example> unknown", "550 5.1.1 &lt;no@x.example&gt; unknown"),
        ("You have 12 views. Delete one to save another.", "Vous avez 12 vues. Supprimez-en une."),
        ("You have 1 view. Delete it to save another.", "Vous avez 1 vue. Supprimez-la."),
    ],
)
def test_a_stored_text_is_translated_where_it_is_ours_and_stays_where_another_program_said_it(
    stored: str, shown: str
) -> None:
    assert FRENCH.recognise(stored) == shown


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("timeout: no answer within the time allowed", "Pas de réponse dans le temps imparti."),
        ("its certificate expired on 2026-01-31", "Son certificat a expiré le 2026-01-31."),
        ("it says: <nothing>", "It says: &lt;nothing&gt;."),
    ],
)
def test_a_stored_clause_is_shown_as_a_sentence(stored: str, shown: str) -> None:
    assert FRENCH.recognise_clause(stored) == shown


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
