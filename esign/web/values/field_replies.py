"""Fields in answers (contract 4)."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from esign.core.document import document as core
from esign.core.document.document import FieldType, Ink
from esign.web.values.field_options import (
    AutofillOptions,
    CheckboxOptions,
    DateOptions,
    DropdownOptions,
    InkOptions,
    Kind,
    NumberOptions,
    RadioOptions,
    TextOptions,
)
from esign.web.values.schema import Moment, Reply


class InkValue(Reply):
    """How a recipient signed; the picture itself is in the sealed file."""

    kind: Kind


class FieldReply(Reply):
    """What every field shows; its own options, which have defaults, always stand there too."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    id: str
    page: int
    x: float
    y: float
    width: float
    height: float
    key: str | None
    label: str | None
    placeholder: str | None
    required: bool
    read_only: bool
    font_size: float | None
    align: Literal["left", "center", "right"] | None
    filled_at: Moment | None


class SignatureReply(FieldReply, InkOptions):
    type: Literal["signature"]
    value: InkValue | None


class InitialsReply(FieldReply, InkOptions):
    type: Literal["initials"]
    value: InkValue | None


class DateReply(FieldReply, DateOptions):
    type: Literal["date"]
    value: str | None


class NameReply(FieldReply, AutofillOptions):
    type: Literal["name"]
    value: str | None


class EmailReply(FieldReply, AutofillOptions):
    type: Literal["email"]
    value: str | None


class TextReply(FieldReply, TextOptions):
    type: Literal["text"]
    value: str | None


class NumberReply(FieldReply, NumberOptions):
    type: Literal["number"]
    value: str | None


class CheckboxReply(FieldReply, CheckboxOptions):
    type: Literal["checkbox"]
    value: bool | None


class RadioReply(FieldReply, RadioOptions):
    type: Literal["radio"]
    value: str | None


class DropdownReply(FieldReply, DropdownOptions):
    type: Literal["dropdown"]
    value: str | None


AnyFieldReply = Annotated[
    SignatureReply
    | InitialsReply
    | DateReply
    | NameReply
    | EmailReply
    | TextReply
    | NumberReply
    | CheckboxReply
    | RadioReply
    | DropdownReply,
    Field(discriminator="type"),
]

REPLIES: Mapping[FieldType, type[FieldReply]] = {
    FieldType.SIGNATURE: SignatureReply,
    FieldType.INITIALS: InitialsReply,
    FieldType.DATE: DateReply,
    FieldType.NAME: NameReply,
    FieldType.EMAIL: EmailReply,
    FieldType.TEXT: TextReply,
    FieldType.NUMBER: NumberReply,
    FieldType.CHECKBOX: CheckboxReply,
    FieldType.RADIO: RadioReply,
    FieldType.DROPDOWN: DropdownReply,
}
COMMON = tuple(FieldReply.model_fields)


def present(field: core.Field) -> FieldReply:
    """Return the field as an answer shows it. A test validates it, not each answer."""
    shown = InkValue.model_construct(kind=field.value.kind) if isinstance(field.value, Ink) else field.value
    return REPLIES[field.type].model_construct(
        type=field.type.value,
        value=shown,
        **{name: getattr(field, name) for name in COMMON},
        **{name: field.options.get(key) for name, key in list_own_members(field.type)},
    )


@cache
def list_own_members(kind: FieldType) -> tuple[tuple[str, str], ...]:
    """Return the own members of a field type: the name of each attribute, and its key among the options."""
    return tuple(
        (name, info.serialization_alias or name)
        for name, info in REPLIES[kind].model_fields.items()
        if name not in (*COMMON, "type", "value")
    )
