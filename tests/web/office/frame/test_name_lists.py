"""Lists of names within a sentence."""

import pytest
from markupsafe import Markup

from esign.web.office.frame.name_lists import isolate_name, list_names, list_parts
from esign.web.office.frame.words import load_words

ENGLISH = load_words("en")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("A", "A"),
        ("AB", "A and B"),
        ("ABC", "A, B and C"),
        ("ABCD", "A, B, C and 1 other"),
        ("ABCDEF", "A, B, C and 3 others"),
    ],
)
def test_three_names_are_listed_and_the_others_are_counted(names: str, said: str) -> None:
    assert list_names(names, ENGLISH).translate({0x2068: None, 0x2069: None}) == said


def test_names_are_escaped_and_isolated_from_the_direction_of_the_others() -> None:
    assert list_names(["<b>", "Ada"], ENGLISH) == "\u2068&lt;b&gt;\u2069 and \u2068Ada\u2069"
    assert list_names([Markup("<bdi>A</bdi>"), "B"], ENGLISH) == "<bdi>A</bdi> and \u2068B\u2069"
    assert isolate_name("<b>") == "<bdi>&lt;b&gt;</bdi>"


def test_parts_are_listed_one_after_the_other() -> None:
    assert list_parts(["title", Markup("<i>file</i>"), "fields"], ENGLISH) == "title, <i>file</i>, fields"
    assert list_parts([], ENGLISH) == ""
