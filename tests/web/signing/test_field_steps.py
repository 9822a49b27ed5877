"""From fields to the guided path, and to places on the page."""

from datetime import date

import pytest

from esign.core.document.document import Field, FieldType, PageGeometry
from esign.web.signing.field_steps import SigningStep, build_steps, format_date
from esign.web.signing.page import choose_colours, make_initials
from esign.web.signing.words import WordLibrary
from tests.web.signing.site import a_field, a_recipient

WORDS = WordLibrary.load().choose("en")
TODAY = date(2026, 11, 21)
PAGE = PageGeometry(600, 800, 0)
T = FieldType
BOX = (10.0, 10.0, 20.0, 3.0)


def path(*fields: Field) -> tuple[SigningStep, ...]:
    return build_steps(a_recipient(fields), WORDS, "Northlight", TODAY)


def test_the_path_follows_the_pages_from_the_top_and_from_the_left() -> None:
    fields = (
        a_field("d", T.TEXT, 2, (5, 1, 10, 3)),
        a_field("c", T.TEXT, 1, (5, 50, 10, 3)),
        a_field("b", T.TEXT, 1, (60, 10.2, 10, 3)),
        a_field("a", T.TEXT, 1, (5, 10.4, 10, 3)),
    )
    assert [step.id for step in path(*fields)] == ["fld_a", "fld_b", "fld_c", "fld_d"]


@pytest.mark.parametrize(
    ("field", "fixed", "value"),
    [
        (a_field("f", T.NAME, 1, BOX), False, "Jonas Weber"),
        (a_field("f", T.NAME, 1, BOX, options={"autofill": False}), False, ""),
        (a_field("f", T.NAME, 1, BOX, value="J. Weber"), False, "J. Weber"),
        (a_field("f", T.EMAIL, 1, BOX), True, "jonas.weber@example.com"),
        (a_field("f", T.EMAIL, 1, BOX, options={"autofill": False}), False, ""),
        (a_field("f", T.DATE, 1, BOX), True, "2026-11-21"),
        (a_field("f", T.DATE, 1, BOX, options={"autofill": False}), False, ""),
        (a_field("f", T.TEXT, 1, BOX, value="x"), False, "x"),
        (a_field("f", T.TEXT, 1, BOX, value="x", read_only=True), True, "x"),
        (a_field("f", T.CHECKBOX, 1, BOX, value=True, read_only=True), True, "true"),
        (a_field("f", T.CHECKBOX, 1, BOX, value=False, read_only=True), True, ""),
    ],
)
def test_a_field_is_asked_for_or_already_settled(field: Field, fixed: bool, value: str) -> None:
    (step,) = path(field)
    assert (step.fixed, step.value) == (fixed, value)


@pytest.mark.parametrize(
    ("least", "most", "label", "required"),
    [
        (None, None, "Tick what applies", False),
        (1, None, "Tick at least one of these", True),
        (2, None, "Tick at least 2 of these", True),
        (None, 1, "Tick at most one of these", False),
        (None, 2, "Tick at most 2 of these", False),
        (1, 1, "Tick one of these", True),
        (2, 2, "Tick 2 of these", True),
        (1, 2, "Tick 1 to 2 of these", True),
        (1, 3, "Tick at least one of these", True),
    ],
)
def test_boxes_of_a_group_are_one_step_that_says_how_many(
    least: int | None, most: int | None, label: str, required: bool
) -> None:
    options = {"group": "g", "minChecked": least, "maxChecked": most}
    boxes = tuple(a_field(f"b{n}", T.CHECKBOX, 1, (10, 10 + n * 5, 2, 2), options=options) for n in range(3))
    (step,) = path(*boxes)
    assert (step.kind, step.label, step.required, len(step.fields)) == ("group", label, required, 3)


@pytest.mark.parametrize(
    ("kind", "options", "hint"),
    [
        (T.TEXT, {"pattern": "digits"}, "Digits only"),
        (T.TEXT, {"pattern": "none"}, None),
        (T.TEXT, {"minLength": 5, "maxLength": 10}, "5 to 10 characters"),
        (T.TEXT, {"maxLength": 2000}, None),
        (T.NUMBER, {"min": 0, "max": 5}, "From 0 to 5"),
        (T.NUMBER, {"decimals": 0}, "A whole number"),
        (T.NUMBER, {"decimals": 2}, "Up to 2 decimal places"),
        (T.DATE, {"autofill": False, "min": "2026-12-14"}, "From 14 December 2026"),
        (T.DATE, {"autofill": False, "max": "2026-12-01"}, "Up to 1 December 2026"),
    ],
)
def test_a_field_says_what_it_expects(kind: FieldType, options: dict[str, object], hint: str | None) -> None:
    (step,) = path(a_field("f", kind, 1, BOX, options=options))
    assert step.hint == hint


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("YYYY-MM-DD", "2026-12-05"),
        ("DD/MM/YYYY", "05/12/2026"),
        ("MM/DD/YYYY", "12/05/2026"),
        ("D MMM YYYY", "5 Dec 2026"),
    ],
)
def test_a_date_is_shown_as_it_will_be_sealed(pattern: str, text: str) -> None:
    assert format_date("2026-12-05", pattern) == text


@pytest.mark.parametrize(
    ("name", "mark"),
    [("Northlight Joinery", "NJ"), ("esign", "E"), ("  ", "e"), ("Müller & Söhne GmbH", "MS")],
)
def test_a_name_has_its_mark(name: str, mark: str) -> None:
    assert make_initials(name) == mark


@pytest.mark.parametrize(
    ("colour", "pair"),
    [
        ("#7a4a1d", ("#7a4a1d", "#ffffff")),
        ("#ffe100", ("#ffe100", "#1b2330")),
        ("#fff", ("#3d4657", "#ffffff")),
        ("red", ("#3d4657", "#ffffff")),
    ],
)
def test_letters_on_the_organisations_colour_can_be_read(colour: str, pair: tuple[str, str]) -> None:
    assert choose_colours(colour) == pair
