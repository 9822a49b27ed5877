from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.document.document import FieldType, RecipientStatus, Role, Status
from esign.core.document.field_types import INK, InvalidValue
from esign.core.document.field_values import prefill
from esign.core.document.template import NewId, Taker, make_recipients, make_roles
from esign.core.errors import Problem
from esign.core.webhook import webhook
from tests.factories import NOW, TYPED, a_document, a_field, a_recipient, a_role, a_template, an_answer

SELLER, BUYER = a_role("seller", order=2), a_role("buyer", name="The buyer")


def make_ids() -> NewId:
    numbers = count(1)
    return lambda prefix: f"{prefix}_new{next(numbers)}"


def taker(key: str, **values: str | bool) -> Taker:
    return Taker(key, f"{key}@example.com", f"Some {key}", values)


def problems(*takers: Taker, **given: Any) -> set[tuple[str, str]]:
    """Path and rule of everything wrong with this use of a template."""
    template = given.get("template") or a_template(SELLER, BUYER)
    with pytest.raises(Problem) as refused:
        make_recipients(template, takers, make_ids())
    assert refused.value.code == "invalid_request"
    return {(detail.path, detail.rule) for detail in refused.value.details}


def test_who_takes_a_role_gets_its_place_in_the_order_of_the_template() -> None:
    seller, buyer = make_recipients(a_template(SELLER, BUYER), [taker("buyer"), taker("seller")], make_ids())
    assert (seller.email, seller.name, seller.order) == ("seller@example.com", "Some seller", 2)
    assert (buyer.email, buyer.order, buyer.role, buyer.authentication) == (
        "buyer@example.com", 1, Role.SIGNER, "link"
    )  # fmt: skip
    assert buyer.status is RecipientStatus.CREATED and buyer.id != seller.id
    assert not {seller.id, buyer.id} & {SELLER.id, BUYER.id}


def test_a_template_without_roles_makes_a_document_without_recipients() -> None:
    assert make_recipients(replace(a_template(), roles=()), [], make_ids()) == ()


@pytest.mark.parametrize(
    ("takers", "expected"),
    [
        ([], {("/recipients", "required")}),
        (["buyer"], {("/recipients", "required")}),
        (["buyer", "seller", "agent"], {("/recipients/2/roleKey", "reference")}),
        (["buyer", "buyer", "seller"], {("/recipients/1/roleKey", "duplicate")}),
        (["agent", "buyer", "buyer"], {
            ("/recipients/0/roleKey", "reference"),
            ("/recipients/2/roleKey", "duplicate"),
            ("/recipients", "required"),
        }),
    ],
)  # fmt: skip
def test_every_role_is_taken_exactly_once(takers: list[str], expected: set[tuple[str, str]]) -> None:
    assert problems(*map(taker, takers)) == expected


def test_each_role_that_nobody_takes_is_named() -> None:
    with pytest.raises(Problem) as refused:
        make_recipients(a_template(SELLER, BUYER), [], make_ids())
    assert [detail.message for detail in refused.value.details] == [
        "The role “seller” needs a recipient.",
        "The role “buyer” needs a recipient.",
    ]


@pytest.mark.parametrize("kind", sorted(set(FieldType) - INK))
def test_values_go_into_the_fields_of_their_keys_and_the_template_keeps_its_own(kind: FieldType) -> None:
    field, other = a_field(kind, key="k", label="Plot"), a_field(key="other", value="stays")
    template = a_template(a_role("buyer", fields=(field, other)))
    given = an_answer(field)
    [buyer] = make_recipients(template, [taker("buyer", k=given)], make_ids())
    assert buyer.fields == (
        replace(field, id=buyer.fields[0].id, value=given),
        replace(other, id=buyer.fields[1].id),
    )
    assert len({made.id for made in (*buyer.fields, field, other)}) == 4
    assert template.roles[0].fields[0].value is None


def test_the_fields_of_two_uses_have_ids_of_their_own() -> None:
    template, new_id = a_template(a_role("buyer", fields=(a_field(),))), make_ids()
    [one], [two] = (make_recipients(template, [taker("buyer")], new_id) for _ in range(2))
    assert one.id != two.id and one.fields[0].id != two.fields[0].id


