"""Lists in requests that are far too long: refused at a cost that does not grow with what is in them."""

from typing import Any

import pytest

from esign.config import LimitSettings
from esign.core.document.recipient_rules import find_duplicates
from esign.core.errors import Problem
from esign.web.api.document_requests import CreateDocument, RecipientInput
from esign.web.api.edit_requests import EditDocument
from esign.web.api.template_requests import ChangeTemplate, CreateTemplate, UseTemplate
from esign.web.http.validation import check
from esign.web.values.document_values import MOST_FIELDS, MOST_RECIPIENTS
from esign.web.values.schema import Schema

FIELD = {"type": "signature", "page": 1, "x": 1, "y": 1}
ADA = {"email": "ada@example.test", "name": "Ada"}


def test_the_settings_allow_no_more_than_a_request_may_hold() -> None:
    allowed = LimitSettings.model_json_schema()["properties"]
    assert allowed["recipients"]["maximum"] == MOST_RECIPIENTS
    assert allowed["fields"]["maximum"] == MOST_FIELDS


@pytest.mark.parametrize(
    ("model", "member", "entry", "most", "others"),
    [
        (CreateDocument, "recipients", ADA, MOST_RECIPIENTS, {"fileName": "a.pdf", "file": ""}),
        (EditDocument, "recipients", ADA, MOST_RECIPIENTS, {}),
        (ChangeTemplate, "roles", {"key": "a"}, MOST_RECIPIENTS, {}),
        (UseTemplate, "recipients", {**ADA, "roleKey": "a"}, MOST_RECIPIENTS, {}),
        (RecipientInput, "fields", FIELD, MOST_FIELDS, ADA),
    ],
)
def test_of_a_list_that_no_setting_allows_nothing_is_made(
    model: type[Schema], member: str, entry: dict[str, Any], most: int, others: dict[str, Any]
) -> None:
    check(model, {**others, member: [entry] * most})
    with pytest.raises(Problem) as refused:
        check(model, {**others, member: [entry] * (most + 1)})
    [detail] = refused.value.details
    assert (refused.value.code, detail.path, detail.rule) == ("invalid_request", f"/{member}", "length")


@pytest.mark.parametrize(
    ("model", "member", "entry", "others"),
    [
        (CreateDocument, "recipients", ADA, {"fileName": "a.pdf", "file": ""}),
        (EditDocument, "recipients", ADA, {}),
        (CreateTemplate, "roles", {"key": "a"}, {"fileName": "a.pdf", "file": ""}),
        (ChangeTemplate, "roles", {"key": "a"}, {}),
    ],
)
def test_of_more_fields_in_all_than_any_setting_allows_nothing_is_made(
    model: type[Schema], member: str, entry: dict[str, Any], others: dict[str, Any]
) -> None:
    half = {**entry, "fields": [FIELD] * (MOST_FIELDS // 2)}
    check(model, {**others, member: [half, half]})
    with pytest.raises(Problem) as refused:
        check(model, {**others, member: [half, half, {**entry, "fields": [FIELD]}]})
    assert [(detail.path, detail.rule) for detail in refused.value.details] == [(f"/{member}", "length")]


class CountedName(str):
    """A name that counts how often it is held against another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)


def test_names_that_stand_twice_are_found_without_holding_each_against_each() -> None:
    names = [CountedName(n) for n in range(1_000)]
    found = [
        detail.path for detail in find_duplicates([None, *names, None, CountedName(7)], "/recipients", "id")
    ]
    assert found == ["/recipients/1002/id"]
    assert CountedName.compared < 1_000
