"""The sentences of the page of a document, and the days and notes that its forms read."""

import pytest

from esign.actions.sealing.seal_levels import explain_error
from esign.core.instant import parse
from esign.web.office.document.terms import find_day_end, parse_pairs
from esign.web.office.frame.forms import FormError

NOON = parse("2026-11-22T12:00:00Z")


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
    assert explain_error(reason) == said


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
        with pytest.raises(FormError, match=f"(?i)line {line} "):
            parse_pairs(wrong)
