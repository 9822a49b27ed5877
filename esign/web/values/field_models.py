"""Fields in requests and answers (contract 4): the members of every field, and for each type its own.

A type has a class of its own members with their defaults, which its request (`…Field`) and its answer (`…Reply`)
share.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from esign.core.document import document as core
from esign.core.document.document import FieldType, Ink
from esign.core.document.field_types import InvalidValue
from esign.core.document.field_values import prefill
from esign.core.document.placement import complete_size
from esign.web.values.rules import UniqueItems, simplify_number
from esign.web.values.schema import BoundedText, Moment, Reply, Schema, TextPattern, refusal

# ---------- the members of every field ----------


KEYED = "Up to 64 letters (a to z, A to Z), digits, dots, _ and -."
FieldKey = Annotated[str, TextPattern(r"^[A-Za-z0-9_.-]{1,64}$", KEYED)]


class FieldInput(Schema):
    """A field of one type; its place is in percent of the page as displayed, from its top left corner.

    The place has no bounds here: outside the document is `field_out_of_bounds`, found when its pages are known.
    """

    page: int
    x: float
    y: float
    width: float | None = None
    height: float | None = None
    key: FieldKey | None = None
    label: Annotated[str, BoundedText(0, 100)] | None = None
    placeholder: Annotated[str, BoundedText(0, 100)] | None = None
    required: bool | None = None
    font_size: Annotated[float, Field(ge=6, le=72)] | None = None
    align: Literal["left", "center", "right"] | None = None

    required_by_default: ClassVar[bool] = True

    def to_field(self, field_id: str) -> core.Field:
        """Return the field of `core`, with its defaults and without a value."""
        kind = find_type(type(self))
        width, height = complete_size(kind, self.x, self.y, self.width, self.height)
        return core.Field(
            id=field_id,
            type=kind,
            page=self.page,
            x=self.x,
            y=self.y,
            width=width,
            height=height,
            required=self.required_by_default if self.required is None else self.required,
            key=self.key,
            label=self.label or None,
            placeholder=self.placeholder or None,
            font_size=self.font_size,
            align=self.align,
            options={key: getattr(self, name) for name, key in list_own_members(kind)},
        )


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


class WrittenField(FieldInput):
    """A field with a text, which may stand there from the start."""

    value: str | None = None
    read_only: bool = False

    def to_field(self, field_id: str) -> core.Field:
        """Return the field with its value as its type writes it.

        Raise `core.document.field_types.InvalidValue` if the value does not fit.
        """
        field = super().to_field(field_id)
        return replace(field, value=prefill(field, self.value or ""), read_only=self.read_only)

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        """Raise if the value does not fit the type, or if a read-only field has none."""
        try:
            field = self.to_field("")
        except InvalidValue as wrong:
            raise refusal(wrong.rule, wrong.message, at="value") from None
        if field.read_only and field.value is None:
            raise refusal("required", "A read-only field needs a value.", at="value")
        return self


class WrittenReply(FieldReply):
    type: str
    value: str | None


# ---------- signature and initials ----------


Kind = Literal["drawn", "typed", "uploaded"]
KINDS: tuple[Kind, ...] = ("drawn", "typed", "uploaded")


def refuse_signature(given: object) -> object:
    """Return null or false. Raise for any other value, because a signature cannot be given beforehand."""
    if given is not None and given is not False:
        raise refusal("type", "A signature can’t be prefilled.")
    return given


class InkOptions(BaseModel):
    allowed: Annotated[list[Kind], Field(min_length=1, max_length=3), UniqueItems()] = list(KINDS)


class InkField(FieldInput, InkOptions):
    """Nobody signs beforehand: `value` and `readOnly` are known only to be refused."""

    value: Annotated[None, BeforeValidator(refuse_signature)] = None
    read_only: Annotated[Literal[False], BeforeValidator(refuse_signature)] = False


class InkValue(Reply):
    """How a recipient signed; the picture itself is in the sealed file."""

    kind: Kind


class InkReply(FieldReply, InkOptions):
    type: str
    value: InkValue | None


class SignatureField(InkField):
    type: Literal["signature"]


class SignatureReply(InkReply):
    type: Literal["signature"]


class InitialsField(InkField):
    type: Literal["initials"]


class InitialsReply(InkReply):
    type: Literal["initials"]


# ---------- date ----------


Date = Annotated[
    str,
    TextPattern(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "A date such as 2026-11-21."),
    Field(examples=["2026-11-21"], json_schema_extra={"format": "date"}),
]


class DateOptions(BaseModel):
    autofill: bool = True
    format: Literal["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "D MMM YYYY"] = "YYYY-MM-DD"
    min: Date | None = None
    max: Date | None = None


class DateField(WrittenField, DateOptions):
    type: Literal["date"]

    @model_validator(mode="after")
    def _days_exist_in_order(self) -> Self:
        """Raise unless both days exist and the first is not after the last."""
        for name, text in (("min", self.min), ("max", self.max)):
            try:
                date.fromisoformat(text or "2000-01-01")
            except ValueError:
                raise refusal("format", "This date does not exist.", at=name) from None
        if self.min and self.max and self.min > self.max:
            raise refusal("range", "max lies before min.", at="max")
        return self


class DateReply(WrittenReply, DateOptions):
    type: Literal["date"]


# ---------- name and email ----------


class AutofillOptions(BaseModel):
    autofill: bool = True


class NameField(WrittenField, AutofillOptions):
    type: Literal["name"]


class NameReply(WrittenReply, AutofillOptions):
    type: Literal["name"]


class EmailField(WrittenField, AutofillOptions):
    type: Literal["email"]


class EmailReply(WrittenReply, AutofillOptions):
    type: Literal["email"]


# ---------- text ----------


class TextOptions(BaseModel):
    multiline: bool = False
    min_length: Annotated[int, Field(ge=0, le=2_000)] | None = None
    max_length: Annotated[int, Field(ge=1, le=2_000)] | None = None
    pattern: Literal["none", "digits", "letters", "alphanumeric", "phone", "postal"] = "none"


class TextField(WrittenField, TextOptions):
    type: Literal["text"]

    @model_validator(mode="after")
    def _lengths_in_order(self) -> Self:
        """Raise if the greatest length is below the least."""
        if (self.min_length or 0) > (self.max_length or 2_000):
            raise refusal("range", "maxLength is less than minLength.", at="maxLength")
        return self


class TextReply(WrittenReply, TextOptions):
    type: Literal["text"]


# ---------- number ----------


Number = Annotated[float, AfterValidator(simplify_number)]


class NumberOptions(BaseModel):
    min: Number | None = None
    max: Number | None = None
    decimals: Annotated[int, Field(ge=0, le=6)] | None = None


class NumberField(WrittenField, NumberOptions):
    type: Literal["number"]

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        """Raise if the greatest number is below the least."""
        if self.min is not None and self.max is not None and self.min > self.max:
            raise refusal("range", "max is less than min.", at="max")
        return self


class NumberReply(WrittenReply, NumberOptions):
    type: Literal["number"]


# ---------- checkbox ----------


class CheckboxOptions(BaseModel):
    group: Annotated[str, BoundedText(1, 40)] | None = None
    min_checked: Annotated[int, Field(ge=0, le=500)] | None = None
    max_checked: Annotated[int, Field(ge=1, le=500)] | None = None


class CheckboxField(FieldInput, CheckboxOptions):
    type: Literal["checkbox"]
    required_by_default = False
    value: bool | None = None
    read_only: bool = False

    def to_field(self, field_id: str) -> core.Field:
        """Return the field with its value."""
        return replace(super().to_field(field_id), value=self.value, read_only=self.read_only)

    @model_validator(mode="after")
    def _counts_have_a_group(self) -> Self:
        """Raise if a read-only box has no value, or if limits are given without a group."""
        if self.read_only and self.value is None:
            raise refusal("required", "A read-only field needs a value.", at="value")
        if self.group is None and (self.min_checked is not None or self.max_checked is not None):
            raise refusal("required", "minChecked and maxChecked count over a group.", at="group")
        return self


class CheckboxReply(FieldReply, CheckboxOptions):
    type: Literal["checkbox"]
    value: bool | None


# ---------- radio and dropdown ----------


Option = Annotated[str, BoundedText(1, 200)]


class RadioOptions(BaseModel):
    options: Annotated[list[Option], Field(min_length=2, max_length=50), UniqueItems()]
    layout: Literal["vertical", "horizontal"] = "vertical"


class RadioField(WrittenField, RadioOptions):
    type: Literal["radio"]


class RadioReply(WrittenReply, RadioOptions):
    type: Literal["radio"]


class DropdownOptions(BaseModel):
    options: Annotated[list[Option], Field(min_length=1, max_length=200), UniqueItems()]


class DropdownField(WrittenField, DropdownOptions):
    type: Literal["dropdown"]


class DropdownReply(WrittenReply, DropdownOptions):
    type: Literal["dropdown"]


# ---------- all types ----------


AnyFieldInput = Annotated[
    SignatureField
    | InitialsField
    | DateField
    | NameField
    | EmailField
    | TextField
    | NumberField
    | CheckboxField
    | RadioField
    | DropdownField,
    Field(discriminator="type"),
]
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


@cache
def find_type(model: type[BaseModel]) -> FieldType:
    """Return the type of the fields that the model describes."""
    [name] = get_args(model.model_fields["type"].annotation)
    return FieldType(name)


INPUTS: Mapping[FieldType, type[FieldInput]] = {
    find_type(model): model for model in get_args(get_args(AnyFieldInput)[0])
}
REPLIES: Mapping[FieldType, type[FieldReply]] = {
    find_type(model): model for model in get_args(get_args(AnyFieldReply)[0])
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
