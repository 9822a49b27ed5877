"""The newest value of each field wins, and only the recipient's own fields are taken."""

from dataclasses import replace
from typing import Any

import pytest

from esign.core.document.document import FieldType, RecipientStatus, Role, Status
from esign.core.document.signing_draft import (
    DraftEntry,
    EnteredValue,
    SigningDraft,
    check_values,
    find_ended_drafts,
    merge_values,
    put_in_values,
)
from esign.core.errors import Problem
from tests.factories import NOW, TYPED, a_field, a_recipient, a_sent_document


def places(problem: Problem) -> set[str]:
    return {detail.path for detail in problem.details}


# ---------- which value wins ----------


def test_an_older_value_that_comes_late_does_not_replace_a_newer_one() -> None:
    draft = merge_values(SigningDraft(), {"a": EnteredValue(NOW - 10, "new")}, NOW)
    later = merge_values(
        draft, {"a": EnteredValue(NOW - 20, "old"), "b": EnteredValue(NOW - 20, "other")}, NOW
    )
    assert later.entries["a"] == DraftEntry(NOW - 10, 1, "new")
    assert later.entries["b"] == DraftEntry(NOW - 20, 2, "other")


def test_nothing_newer_leaves_the_draft_as_it_is() -> None:
    draft = merge_values(SigningDraft(), {"a": EnteredValue(NOW, "x")}, NOW)
    assert merge_values(draft, {"a": EnteredValue(NOW, "y")}, NOW) is draft
    assert merge_values(draft, {}, NOW) is draft


def test_a_page_ahead_of_the_clock_does_not_win_for_ever() -> None:
    draft = merge_values(SigningDraft(), {"a": EnteredValue(NOW + 10**9, "from the future")}, NOW)
    assert draft.entries["a"].at == NOW
    assert merge_values(draft, {"a": EnteredValue(NOW + 5, "later")}, NOW + 5).entries["a"].value == "later"


def test_what_was_entered_on_top_of_a_value_wins_even_where_the_clock_went_back() -> None:
    draft = merge_values(SigningDraft(), {"a": EnteredValue(NOW, "x")}, NOW)
    assert merge_values(draft, {"a": EnteredValue(NOW + 1, "y")}, NOW - 500).entries["a"] == DraftEntry(
        NOW + 1, 2, "y"
    )


def test_what_came_since_a_revision_is_told_by_when_it_came_not_by_when_it_was_entered() -> None:
    draft = merge_values(SigningDraft(), {"a": EnteredValue(NOW, "x")}, NOW)
    draft = merge_values(draft, {"b": EnteredValue(NOW - 9, "y")}, NOW)
    assert draft.since(1) == {"b": EnteredValue(NOW - 9, "y")}
    assert draft.since(0).keys() == {"a", "b"} and draft.since(2) == {}


# ---------- what is taken ----------


def test_only_fields_that_the_recipient_is_to_fill_in_are_taken() -> None:
    own, given = a_field(), a_field(read_only=True, value="No. 4711")
    today = a_field(FieldType.DATE)
    person = a_recipient(fields=(own, given, today, a_field(FieldType.SIGNATURE)))
    check_values(person, {own.id: EnteredValue(1, "half a wo")})
    with pytest.raises(Problem) as refused:
        check_values(
            person,
            {id: EnteredValue(1, "x") for id in (own.id, given.id, today.id, "fld_other", "signature")},
        )
    assert places(refused.value) == {f"/values/{id}" for id in (given.id, today.id, "fld_other", "signature")}


def test_a_signature_apart_is_taken_of_who_has_no_field_for_it() -> None:
    check_values(a_recipient(), {"signature": EnteredValue(1, {"kind": "typed", "text": "Jo", "hand": "a"})})
    with pytest.raises(Problem):
        check_values(a_recipient(role=Role.APPROVER), {"signature": EnteredValue(1, None)})


@pytest.mark.parametrize(
    ("type", "value", "fits"),
    [
        (FieldType.TEXT, "call me\n" * 900, True),
        (FieldType.TEXT, True, False),
        (FieldType.TEXT, None, False),
        (FieldType.NUMBER, "7,", True),
        (FieldType.NUMBER, 7, False),
        (FieldType.RADIO, "", True),
        (FieldType.CHECKBOX, False, True),
        (FieldType.CHECKBOX, "true", False),
        (FieldType.SIGNATURE, None, True),
        (FieldType.SIGNATURE, "Jo", False),
        (FieldType.SIGNATURE, {"kind": "typed", "text": "Jo", "hand": None}, True),
        (FieldType.SIGNATURE, {"kind": "typed", "text": "Jo", "hand": None, "more": 1}, False),
        (FieldType.SIGNATURE, {"kind": "typed", "text": ["Jo"], "hand": None}, False),
        (FieldType.INITIALS, {"kind": "drawn", "picture": "data:image/png;base64,AA"}, True),
        (FieldType.INITIALS, {"kind": "drawn", "picture": {}}, False),
        (FieldType.INITIALS, {"kind": "drawn"}, False),
    ],
)
def test_a_value_has_the_shape_of_its_field_and_may_be_unfinished(
    type: FieldType, value: Any, fits: bool
) -> None:
    field = a_field(type)
    person = a_recipient(fields=(field,))
    if fits:
        return check_values(person, {field.id: EnteredValue(1, value)})
    with pytest.raises(Problem) as refused:
        check_values(person, {field.id: EnteredValue(1, value)})
    assert places(refused.value) == {f"/values/{field.id}"}


def test_the_fields_show_what_was_entered_and_keep_what_was_not() -> None:
    text, given, ink = a_field(), a_field(value="Ash"), a_field(FieldType.SIGNATURE)
    person = a_recipient(fields=(text, given, ink))
    draft = SigningDraft(
        1, {text.id: DraftEntry(1, 1, "14 Linden Row"), ink.id: DraftEntry(1, 1, {"kind": "typed"})}
    )
    assert [field.value for field in put_in_values(person, draft).fields] == ["14 Linden Row", "Ash", None]


# ---------- when it ends ----------


def test_a_draft_ends_with_the_act_of_its_recipient_or_with_the_document() -> None:
    document = a_sent_document(a_recipient("Ana"), a_recipient("Bo"))
    ana, bo = document.recipients
    done = replace(ana, status=RecipientStatus.COMPLETED, ink=TYPED)
    assert (
        find_ended_drafts(document, document.with_recipient(replace(ana, status=RecipientStatus.VIEWED)))
        == []
    )
    assert find_ended_drafts(document, document.with_recipient(done)) == [ana.id]
    assert find_ended_drafts(document, replace(document, status=Status.CANCELLED)) == [ana.id, bo.id]
    assert (
        find_ended_drafts(
            replace(document, status=Status.SEALING), replace(document, status=Status.COMPLETED)
        )
        == []
    )
