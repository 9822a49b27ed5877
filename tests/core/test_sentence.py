import copy
import sqlite3

import orjson
import pytest

from esign.core.errors import Problem
from esign.core.sentence import TOGETHER, Sentence, join, list_forms, mark, read_back, read_parts, say


def test_a_sentence_is_english_text_that_remembers_its_form_and_values() -> None:
    said = say("At most {n} recipients.", one="At most one recipient.", n=5)
    assert said == "At most 5 recipients."
    assert read_parts(said) == ("At most {n} recipients.", {"n": 5})


def test_the_singular_is_found_by_the_same_form() -> None:
    said = say("At most {n} recipients.", one="At most one recipient.", n=1)
    assert said == "At most one recipient."
    assert read_parts(said)[0] == "At most {n} recipients."


def test_a_plain_text_is_a_form_without_values() -> None:
    assert read_parts("Nobody {signs}.") == ("Nobody {signs}.", {})


def test_programs_read_the_english_text() -> None:
    problem = Problem("invalid_request", say("At most {n} recipients.", n=5))
    assert orjson.dumps({"message": problem.message}) == b'{"message":"At most 5 recipients."}'
    assert read_parts(problem.message)[0] == "At most {n} recipients."


def test_sentences_one_after_the_other_keep_their_forms() -> None:
    said = join([say("At most {n} recipients.", n=5), "", "Try again."])
    assert said == "At most 5 recipients. Try again."
    form, values = read_parts(said)
    assert form == TOGETHER
    assert [
        read_parts(str_)[0] for str_ in (values["first"], values["second"]) if isinstance(str_, Sentence)
    ] == [
        "At most {n} recipients.",
        "Try again.",
    ]
    assert join(["Alone."]) == "Alone." and join([]) == ""


def test_a_copy_keeps_the_form_and_the_database_stores_the_text() -> None:
    said = say("At most {n} recipients.", n=5)
    assert read_parts(copy.deepcopy(said)) == read_parts(said)
    assert sqlite3.connect(":memory:").execute("SELECT ?", (said,)).fetchone() == ("At most 5 recipients.",)


FORMS = {
    **list_forms(
        "Page {page} is {width:g} wide.", "Page {page} is damaged.", "{bytes:,} bytes; {most:,} are allowed."
    ),
    **dict.fromkeys(("{n} pages.", "One page."), "{n} pages."),
    **list_forms("It says: {said}", "It says: “{said}” ({code})"),
}


@pytest.mark.parametrize(
    ("text", "form", "values"),
    [
        ("Page 7 is 612.5 wide.", "Page {page} is {width:g} wide.", {"page": "7", "width": 612.5}),
        (
            "1,234,567 bytes; 20 are allowed.",
            "{bytes:,} bytes; {most:,} are allowed.",
            {"bytes": 1234567, "most": 20},
        ),
        ("12 pages.", "{n} pages.", {"n": 12}),
        ("One page.", "{n} pages.", {"n": 1}),
        ("It says: “no” (5)", "It says: “{said}” ({code})", {"said": "no", "code": "5"}),
        ("It says: {no}\n.", "It says: {said}", {"said": "{no}\n."}),
    ],
)
def test_a_text_is_read_back_as_the_sentence_that_it_was(
    text: str, form: str, values: dict[str, object]
) -> None:
    found = read_back(text, FORMS)
    assert found == text and read_parts(found) == (form, values)


@pytest.mark.parametrize(
    "text", ["Nothing known.", "Page 7 is , wide.", ",,, bytes; 2 are allowed.", "9" * 5_000 + " pages."]
)
def test_a_text_of_no_form_is_left_as_it_is(text: str) -> None:
    assert read_parts(read_back(text, FORMS)) == (text, {})


def test_a_sentence_is_not_read_again() -> None:
    said = mark("One page.")
    assert read_back(said, FORMS) is said
