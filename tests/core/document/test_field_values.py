"""What each type of field takes (contract 4)."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from esign.core.document.document import Field, FieldType, Ink, Recipient, Role
from esign.core.document.field_types import InvalidValue, check_number
from esign.core.document.field_values import fill_fields, needs_signature
from esign.core.errors import Problem
from tests.factories import NOW, TYPED, a_field, a_recipient, an_answer

TODAY = date(2026, 11, 21)
DRAWN = Ink("drawn", picture="ab" * 32, width=300, height=100)
UPLOADED = Ink("uploaded", picture="ab" * 32, width=300, height=100)
F = FieldType
TYPES = tuple(FieldType)
TYPED_IN = (F.NAME, F.EMAIL, F.TEXT, F.NUMBER, F.DATE)


def who(*fields: Field, **changes: Any) -> Recipient:
    """A signer whose signature is asked for in a field of its own, called `sig`."""
    return a_recipient(fields=(a_field(F.SIGNATURE, id="sig"), *fields), **changes)


def answer_field(field: Field, given: Any, **changes: Any) -> Field:
    """The field after `given` was put into it."""
    answers = {"sig": TYPED} | ({} if given is ABSENT else {field.id: given})
    filled, _ = fill_fields(who(field, **changes), answers, TODAY, NOW)
    assert filled[0].value == TYPED
    return filled[1]


def problems(recipient: Recipient, answers: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as refused:
        fill_fields(recipient, answers, TODAY, NOW)
    assert refused.value.code == "invalid_request"
    assert all(detail.message.endswith(".") for detail in refused.value.details)
    return [(detail.path, detail.rule) for detail in refused.value.details]


ABSENT = object()


def field_of(kind: FieldType, options: dict[str, Any] | None = None, **changes: Any) -> Field:
    made = a_field(kind, **{"id": "f", **changes})
    return replace(made, options={**made.options, **(options or {})})


# (type, options, what is given, what is stored)
GOOD: list[tuple[FieldType, dict[str, Any], Any, Any]] = [
    (F.SIGNATURE, {}, DRAWN, DRAWN),
    (F.SIGNATURE, {"allowed": ["typed"]}, TYPED, TYPED),
    (F.INITIALS, {}, UPLOADED, UPLOADED),
    (F.DATE, {"autofill": False}, "2024-02-29", "2024-02-29"),
    (F.DATE, {"autofill": False, "min": "2026-01-01", "max": "2026-12-31"}, "2026-01-01", "2026-01-01"),
    (F.DATE, {"autofill": False, "min": "2026-01-01", "max": "2026-12-31"}, "2026-12-31", "2026-12-31"),
    (F.NAME, {}, "  Dr. Jo  ", "Dr. Jo"),
    (F.NAME, {}, "n" * 200, "n" * 200),
    (F.EMAIL, {"autofill": False}, "other@example.org", "other@example.org"),
    (F.TEXT, {}, " words ", "words"),
    (F.TEXT, {}, "w" * 2000, "w" * 2000),
    (F.TEXT, {"multiline": True}, "one\ntwo\tthree\r\nfour", "one\ntwo\tthree\r\nfour"),
    (F.TEXT, {"minLength": 2, "maxLength": 3}, "ab", "ab"),
    (F.TEXT, {"minLength": 2, "maxLength": 3}, "😀😀😀", "😀😀😀"),
    (F.TEXT, {"pattern": "none"}, "!?", "!?"),
    (F.TEXT, {"pattern": "digits"}, "0123", "0123"),
    (F.TEXT, {"pattern": "letters"}, "Ana-Zoë O’Hara Jr.", "Ana-Zoë O’Hara Jr."),
    (F.TEXT, {"pattern": "letters"}, "प्रियंका श्रीवास्तव", "प्रियंका श्रीवास्तव"),
    (F.TEXT, {"pattern": "letters"}, "e\u0301te\u0301", "e\u0301te\u0301"),
    (F.TEXT, {"pattern": "alphanumeric"}, "Straße 12", "Straße 12"),
    (F.TEXT, {"pattern": "alphanumeric"}, "ศรีสุวรรณ 7", "ศรีสุวรรณ 7"),
    (F.TEXT, {"pattern": "phone"}, "+49 (0)151 / 234-567", "+49 (0)151 / 234-567"),
    (F.TEXT, {"pattern": "postal"}, "SW1A 1AA", "SW1A 1AA"),
    (F.TEXT, {"pattern": "letters", "multiline": True}, "Ana\n\nBo", "Ana\n\nBo"),
    (F.NUMBER, {}, "-12.50", "-12.50"),
    (F.NUMBER, {}, "12,5", "12.5"),
    (F.NUMBER, {"decimals": 2}, "1.25", "1.25"),
    (F.NUMBER, {"decimals": 0}, "7", "7"),
    (F.NUMBER, {"min": 0.1, "max": 0.3}, "0.1", "0.1"),
    (F.NUMBER, {"min": 0.1, "max": 0.3}, "0.3", "0.3"),
    (F.CHECKBOX, {}, True, True),
    (F.CHECKBOX, {}, False, False),
    (F.CHECKBOX, {}, ABSENT, False),
    (F.RADIO, {"options": ["a", "b"]}, "b", "b"),
    (F.DROPDOWN, {"options": ["a", "b"]}, " a ", "a"),
]

# (type, options, what is given, the rule it breaks)
WRONG: list[tuple[FieldType, dict[str, Any], Any, str]] = [
    (F.SIGNATURE, {}, "Jo Li", "type"),
    (F.SIGNATURE, {}, {"kind": "typed"}, "type"),
    (F.SIGNATURE, {"allowed": ["drawn", "uploaded"]}, TYPED, "enum"),
    (F.INITIALS, {"allowed": ["typed"]}, DRAWN, "enum"),
    (F.DATE, {"autofill": False}, "2026-02-30", "format"),
    (F.DATE, {"autofill": False}, "2026-2-3", "format"),
    (F.DATE, {"autofill": False}, "20260203", "format"),
    (F.DATE, {"autofill": False}, "0000-01-01", "format"),
    (F.DATE, {"autofill": False}, "٢٠٢٦-٠١-٠١", "format"),
    (F.DATE, {"autofill": False}, 20260203, "type"),
    (F.DATE, {"autofill": False, "min": "2026-01-01"}, "2025-12-31", "range"),
    (F.DATE, {"autofill": False, "max": "2026-12-31"}, "2027-01-01", "range"),
    (F.NAME, {}, "n" * 201, "length"),
    (F.NAME, {}, "Jo\nLi", "format"),
    (F.NAME, {}, True, "type"),
    (F.EMAIL, {"autofill": False}, "jo@example", "format"),
    (F.EMAIL, {"autofill": False}, "jo li@example.com", "format"),
    (F.EMAIL, {"autofill": False}, "a@b@example.com", "format"),
    (F.TEXT, {}, 12, "type"),
    (F.TEXT, {}, ["words"], "type"),
    (F.TEXT, {}, "w" * 2001, "length"),
    (F.TEXT, {}, "one\ntwo", "format"),
    (F.TEXT, {}, "a\u2028b", "format"),
    (F.TEXT, {}, "a\x85b", "format"),
    (F.TEXT, {"multiline": True}, "a\x00b", "format"),
    (F.TEXT, {"multiline": True}, "a\u2029b", "format"),
    (F.TEXT, {"minLength": 2, "maxLength": 3}, "a", "length"),
    (F.TEXT, {"minLength": 2, "maxLength": 3}, "abcd", "length"),
    (F.TEXT, {"pattern": "digits"}, "12 3", "format"),
    (F.TEXT, {"pattern": "digits"}, "٣", "format"),
    (F.TEXT, {"pattern": "letters"}, "R2D2", "format"),
    (F.TEXT, {"pattern": "alphanumeric"}, "a-b", "format"),
    (F.TEXT, {"pattern": "phone"}, "call me", "format"),
    (F.TEXT, {"pattern": "phone"}, "()()()", "format"),
    (F.TEXT, {"pattern": "postal"}, "!", "format"),
    (F.TEXT, {"pattern": "letters", "multiline": True}, "Ana\nB2", "format"),
    (F.TEXT, {"pattern": "letters"}, "Ana\nBo", "format"),
    (F.NUMBER, {}, "twelve", "format"),
    (F.NUMBER, {}, "1e3", "format"),
    (F.NUMBER, {}, "+1", "format"),
    (F.NUMBER, {}, "1.", "format"),
    (F.NUMBER, {}, "1,000.50", "format"),
    (F.NUMBER, {}, "NaN", "format"),
    (F.NUMBER, {}, "9" * 31, "format"),
    (F.NUMBER, {}, 12, "type"),
    (F.NUMBER, {"decimals": 2}, "1.255", "format"),
    (F.NUMBER, {"decimals": 0}, "1.0", "format"),
    (F.NUMBER, {"min": 0.1, "max": 0.3}, "0.09", "range"),
    (F.NUMBER, {"min": 0.1, "max": 0.3}, "0.300000000000000000001", "format"),
    (F.NUMBER, {"min": 0.1, "max": 0.3}, "0.30000000000000000001", "range"),
    (F.CHECKBOX, {}, "true", "type"),
    (F.CHECKBOX, {}, 1, "type"),
    (F.RADIO, {"options": ["a", "b"]}, "c", "enum"),
    (F.RADIO, {"options": ["a", "b"]}, True, "enum"),
    (F.DROPDOWN, {"options": ["a", "b"]}, ["a"], "enum"),
    (F.DROPDOWN, {}, "blue", "enum"),
]


@pytest.mark.parametrize(("kind", "options", "given", "stored"), GOOD)
def test_a_fitting_value_is_stored(kind: FieldType, options: dict[str, Any], given: Any, stored: Any) -> None:
    assert answer_field(field_of(kind, options), given).value == stored


@pytest.mark.parametrize(("kind", "options", "given", "rule"), WRONG)
def test_a_value_that_does_not_fit_is_named_with_the_rule_it_breaks(
    kind: FieldType, options: dict[str, Any], given: Any, rule: str
) -> None:
    assert problems(who(field_of(kind, options)), {"sig": TYPED, "f": given}) == [("/answers/f", rule)]


def test_every_type_has_a_fitting_and_a_wrong_value_here() -> None:
    assert {row[0] for row in GOOD} == {row[0] for row in WRONG} == set(TYPES)


@pytest.mark.parametrize("kind", TYPES)
def test_a_filled_field_keeps_everything_else_and_notes_the_time(kind: FieldType) -> None:
    field = field_of(kind, {"autofill": False} if kind in TYPED_IN else {})
    filled = answer_field(field, an_answer(field))
    assert filled == replace(field, value=filled.value, filled_at=NOW)


@pytest.mark.parametrize("given", [ABSENT, None, "", "  \t"])
@pytest.mark.parametrize("kind", TYPES)
def test_a_required_field_left_empty_is_asked_for(kind: FieldType, given: Any) -> None:
    field = field_of(kind, {"autofill": False}, required=True)
    answers = {"sig": TYPED} | ({} if given is ABSENT else {"f": given})
    assert problems(who(field), answers) == [("/answers/f", "required")]


@pytest.mark.parametrize("given", [ABSENT, None, "", "  "])
@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind is not F.CHECKBOX])
def test_a_field_that_is_not_required_may_stay_empty(kind: FieldType, given: Any) -> None:
    field = field_of(kind, {"autofill": False}, required=False)
    assert answer_field(field, given) == field


def test_a_required_box_has_to_be_ticked() -> None:
    box = field_of(F.CHECKBOX, required=True)
    assert problems(who(box), {"sig": TYPED, "f": False}) == [("/answers/f", "required")]
    assert answer_field(box, True).value is True


# ---------- read-only, prefilled, filled in by us ----------


@pytest.mark.parametrize(
    ("kind", "value"), [(F.TEXT, "fixed"), (F.CHECKBOX, True), (F.NUMBER, "5"), (F.RADIO, "red")]
)
def test_a_read_only_field_keeps_the_value_of_the_sender(kind: FieldType, value: str | bool) -> None:
    field = field_of(kind, read_only=True, value=value)
    for given in (ABSENT, None, value):
        assert answer_field(field, given).value == value
    for other in ("other", False, ""):
        assert problems(who(field), {"sig": TYPED, "f": other}) == [("/answers/f", "reference")]


def test_a_prefilled_value_counts_until_the_recipient_changes_or_clears_it() -> None:
    choice = field_of(F.RADIO, {"options": ["red", "blue"]}, value="red", required=False)
    assert answer_field(choice, ABSENT).value == "red"
    assert answer_field(choice, "").value is None
    field = field_of(F.TEXT, value="prefilled", required=False)
    assert answer_field(field, ABSENT).value == "prefilled"
    assert answer_field(field, "changed").value == "changed"
    assert answer_field(field, "").value is None


def test_a_prefilled_value_is_checked_like_any_other() -> None:
    assert problems(who(field_of(F.TEXT, {"maxLength": 3}, value="long")), {"sig": TYPED}) == [
        ("/answers/f", "length")
    ]


@pytest.mark.parametrize("given", [ABSENT, "2001-01-01", "whatever"])
def test_the_date_of_signing_is_ours_to_fill_in(given: Any) -> None:
    assert answer_field(field_of(F.DATE), given).value == "2026-11-21"
    assert answer_field(field_of(F.DATE, {"autofill": True}), given).value == "2026-11-21"


@pytest.mark.parametrize("given", [ABSENT, "other@example.org", 7])
def test_the_own_email_address_is_filled_in_and_cannot_be_changed(given: Any) -> None:
    assert answer_field(field_of(F.EMAIL), given, email="jo@example.com").value == "jo@example.com"


def test_the_name_is_filled_in_and_can_be_changed() -> None:
    assert answer_field(field_of(F.NAME), ABSENT).value == "Jo Li"
    assert answer_field(field_of(F.NAME), "Joanna Li").value == "Joanna Li"
    assert answer_field(field_of(F.NAME, value="J. Li"), ABSENT).value == "J. Li"
    assert answer_field(field_of(F.NAME, {"autofill": False}, required=False), ABSENT).value is None


# ---------- groups of boxes ----------


def boxes(ticks: str, *options: dict[str, Any]) -> tuple[Recipient, dict[str, Any]]:
    """Boxes of the group `g`, one per letter of `ticks`, `x` ticked; `options` for the first of them."""
    made = [
        field_of(F.CHECKBOX, {"group": "g", **(options[n] if n < len(options) else {})}, id=f"b{n}")
        for n in range(len(ticks))
    ]
    return who(*made), {"sig": TYPED} | {f"b{n}": tick == "x" for n, tick in enumerate(ticks)}


@pytest.mark.parametrize(
    ("ticks", "options", "holds"),
    [
        ("...", [{}], True),
        ("xxx", [{}], True),
        ("...", [{"minChecked": 1}], False),
        ("..x", [{"minChecked": 1}], True),
        (".x.", [{"maxChecked": 1}], True),
        ("xx.", [{"maxChecked": 1}], False),
        ("x..", [{"maxChecked": 0}], False),
        ("xx.", [{"minChecked": 2, "maxChecked": 2}], True),
        ("x..", [{"minChecked": 1}, {"minChecked": 2}], False),
        ("xx.", [{"maxChecked": 3}, {"maxChecked": 1}], False),
        ("x", [{"minChecked": 1, "maxChecked": 1}], True),
    ],
)
def test_a_group_of_boxes_keeps_its_number_of_ticks(
    ticks: str, options: list[dict[str, Any]], holds: bool
) -> None:
    recipient, answers = boxes(ticks, *options)
    if holds:
        filled, _ = fill_fields(recipient, answers, TODAY, NOW)
        assert [box.value for box in filled[1:]] == [tick == "x" for tick in ticks]
    else:
        assert problems(recipient, answers) == [("/answers/b0", "range")]


def test_each_group_is_counted_by_itself() -> None:
    one = field_of(F.CHECKBOX, {"group": "one", "minChecked": 1}, id="a")
    two = field_of(F.CHECKBOX, {"group": "two", "minChecked": 1}, id="b")
    alone = field_of(F.CHECKBOX, {"minChecked": 1}, id="c")
    assert problems(who(one, two, alone), {"sig": TYPED, "a": True}) == [("/answers/b", "range")]


# ---------- an approver, of whom nothing is asked ----------


@pytest.mark.parametrize("given", [ABSENT, None, "", "  "])
@pytest.mark.parametrize("kind", TYPES)
def test_an_approver_may_leave_every_field_empty(kind: FieldType, given: Any) -> None:
    field = field_of(kind, {"autofill": False}, required=True)
    approver = a_recipient(role=Role.APPROVER, fields=(field,))
    if kind is F.CHECKBOX and isinstance(given, str):
        return
    (filled,), ink = fill_fields(approver, {} if given is ABSENT else {"f": given}, TODAY, NOW)
    assert (filled.value, ink) == (False if kind is F.CHECKBOX else None, None)


@pytest.mark.parametrize(("kind", "options", "given", "rule"), WRONG)
def test_what_an_approver_does_give_has_to_fit(
    kind: FieldType, options: dict[str, Any], given: Any, rule: str
) -> None:
    approver = a_recipient(role=Role.APPROVER, fields=(field_of(kind, options),))
    assert problems(approver, {"f": given}) == [("/answers/f", rule)]


@pytest.mark.parametrize(("ticks", "holds"), [("...", True), ("x..", True), ("xxx", False)])
def test_an_approver_may_tick_fewer_boxes_than_a_group_asks_for_but_not_more(ticks: str, holds: bool) -> None:
    signer, answers = boxes(ticks, {"minChecked": 2, "maxChecked": 2})
    approver = replace(signer, role=Role.APPROVER)
    if holds:
        filled, _ = fill_fields(approver, answers, TODAY, NOW)
        assert [box.value for box in filled[1:]] == [tick == "x" for tick in ticks]
    else:
        assert problems(approver, answers) == [("/answers/b0", "range")]


# ---------- whose fields, and the signature apart from them ----------


def test_a_field_of_somebody_else_is_refused_and_nothing_is_stored() -> None:
    assert problems(who(field_of(F.TEXT)), {"sig": TYPED, "f": "words", "other": "x"}) == [
        ("/answers/other", "reference")
    ]


def test_all_problems_are_told_at_once_each_with_its_place() -> None:
    recipient = a_recipient(
        fields=(
            field_of(F.TEXT, id="t"),
            field_of(F.NUMBER, id="n"),
            field_of(F.RADIO, id="r"),
            field_of(F.CHECKBOX, {"group": "g", "minChecked": 1}, id="c"),
            field_of(F.NAME, id="fine"),
        )
    )
    assert problems(recipient, {"n": "many", "r": "blue", "x": 1}) == [
        ("/answers/x", "reference"),
        ("/answers/t", "required"),
        ("/answers/n", "format"),
        ("/answers/r", "enum"),
        ("/answers/c", "range"),
        ("/answers/signature", "required"),
    ]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("role", Role)
def test_the_signature_is_asked_for_apart_where_a_signer_has_no_field_for_it(
    kind: FieldType, role: Role
) -> None:
    recipient = a_recipient(role=role, fields=(a_field(kind),))
    assert needs_signature(recipient) is (role is Role.SIGNER and kind is not F.SIGNATURE)


def test_a_signature_apart_from_the_fields_is_handed_back() -> None:
    assert fill_fields(a_recipient(), {"signature": DRAWN}, TODAY, NOW) == ((), DRAWN)
    assert problems(a_recipient(), {}) == [("/answers/signature", "required")]
    assert problems(a_recipient(), {"signature": "Jo Li"}) == [("/answers/signature", "type")]
    assert fill_fields(a_recipient(role=Role.APPROVER), {}, TODAY, NOW) == ((), None)
    assert fill_fields(who(), {"sig": TYPED}, TODAY, NOW)[1] is None


@pytest.mark.parametrize("written", ["1,000", "12,345,678", "-1,000"])
def test_a_mark_between_thousands_is_never_taken_for_a_point(written: str) -> None:
    with pytest.raises(InvalidValue) as wrong:
        check_number(a_field(FieldType.NUMBER), written)
    assert wrong.value.rule == "format"


def test_three_digits_after_a_comma_are_decimals_where_three_are_asked_for() -> None:
    assert check_number(a_field(FieldType.NUMBER, options={"decimals": 3}), "1,125") == "1.125"
