"""What is made up for a simulated recipient fits the very checks that a real one meets."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from esign.core.document import simulated_answers
from esign.core.document.document import Field, FieldType, Ink, Recipient, Role
from esign.core.document.field_types import INK, PATTERNS, STROKE
from esign.core.document.field_values import fill_fields
from tests.factories import NOW, a_field, a_recipient

TODAY = date(2026, 11, 21)


def fill_recipient(recipient: Recipient, **given: Any) -> dict[str, Any]:
    """The values that are stored, by field id; signatures stand for what `inks` makes of them."""
    answers = simulated_answers.make_answers(recipient, given, TODAY)
    inks = {id: Ink(v["kind"], text=v.get("text")) if isinstance(v, dict) else v for id, v in answers.items()}
    fields, ink = fill_fields(recipient, inks, TODAY, NOW)
    return {field.id: field.value for field in fields} | {"signature": ink}


def holder(*fields: Field, **changes: Any) -> Recipient:
    return a_recipient(fields=fields, **changes)


@pytest.mark.parametrize("type", FieldType)
def test_every_required_field_gets_something_that_fits(type: FieldType) -> None:
    field = replace(a_field(type), required=True)
    assert fill_recipient(holder(field))[field.id] not in (None, False, "")


@pytest.mark.parametrize("type", [type for type in FieldType if type is not FieldType.CHECKBOX])
def test_an_optional_field_is_left_as_it_is(type: FieldType) -> None:
    field = a_field(type, required=False, options={**a_field(type).options, "autofill": False})
    assert field.id not in simulated_answers.make_answers(holder(field), {}, TODAY)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("least", "most"), [(None, None), (4, 4), (None, 4), (6, 9), (10, 11), (11, 2000)])
def test_text_fits_its_pattern_and_lengths(pattern: str, least: int | None, most: int | None) -> None:
    options = {"pattern": pattern, "minLength": least, "maxLength": most}
    field = a_field(FieldType.TEXT, options=options)
    assert fill_recipient(holder(field))[field.id]


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({}, "1"),
        ({"min": 5}, "5"),
        ({"max": -2.5}, "-2.5"),
        ({"min": 1.25, "decimals": 1}, "1.3"),
        ({"min": 0.2, "max": 0.8, "decimals": 1}, "0.8"),
        ({"max": 0.75, "decimals": 1}, "0.7"),
        ({"decimals": 0}, "1"),
        ({"decimals": 2}, "1.00"),
        ({"min": 1e6, "max": 1e7}, "1000000.0"),
    ],
)
def test_a_number_keeps_to_its_bounds_and_decimals(options: dict[str, Any], value: str) -> None:
    field = a_field(FieldType.NUMBER, options=options)
    assert fill_recipient(holder(field))[field.id] == value


@pytest.mark.parametrize(
    ("options", "value"),
    [({}, "2026-11-21"), ({"min": "2027-01-01"}, "2027-01-01"), ({"max": "2020-02-29"}, "2020-02-29")],
)
def test_a_day_is_the_nearest_that_is_allowed(options: dict[str, Any], value: str) -> None:
    field = a_field(FieldType.DATE, options={**options, "autofill": False})
    assert fill_recipient(holder(field))[field.id] == value


def test_enough_boxes_of_a_group_are_ticked_and_not_those_left_open_on_purpose() -> None:
    options = {"group": "colours", "minChecked": 2, "maxChecked": 2}
    boxes = [a_field(FieldType.CHECKBOX, options=options) for _ in range(4)]
    recipient = holder(*boxes)
    assert [fill_recipient(recipient)[box.id] for box in boxes] == [True, True, False, False]
    given = {boxes[0].id: False, boxes[3].id: True}
    assert [fill_recipient(recipient, **given)[box.id] for box in boxes] == [False, True, False, True]


def test_what_is_given_is_kept_and_what_the_sender_wrote_too() -> None:
    name, text = a_field(FieldType.NAME), a_field(FieldType.TEXT, value="from the sender")
    found = fill_recipient(holder(name, text), **{name.id: "Ana"})
    assert (found[name.id], found[text.id]) == ("Ana", "from the sender")


def test_a_signature_without_a_field_and_without_letters_is_made_up_too() -> None:
    drawn = a_field(FieldType.SIGNATURE, options={"allowed": ["drawn"]})
    assert simulated_answers.make_answers(holder(drawn), {}, TODAY) == {
        drawn.id: {"kind": "drawn", "picture": STROKE}
    }
    assert simulated_answers.make_answers(holder(), {}, TODAY) == {
        "signature": {"kind": "typed", "text": "Jo Li"}
    }
    initials = a_field(FieldType.INITIALS)
    assert simulated_answers.make_answers(holder(initials), {}, TODAY)[initials.id] == {
        "kind": "typed",
        "text": "JL",
    }


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("Jo", {"kind": "typed", "text": "Jo"}),
        ({"kind": "typed"}, {"kind": "typed", "text": "Jo Li"}),
        ({"kind": "typed", "text": "J"}, {"kind": "typed", "text": "J"}),
        ({"kind": "drawn"}, {"kind": "drawn", "picture": STROKE}),
        ({"kind": "drawn", "picture": "x"}, {"kind": "drawn", "picture": "x"}),
        (True, True),
    ],
)
def test_a_signature_of_which_only_a_part_is_given_is_completed(given: Any, full: Any) -> None:
    assert simulated_answers.make_answers(holder(), {"signature": given}, TODAY) == {"signature": full}
    for type in INK:
        field = a_field(type)
        assert simulated_answers.make_answers(holder(field), {field.id: given}, TODAY)[field.id] == full


def test_an_approver_need_fill_in_nothing() -> None:
    assert simulated_answers.make_answers(holder(a_field(), role=Role.APPROVER), {}, TODAY) == {}
