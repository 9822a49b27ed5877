import orjson

from esign.core.errors import Problem
from esign.core.sentence import read_parts, say


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
