"""The search of the manual: words, beginnings of words, and messages that somebody pastes."""

import json
import re
from pathlib import Path

import pytest

from esign.web.office.manual.rendering import load_page
from esign.web.office.manual.search_pages import LONGEST, MOST, cut_excerpt, search_pages

ROOT = Path(__file__).parents[4]
HELP = "/docs/troubleshooting"
MESSAGES = [
    heading.text
    for heading, passage in ((one.heading, one) for one in load_page("troubleshooting").passages)
    if heading is not None and heading.level == 3
]
# Sentences of other programs and of the operating system, which stand in no file of ours.
FOREIGN = (
    "address already in use",
    "permission denied",
    "cannot assign requested address",
    "413 Request Entity Too Large",
    "502 Bad Gateway",
    "504 Gateway Timeout",
)


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("SPF", "/docs/mail#spf"),
        ("acrobat green", "/docs/trust#green-in-acrobat"),
        ("--resum", "/docs/backup#what-is-held-back"),
        ("BÄCKUP", "/docs/backup"),
        (
            "esign: another esign server works on /srv/x; stop it first, or set another storage.data_dir",
            f"{HELP}#another-esign-server-works-on-",
        ),
        (
            "esign: the data folder /srv/x belongs to another user; run esign as its owner",
            f"{HELP}#the-data-folder--belongs-to-another-user",
        ),
        (
            "the database has schema 99, this program knows schemas up to 31; install the newer version of esign",
            f"{HELP}#the-database-has-schema--this-program-knows-schemas-up-to-",
        ),
    ],
)
def test_a_query_finds_its_place(query: str, address: str) -> None:
    assert address in [result.address for result in search_pages(query)[: 1 if len(query) > 40 else 3]]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_of_the_troubleshooting_finds_its_remedy_first(message: str) -> None:
    assert search_pages(message)[0].heading == message


@pytest.mark.parametrize("query", ["", " ", "…", "qqqqzzzz", "<", "a" * 2000])
def test_what_there_is_not_finds_nothing(query: str) -> None:
    assert search_pages(query) == []


def test_no_more_is_shown_than_can_be_looked_at() -> None:
    assert len(search_pages("the")) == MOST
    assert len(search_pages("the " * LONGEST)) == MOST


def test_an_excerpt_marks_what_was_found_and_escapes_the_rest() -> None:
    assert cut_excerpt("Say <b> & mail, mailing.", ("mail",)) == (
        "Say &lt;b&gt; &amp; <mark>mail</mark>, <mark>mailing</mark>."
    )
    long = cut_excerpt("word " * 100 + "needle " + "word " * 100, ("needle",))
    assert long.startswith("… word") and long.endswith("word …") and "<mark>needle</mark>" in long


def test_every_message_of_the_troubleshooting_is_one_that_the_program_says() -> None:
    words = ROOT / "esign" / "web" / "office" / "words" / "en"
    said = " ".join(path.read_text("utf-8") for path in (ROOT / "esign").rglob("*.py"))
    said += " ".join(
        json.dumps(json.loads(path.read_text("utf-8")), ensure_ascii=False) for path in words.glob("*.json")
    )
    said = flatten(re.sub(r'"\s*\n\s*f?"', "", said))
    text = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    quoted = [
        one
        for line in re.findall(r"^### (`.*)$", text, re.MULTILINE)
        for one in re.findall(r"`([^`]+)`", line)
    ]
    assert len(quoted) > 30
    pieces = [piece for one in quoted if one not in FOREIGN for piece in flatten(one).split("…")]
    assert [piece for piece in pieces if piece.strip() not in said] == []


def flatten(text: str) -> str:
    """One kind of apostrophe and of space."""
    return " ".join(text.replace("’", "'").replace("\\'", "'").split())
