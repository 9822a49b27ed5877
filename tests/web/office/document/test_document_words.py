"""The sentences of the page of a document: who is waited for, why a seal failed, when something was or will be."""

import pytest

from esign.core.instant import parse
from esign.web.office.document.awaiting import describe_cause, join_names
from esign.web.office.document.terms import find_day_end, parse_pairs
from esign.web.office.frame.formats import Times, format_count, format_size
from esign.web.office.frame.forms import FormError

NOON = parse("2026-11-22T12:00:00Z")


@pytest.mark.parametrize(
    ("people", "said"),
    [
        (["Ada"], "Ada"),
        (["Ada", "Bo"], "Ada and Bo"),
        (["Ada", "Bo", "Cy"], "Ada, Bo and Cy"),
        (["Ada", "Bo", "Cy", "Di"], "Ada, Bo and 2 others"),
        (["<b>Ada"], "&lt;b&gt;Ada"),
    ],
)
def test_people_are_listed_and_many_are_counted(people: list[str], said: str) -> None:
    assert str(join_names(people)).replace("<bdi>", "").replace("</bdi>", "") == said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("The seal certificate has expired.", "The seal certificate has expired."),
        ("no room on the disk ", "no room on the disk."),
        (
            "it took longer than 30 seconds",
            "The program that draws the seal stopped: it took longer than 30 seconds.",
        ),
    ],
)
def test_the_cause_of_a_failed_seal_is_a_sentence(reason: str, said: str) -> None:
    assert describe_cause(reason) == said


@pytest.mark.parametrize(
    ("at", "near", "heading"),
    [
        ("2026-11-22T03:00:00Z", "today at 12:00", "Today, 22 Nov"),
        ("2026-11-22T15:00:00Z", "tomorrow at 00:00", "Monday, 23 Nov 2026"),
        ("2026-11-21T14:59:00Z", "yesterday at 23:59", "Yesterday, 21 Nov"),
        ("2026-11-13T03:00:00Z", "on 13 Nov 2026", "Friday, 13 Nov 2026"),
    ],
)
def test_a_day_is_one_of_the_clocks_of_the_organisation(at: str, near: str, heading: str) -> None:
    times = Times("Asia/Tokyo", NOON)
    assert (times.near(parse(at)), times.heading(parse(at))) == (near, heading)


@pytest.mark.parametrize(
    ("zone", "ends"),
    [
        ("UTC", "2027-03-28T23:59:59Z"),
        ("Europe/Berlin", "2027-03-28T21:59:59Z"),
        ("America/Santiago", "2027-03-29T02:59:59Z"),
    ],
)
def test_a_day_ends_with_its_last_second_also_where_the_clocks_change(zone: str, ends: str) -> None:
    assert find_day_end("2027-03-28", zone) == parse(ends)


@pytest.mark.parametrize("text", ["2027-02-30", "28.03.2027", "2027-3-1", "1900-01-01", "９999-01-01", ""])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        find_day_end(text, "UTC")


def test_notes_are_read_line_by_line() -> None:
    assert parse_pairs("a = 1\n\n b=c = d \n") == {"a": "1", "b": "c = d"}
    for wrong, line in (("a = 1\nb", 2), ("a = 1\na = 2", 2), ("x", 1)):
        with pytest.raises(FormError, match=f"Line {line} "):
            parse_pairs(wrong)


def test_numbers_have_their_words_and_units() -> None:
    assert (format_count(1, "page"), format_count(12, "page")) == ("1 page", "12 pages")
    assert [format_size(n) for n in (10, 341_200, 999_499, 999_500, 1_240_000)] == [
        "1 kB",
        "341 kB",
        "999 kB",
        "1.0 MB",
        "1.2 MB",
    ]
