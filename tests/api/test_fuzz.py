"""Whatever stands anywhere in a body, the answer is a refusal in the contract's words or a document."""

import copy
import json
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esign.actions.document.holder_entries import make_recipient, make_role
from esign.core.document.recipient_rules import find_list_problems
from esign.core.errors import Problem
from esign.system.vault import Vault
from esign.web.api.document_requests import CreateDocument
from esign.web.api.template_requests import ChangeTemplate, CreateTemplate, UseTemplate
from esign.web.api.webhooks import CreateWebhook
from esign.web.http import strict_json
from esign.web.http.validation import RULES, check

VAULT = Vault(bytes(32))
FIELD = {"page": 1, "x": 1.5, "y": 2, "width": 3, "height": 4, "key": "k", "label": "l", "fontSize": 9}
BODY: dict[str, Any] = {
    "fileName": "a.pdf",
    "file": "AAAA",
    "title": "t",
    "expiresInDays": 3,
    "reminders": {"enabled": True, "max": 1},
    "redirectUrl": "https://example.com/",
    "metadata": {"a": "b"},
    "recipients": [
        {
            "name": "Ada",
            "email": "ada@example.test",
            "order": 2,
            "fields": [
                {"type": "signature", **FIELD, "allowed": ["drawn"]},
                {"type": "date", **FIELD, "min": "2026-01-01", "max": "2026-12-31", "value": "2026-02-02"},
                {"type": "text", **FIELD, "minLength": 1, "maxLength": 5, "value": "abc", "readOnly": True},
                {"type": "number", **FIELD, "min": 1, "max": 2, "decimals": 1, "value": "1.5"},
                {"type": "checkbox", **FIELD, "group": "g", "minChecked": 1, "maxChecked": 1, "value": True},
                {"type": "radio", **FIELD, "options": ["a", "b"], "value": "a"},
            ],
        }
    ],
}

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["https://[", "https://[::1", "a@[", "\u2028", "1" * 40, "9999-99-99", "-0", "0" * 31])
)
names = st.text(string.printable, max_size=6)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(string.printable, max_size=6), inner, max_size=4)
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, each in inner for place in places(each, (*path, step)))]


def replace_value(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(body)
    node = changed
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return changed


def check_body(model: Any, body: Any) -> Any:
    """The checked body; None where it was refused as it should be."""
    try:
        return check(model, strict_json.load(json.dumps(body).encode()))
    except Problem as problem:
        assert problem.status == 400 and problem.code in ("invalid_request", "invalid_json")
        for detail in problem.details:
            assert detail.rule in RULES and detail.message and (not detail.path or detail.path[0] == "/")
            detail.path.encode()
        return None


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(place=st.sampled_from(places(BODY)), value=values)
def test_no_value_anywhere_in_a_document_is_unforeseen(place: tuple[Any, ...], value: Any) -> None:
    made = check_body(CreateDocument, replace_value(BODY, place, value))
    if made is not None:
        recipients = tuple(make_recipient(VAULT, given.to_entry(), None, 0) for given in made.recipients)
        assert all(detail.rule in RULES for detail in find_list_problems(recipients, 50, 500))


@settings(max_examples=200, deadline=None)
@given(place=st.sampled_from(places({"url": "u", "events": ["*"]})), value=values)
def test_no_value_anywhere_in_a_webhook_is_unforeseen(place: tuple[Any, ...], value: Any) -> None:
    check_body(CreateWebhook, replace_value({"url": "https://a.test", "events": ["*"]}, place, value))


TEMPLATE: dict[str, Any] = {
    **{name: BODY[name] for name in ("fileName", "file", "title", "expiresInDays", "reminders")},
    "roles": [{"key": "a", "name": "A", "order": 2, "fields": BODY["recipients"][0]["fields"]}],
}
CHANGE = {"title": "t", "reminders": {"max": 1}, "roles": [{"id": "rol_1", **TEMPLATE["roles"][0]}]}
USE = {
    "recipients": [
        {"roleKey": "a", "name": "Ada", "email": "ada@example.test", "values": {"k": "v", "b": True}}
    ],
    "metadata": {"a": "b"},
}


@settings(max_examples=300, deadline=None)
@given(place=st.sampled_from(places(TEMPLATE)), value=values)
def test_no_value_anywhere_in_a_template_is_unforeseen(place: tuple[Any, ...], value: Any) -> None:
    made = check_body(CreateTemplate, replace_value(TEMPLATE, place, value))
    if made is not None:
        roles = tuple(make_role(role.to_entry(), None, 0) for role in made.root.roles)
        assert all(detail.rule in RULES for detail in find_list_problems(roles, 50, 500, "/roles"))


@settings(max_examples=200, deadline=None)
@given(place=st.sampled_from(places({"fromDocumentId": "doc_1", "title": "t"})), value=values)
def test_no_value_in_a_template_from_a_document_is_unforeseen(place: tuple[Any, ...], value: Any) -> None:
    check_body(CreateTemplate, replace_value({"fromDocumentId": "doc_1", "title": "t"}, place, value))


@settings(max_examples=200, deadline=None)
@given(place=st.sampled_from(places(CHANGE)), value=values)
def test_no_value_anywhere_in_a_change_of_a_template_is_unforeseen(
    place: tuple[Any, ...], value: Any
) -> None:
    check_body(ChangeTemplate, replace_value(CHANGE, place, value))


@settings(max_examples=200, deadline=None)
@given(place=st.sampled_from(places(USE)), value=values)
def test_no_value_anywhere_in_a_use_of_a_template_is_unforeseen(place: tuple[Any, ...], value: Any) -> None:
    made = check_body(UseTemplate, replace_value(USE, place, value))
    if made is not None:
        for taker in [given.to_taker() for given in made.recipients]:
            assert all(isinstance(value, str | bool) for value in taker.values.values())


def test_the_body_that_these_start_from_is_one() -> None:
    assert all(
        check_body(*pair)
        for pair in ((CreateTemplate, TEMPLATE), (ChangeTemplate, CHANGE), (UseTemplate, USE))
    )
    made = check_body(CreateDocument, BODY)
    assert made is not None
    assert len(make_recipient(VAULT, made.recipients[0].to_entry(), None, 0).fields) == 6