VALUES: list[tuple[Any, str | bool, str]] = [
    (a_field(FieldType.SIGNATURE, key="k"), "Jo", "type"),
    (a_field(FieldType.INITIALS, key="k"), True, "type"),
    (a_field(FieldType.CHECKBOX, key="k"), "true", "type"),
    (a_field(FieldType.TEXT, key="k"), True, "type"),
    (a_field(FieldType.TEXT, key="k", options={"maxLength": 3}), "four", "length"),
    (a_field(FieldType.TEXT, key="k", options={"pattern": "digits"}), "x", "format"),
    (a_field(FieldType.NUMBER, key="k"), "twelve", "format"),
    (a_field(FieldType.NUMBER, key="k", options={"max": 5}), "6", "range"),
    (a_field(FieldType.DATE, key="k"), "2026-02-30", "format"),
    (a_field(FieldType.EMAIL, key="k"), "jo", "format"),
    (a_field(FieldType.RADIO, key="k"), "blue", "enum"),
    (a_field(FieldType.DROPDOWN, key="k"), "blue", "enum"),
    (a_field(FieldType.TEXT, key="k", read_only=True, value="kept"), " ", "required"),
]


@pytest.mark.parametrize(("field", "given", "rule"), VALUES)
def test_a_value_that_does_not_fit_the_type_of_its_field_is_named(
    field: Any, given: str | bool, rule: str
) -> None:
    template = a_template(SELLER, a_role("buyer", fields=(field,)))
    wrong = problems(taker("seller"), taker("buyer", k=given), template=template)
    assert wrong == {("/recipients/1/values/k", rule)}


def test_a_key_is_known_only_to_the_role_that_has_its_field() -> None:
    seller, buyer = a_role("seller", fields=(a_field(key="price"),)), a_role("buyer", fields=(a_field(),))
    wrong = problems(
        taker("seller", price="1"), taker("buyer", price="1"), template=a_template(seller, buyer)
    )
    assert wrong == {("/recipients/1/values/price", "reference")}


def test_the_sender_writes_what_the_recipient_only_reads_and_may_empty_what_it_may_change() -> None:
    fixed = a_field(key="price", read_only=True, value="1")
    free = a_field(key="plot", value="14 B")
    template = a_template(a_role("buyer", fields=(fixed, free)))
    [buyer] = make_recipients(template, [taker("buyer", price=" 2 ", plot="")], make_ids())
    assert [field.value for field in buyer.fields] == ["2", None]
    assert buyer.fields[0].read_only


@pytest.mark.parametrize("kind", FieldType)
def test_nothing_is_prefilled_that_its_type_does_not_take(kind: FieldType) -> None:
    wrong: str | bool = "x" if kind is FieldType.CHECKBOX else True
    with pytest.raises(InvalidValue):
        prefill(a_field(kind), wrong)


# ---------- from a document ----------


def test_the_roles_of_a_document_say_nothing_about_the_people_who_hold_them() -> None:
    document = a_document(a_recipient("Ada Lovelace", order=2), a_recipient("Bob", role=Role.APPROVER))
    one, two = make_roles(document, make_ids())
    assert (one.key, one.name, one.role, one.order) == ("signer_1", "Signer 1", Role.SIGNER, 2)
    assert (two.key, two.name, two.role, two.order) == ("approver_2", "Approver 2", Role.APPROVER, 1)
    assert one.id != two.id and {one.id, two.id}.isdisjoint({r.id for r in document.recipients})


def test_what_the_sender_wrote_is_taken_over_and_what_a_recipient_filled_in_is_not() -> None:
    fields = (
        a_field(key="prefilled", value="from the sender"),
        a_field(key="answered", value="from the recipient", filled_at=NOW),
        a_field(key="fixed", value="from the sender", read_only=True, filled_at=NOW),
        a_field(FieldType.SIGNATURE, value=TYPED, filled_at=NOW),
    )
    document = a_document(a_recipient(fields=fields), status=Status.COMPLETED)
    [role] = make_roles(document, make_ids())
    assert [field.value for field in role.fields] == ["from the sender", None, "from the sender", None]
    assert all(field.filled_at is None for field in role.fields)
    assert {field.id for field in role.fields}.isdisjoint({field.id for field in fields})


# ---------- events ----------


def test_the_payload_of_a_template_event_has_exactly_the_members_of_the_contract() -> None:
    template = a_template(id="tpl_1", title="Ö", revision=3, mode=Mode.TEST)
    assert webhook.make_template_payload("template.updated", NOW + 123, "evt_1", template) == {
        "id": "evt_1",
        "type": "template.updated",
        "timestamp": "2026-11-21T00:00:00.123Z",
        "apiVersion": "v1",
        "mode": "test",
        "sequence": None,
        "data": {"template": {"id": "tpl_1", "title": "Ö", "revision": 3}},
    }
