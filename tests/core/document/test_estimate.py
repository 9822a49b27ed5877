"""How much is asked of somebody."""

from typing import Any

import pytest

from esign.core.document import estimate
from esign.core.document.document import FieldType
from tests.factories import a_field, a_recipient


@pytest.mark.parametrize("kind", FieldType)
def test_what_fills_itself_in_or_is_filled_in_by_the_sender_is_not_asked(kind: FieldType) -> None:
    of_itself = kind in (FieldType.DATE, FieldType.EMAIL)
    assert estimate.is_asked(a_field(type=kind)) is not of_itself
    assert estimate.is_asked(a_field(type=kind, options={"autofill": False}))
    assert not estimate.is_asked(a_field(type=kind, read_only=True, options={"autofill": False}))


def test_the_boxes_of_a_group_are_one_answer() -> None:
    def a_box(id: str, **more: Any) -> Any:
        return a_field(id=id, type=FieldType.CHECKBOX, **more)

    boxes = (
        a_box("a", options={"group": "x"}),
        a_box("b", options={"group": "x"}),
        a_box("c", options={"group": "y"}),
        a_box("d"),
        a_box("e", read_only=True, options={"group": "x"}),
    )
    assert estimate.count_answers(a_recipient(fields=boxes)) == 3


@pytest.mark.parametrize(("pages", "asked", "minutes"), [(1, 0, 1), (3, 13, 6), (3, 5, 3), (40, 2, 21)])
def test_reading_takes_longer_than_filling_in(pages: int, asked: int, minutes: int) -> None:
    assert estimate.estimate_minutes(pages, asked) == minutes
