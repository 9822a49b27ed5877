import pytest

from esign.core.instant import parse
from esign.web.office.frame.formats import Times
from esign.web.office.frame.words import load_words

NOON = parse("2026-11-22T12:00:00Z")


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
    times = Times("Asia/Tokyo", NOON, load_words("en"))
    assert (times.near(parse(at)), times.heading(parse(at))) == (near, heading)


def test_sizes_have_their_units() -> None:
    assert [str(load_words("en").size(n)) for n in (10, 341_200, 999_499, 999_500, 1_240_000)] == [
        "1 kB",
        "341 kB",
        "999 kB",
        "1.0 MB",
        "1.2 MB",
    ]
