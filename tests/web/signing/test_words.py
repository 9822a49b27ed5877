"""Every sentence the pages ask for is in the catalogue, and none is there for nothing."""

import re
from pathlib import Path

import pytest

import esign.web
from esign.core.instant import parse
from esign.web.signing.words import WordLibrary

WEB = Path(next(iter(esign.web.__path__)))
WORDS = WordLibrary.load().choose("en")
PYTHON = "\n".join(path.read_text() for path in (*(WEB / "signing").glob("*.py"), WEB / "words.py"))
TEMPLATES = "\n".join(path.read_text() for path in (WEB / "templates" / "signing").glob("*.html"))
SCRIPTS = [path.read_text() for path in (WEB / "static").glob("*.js") if path.stem != "reference"]
SCRIPT = "\n".join(text for text in SCRIPTS if 'import { t } from "./words.js"' not in text)  # of the office
KEYS = set(WORDS.catalogue) - {"script"}


def test_no_sentence_of_the_pages_is_missing() -> None:
    asked = set(
        re.findall(r'\b(?:t|words)(?:\.count)?\("([a-z_]+)"[,)]', PYTHON + TEMPLATES.replace("'", '"'))
    )
    assert len(asked) > 80
    assert asked - KEYS == set()


def test_no_sentence_of_the_pages_is_left_over() -> None:
    text = PYTHON + TEMPLATES
    prefixes = re.findall(r'(?:"|f")([a-z_]+_|[a-z_]{6,}(?=\{))(?:\{|"|\' ~)|\'([a-z_]+_)\' ~', text)
    begun = tuple({one or two for one, two in prefixes} | {"hint_length_", "hint_range_", "type_", "hand_"})
    assert {
        key for key in KEYS if not re.search(rf"['\"]{key}['\"]", text) and not key.startswith(begun)
    } == set()


def test_no_sentence_of_the_script_is_missing_or_left_over() -> None:
    said = set(WORDS.catalogue["script"])
    quoted = set(
        re.findall(r'["`]([A-Za-z]+)["`]|(\bdigits|\bletters|\balphanumeric|\bphone|\bpostal):', SCRIPT)
    )
    found = {one or two for one, two in quoted}
    assert said - found == set()
    called = set(re.findall(r'\bt\("([A-Za-z]+)"', SCRIPT))
    assert called - said == set()


def test_what_is_put_into_a_sentence_is_escaped_and_its_own_marks_are_kept() -> None:
    assert WORDS("other_sign_done", name="<i>Ada</i>") == "<b>&lt;i&gt;Ada&lt;/i&gt;</b> has signed"


@pytest.mark.parametrize(("n", "words"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages")])
def test_numbers_take_their_form(n: int, words: str) -> None:
    assert WORDS.count("pages", n) == words


def test_days_and_minutes_are_those_of_the_zone() -> None:
    at = parse("2026-12-31T23:30:00Z")
    assert WORDS.date(at, "UTC") == "31 December 2026"
    assert WORDS.date(at, "Europe/Berlin") == "1 January 2027"
    assert WORDS.moment(at, "America/New_York") == "31 December 2026, 18:30"


@pytest.mark.parametrize("wanted", [("en",), ("en-GB",), ("xx", "EN"), (None,), ()])
def test_a_language_that_is_not_installed_falls_back(wanted: tuple[str | None, ...]) -> None:
    assert WordLibrary.load().choose(*wanted).locale == "en"
