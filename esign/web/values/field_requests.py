"""Fields in requests (contract 4): the common members, the members of each type, and the rules between members."""

from dataclasses import replace
from datetime import date
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from esign.core.document import document as core
from esign.core.document.document import FieldType
from esign.core.document.field_types import InvalidValue
from esign.core.document.field_values import prefill
from esign.core.document.placement import complete_size
from esign.web.values.field_options import (
    AutofillOptions,
    CheckboxOptions,
    DateOptions,
    DropdownOptions,
    InkOptions,
    NumberOptions,
    RadioOptions,
    TextOptions,
)
from esign.web.values.schema import BoundedText, Schema, TextPattern, refusal

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

    kind: ClassVar[FieldType]
    own: ClassVar[type[BaseModel]]
    required_by_default: ClassVar[bool] = True

    def to_field(self, field_id: str) -> core.Field:
        """Return the field of `core`, with its defaults and without a value."""
        width, height = complete_size(self.kind, self.x, self.y, self.width, self.height)
        return core.Field(
            id=field_id,
            type=self.kind,
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
            options={
                info.alias or name: getattr(self, name)
                for name, info in type(self).model_fields.items()
                if name in self.own.model_fields
            },
        )


def refuse_signature(given: object) -> object:
    """Return null or false. Raise for any other value, because a signature cannot be given beforehand."""
    if given is not None and given is not False:
        raise refusal("type", "Nobody signs beforehand.")
    return given


class InkField(FieldInput, InkOptions):
    """Nobody signs beforehand: `value` and `readOnly` are known only to be refused."""

    own = InkOptions
    value: Annotated[None, BeforeValidator(refuse_signature)] = None
    read_only: Annotated[Literal[False], BeforeValidator(refuse_signature)] = False


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


# ---------- the types ----------


class SignatureField(InkField):
    type: Literal["signature"]
    kind = FieldType.SIGNATURE


class InitialsField(InkField):
    type: Literal["initials"]
    kind = FieldType.INITIALS


class DateField(WrittenField, DateOptions):
    type: Literal["date"]
    kind, own = FieldType.DATE, DateOptions

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


class NameField(WrittenField, AutofillOptions):
    type: Literal["name"]
    kind, own = FieldType.NAME, AutofillOptions


class EmailField(WrittenField, AutofillOptions):
    type: Literal["email"]
    kind, own = FieldType.EMAIL, AutofillOptions


class TextField(WrittenField, TextOptions):
    type: Literal["text"]
    kind, own = FieldType.TEXT, TextOptions

    @model_validator(mode="after")
    def _lengths_in_order(self) -> Self:
        """Raise if the greatest length is below the least."""
        if (self.min_length or 0) > (self.max_length or 2_000):
            raise refusal("range", "maxLength is less than minLength.", at="maxLength")
        return self


class NumberField(WrittenField, NumberOptions):
    type: Literal["number"]
    kind, own = FieldType.NUMBER, NumberOptions

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        """Raise if the greatest number is below the least."""
        if self.min is not None and self.max is not None and self.min > self.max:
            raise refusal("range", "max is less than min.", at="max")
        return self


class CheckboxField(FieldInput, CheckboxOptions):
    type: Literal["checkbox"]
    kind, own = FieldType.CHECKBOX, CheckboxOptions
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


class RadioField(WrittenField, RadioOptions):
    type: Literal["radio"]
    kind, own = FieldType.RADIO, RadioOptions


class DropdownField(WrittenField, DropdownOptions):
    type: Literal["dropdown"]
    kind, own = FieldType.DROPDOWN, DropdownOptions


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
