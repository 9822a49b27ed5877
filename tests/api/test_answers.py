"""The answers about documents are built without validation, for speed, so it is done here."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from esign.core.document.document import Field, FieldType, Ink, MailDelivery, RecipientStatus, Status
from esign.core.document.summary import summarize
from esign.web.api.document_list_reply import present_page
from esign.web.api.document_replies import present
from esign.web.api.paging import FoundPage
from esign.web.values.field_models import AnyFieldInput
from tests.api import described
from tests.factories import NOW, a_document, a_recipient, a_seal

REQUEST: TypeAdapter[Any] = TypeAdapter(AnyFieldInput)
VALUES: dict[FieldType, Any] = {
    **dict.fromkeys(FieldType, "some text"),
    FieldType.SIGNATURE: Ink("drawn", "5e" * 32, 10, 10),
    FieldType.INITIALS: Ink("typed", text="JL", hand="a"),
    FieldType.CHECKBOX: True,
}


def every_field() -> tuple[Field, ...]:
    """Each type empty and filled in, with its options as a request leaves them."""
    made = []
    for kind in FieldType:
        given: dict[str, Any] = {"type": kind.value, "page": 1, "x": 1, "y": 1}
        if kind in (FieldType.RADIO, FieldType.DROPDOWN):
            given["options"] = ["a", "b"]
        plain = REQUEST.validate_python(given).to_field("fld_1")
        filled = replace(
            plain, value=VALUES[kind], filled_at=NOW, font_size=9.5, align="left", key=kind.value
        )
        made += [plain, filled]
    return tuple(made)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("person", RecipientStatus)
def test_an_answer_fits_its_model_in_every_state(status: Status, person: RecipientStatus) -> None:
    recipients = (
        a_recipient(status=person, fields=every_field(), delivery=delivery, delivery_at=NOW)
        for delivery in MailDelivery
    )
    document = a_document(*recipients, status=status, seal_error="no room", metadata={"a": "b"})
    page = from_json(present_page(FoundPage([summarize(document)], None)).body)
    whole = from_json(to_json(present(document), by_alias=True))
    for recipient in whole["recipients"]:
        del recipient["fields"]
    assert list(page["data"][0].items()) == list(whole.items()), "a list shows the same, in the same order"
    assert [[*one] for one in page["data"][0]["recipients"]] == [[*one] for one in whole["recipients"]]
    for model, body in (
        ("DocumentReply", from_json(to_json(present(document), by_alias=True))),
        ("DocumentSummary", page["data"][0]),
    ):
        faults = list(described.validator("components", "schemas", model).iter_errors(body))
        assert not faults, faults[0]
        assert (body["seal"] is None) is (status is not Status.COMPLETED)


@pytest.mark.parametrize("field", every_field(), ids=lambda field: field.type)
def test_a_field_shows_the_common_members_and_those_of_its_type_and_no_other(field: Field) -> None:
    common = {
        "id", "type", "page", "x", "y", "width", "height", "key", "label", "placeholder", "required",
        "readOnly", "value", "fontSize", "align", "filledAt",
    }  # fmt: skip
    shown = from_json(to_json(present(a_document(a_recipient(fields=(field,)))), by_alias=True))
    assert shown["recipients"][0]["fields"][0].keys() == common | OWN[field.type]


OWN: dict[FieldType, set[str]] = {
    FieldType.SIGNATURE: {"allowed"},
    FieldType.INITIALS: {"allowed"},
    FieldType.DATE: {"autofill", "format", "min", "max"},
    FieldType.NAME: {"autofill"},
    FieldType.EMAIL: {"autofill"},
    FieldType.TEXT: {"multiline", "minLength", "maxLength", "pattern"},
    FieldType.NUMBER: {"min", "max", "decimals"},
    FieldType.CHECKBOX: {"group", "minChecked", "maxChecked"},
    FieldType.RADIO: {"options", "layout"},
    FieldType.DROPDOWN: {"options"},
}


def test_a_signature_shows_how_it_was_made_and_not_the_picture() -> None:
    filled = next(f for f in every_field() if f.type is FieldType.SIGNATURE and f.value)
    shown = from_json(to_json(present(a_document(a_recipient(fields=(filled,)))), by_alias=True))
    assert shown["recipients"][0]["fields"][0]["value"] == {"kind": "drawn"}


def test_the_seal_shows_exactly_its_members() -> None:
    shown = from_json(to_json(present(a_document(status=Status.COMPLETED, seal=a_seal())), by_alias=True))
    assert shown["seal"].keys() == {
        "level", "levelAsked", "sealedAt", "sha256", "size", "pageCount", "timestamped", "timestamp",
        "certificateSha256"
    }  # fmt: skip
