"""Fields as requests write them and answers show them (contract 4): what is common, and each type's own."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, JsonValue, model_validator

from esign.core import document as core
from esign.core.document import FieldType, Ink
from esign.core.errors import Detail
from esign.core.placement import sized
from esign.core.value import CHECKS, Wrong
from esign.web.schema import Line, Moment, Reply, Schema, refusal

Kind = Literal["drawn", "typed", "uploaded"]
Option = Annotated[str, Line(1, 200)]
Date = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples=["2026-11-21"])]
ALL_KINDS: tuple[Kind, ...] = ("drawn", "typed", "uploaded")


# ---------- the extra properties of each type, with their defaults ----------


class InkExtras(BaseModel):
    allowed: Annotated[tuple[Kind, ...], Field(min_length=1, max_length=3)] = ALL_KINDS


class DateExtras(BaseModel):
    autofill: bool = True
    format: Literal["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "D MMM YYYY"] = "YYYY-MM-DD"
    min: Date | None = None
    max: Date | None = None


class AutofillExtras(BaseModel):
    autofill: bool = True


class TextExtras(BaseModel):
    multiline: bool = False
    min_length: Annotated[int, Field(ge=0, le=2_000)] | None = None
    max_length: Annotated[int, Field(ge=1, le=2_000)] | None = None
    pattern: Literal["none", "digits", "letters", "alphanumeric", "phone", "postal"] = "none"


class NumberExtras(BaseModel):
    min: float | None = None
    max: float | None = None
    decimals: Annotated[int, Field(ge=0, le=6)] | None = None


class CheckboxExtras(BaseModel):
    group: Annotated[str, Line(1, 40)] | None = None
    min_checked: Annotated[int, Field(ge=0, le=500)] | None = None
    max_checked: Annotated[int, Field(ge=1, le=500)] | None = None


class RadioExtras(BaseModel):
    options: Annotated[tuple[Option, ...], Field(min_length=2, max_length=50)]
    layout: Literal["vertical", "horizontal"] = "vertical"


class DropdownExtras(BaseModel):
    options: Annotated[tuple[Option, ...], Field(min_length=1, max_length=200)]


# ---------- requests ----------


class FieldInput(Schema):
    """What every field takes; the place is in percent of the page as displayed, from its top left corner."""

    page: int
    x: float
    y: float
    width: float | None = None
    height: float | None = None
    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] | None = None
    label: Annotated[str, Line(1, 100)] | None = None
    placeholder: Annotated[str, Line(1, 100)] | None = None
    required: bool | None = None
    read_only: bool = False
    value: JsonValue = None
    font_size: Annotated[float, Field(ge=6, le=72)] | None = None
    align: Literal["left", "center", "right"] | None = None

    required_by_default: ClassVar[bool] = True
    extras: ClassVar[type[BaseModel]]

    def to_field(self, field_id: str) -> core.Field:
        """The field of the rules, its defaults put in."""
        kind = FieldType(self.type)  # type: ignore[attr-defined]  # every type of field declares its own `type`
        width, height = sized(kind, self.x, self.y, self.width, self.height)
        own = {
            (info.alias or name): getattr(self, name)
            for name, info in type(self).model_fields.items()
            if name in self.extras.model_fields
        }
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
            label=self.label,
            placeholder=self.placeholder,
            read_only=self.read_only,
            value=self.value,  # type: ignore[arg-type]  # `_value_fits` let only values of the type through
            font_size=self.font_size,
            align=self.align,
            options=own,
        )

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        kind = self.type  # type: ignore[attr-defined]
        if kind in ("signature", "initials"):
            if self.value is not None or self.read_only:
                raise refusal("format", "A signature cannot be filled in beforehand.", at="value")
            return self
        if self.read_only and self.value is None:
            raise refusal("required", "A read-only field needs a value.", at="value")
        if self.value is not None:
            self._check_value(kind)
        return self

    def _check_value(self, kind: str) -> None:
        if kind == "checkbox":
            if not isinstance(self.value, bool):
                raise refusal("type", "true or false.", at="value")
            return
        try:
            CHECKS[FieldType(kind)](self.to_field(""), self.value)
        except Wrong as wrong:
            raise refusal(_rule(wrong.rule), wrong.message, at="value") from None


def _rule(rule: str) -> Any:
    return rule


class SignatureField(FieldInput, InkExtras):
    type: Literal["signature"]
    extras = InkExtras


class InitialsField(FieldInput, InkExtras):
    type: Literal["initials"]
    extras = InkExtras


class DateField(FieldInput, DateExtras):
    type: Literal["date"]
    extras = DateExtras

    @model_validator(mode="after")
    def _dates_exist_in_order(self) -> Self:
        for name in ("min", "max"):
            try:
                date.fromisoformat(getattr(self, name) or "2000-01-01")
            except ValueError:
                raise refusal("format", "This date does not exist.", at=name) from None
        if self.min and self.max and self.min > self.max:
            raise refusal("range", "max lies before min.", at="max")
        return self


class NameField(FieldInput, AutofillExtras):
    type: Literal["name"]
    extras = AutofillExtras


class EmailField(FieldInput, AutofillExtras):
    type: Literal["email"]
    extras = AutofillExtras


class TextField(FieldInput, TextExtras):
    type: Literal["text"]
    extras = TextExtras

    @model_validator(mode="after")
    def _lengths_in_order(self) -> Self:
        if (self.min_length or 0) > (self.max_length or 2_000):
            raise refusal("range", "maxLength is less than minLength.", at="maxLength")
        return self


class NumberField(FieldInput, NumberExtras):
    type: Literal["number"]
    extras = NumberExtras

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise refusal("range", "max is less than min.", at="max")
        return self


class CheckboxField(FieldInput, CheckboxExtras):
    type: Literal["checkbox"]
    required_by_default = False
    extras = CheckboxExtras

    @model_validator(mode="after")
    def _counts_have_a_group(self) -> Self:
        if self.group is None and (self.min_checked is not None or self.max_checked is not None):
            raise refusal("required", "minChecked and maxChecked count over a group.", at="group")
        if (
            self.min_checked is not None
            and self.max_checked is not None
            and self.min_checked > self.max_checked
        ):
            raise refusal("range", "maxChecked is less than minChecked.", at="maxChecked")
        return self


class RadioField(FieldInput, RadioExtras):
    type: Literal["radio"]
    extras = RadioExtras

    @model_validator(mode="after")
    def _options_differ(self) -> Self:
        unique(self.options)
        return self


class DropdownField(FieldInput, DropdownExtras):
    type: Literal["dropdown"]
    extras = DropdownExtras

    @model_validator(mode="after")
    def _options_differ(self) -> Self:
        unique(self.options)
        return self


def unique(options: tuple[str, ...]) -> None:
    if len(set(options)) < len(options):
        raise refusal("duplicate", "Each option stands once.", at="options")


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


def group_problems(fields: list[core.Field], path: str) -> list[Detail]:
    """A group cannot ask for more ticks than it has boxes."""
    groups: dict[str, list[tuple[int, core.Field]]] = {}
    for n, field in enumerate(fields):
        if field.options.get("group"):
            groups.setdefault(field.options["group"], []).append((n, field))
    return [
        Detail(f"{path}/fields/{n}/minChecked", f"The group has only {len(boxes)} boxes.", "range")
        for boxes in groups.values()
        for n, field in boxes
        if (field.options.get("minChecked") or 0) > len(boxes)
    ]


# ---------- answers ----------


class InkValue(Reply):
    """How a recipient signed; the picture itself is in the sealed file."""

    kind: Kind


class FieldReply(Reply):
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


class SignatureReply(FieldReply, InkExtras):
    type: Literal["signature"]
    value: InkValue | None


class InitialsReply(FieldReply, InkExtras):
    type: Literal["initials"]
    value: InkValue | None


class DateReply(FieldReply, DateExtras):
    type: Literal["date"]
    value: str | None


class NameReply(FieldReply, AutofillExtras):
    type: Literal["name"]
    value: str | None


class EmailReply(FieldReply, AutofillExtras):
    type: Literal["email"]
    value: str | None


class TextReply(FieldReply, TextExtras):
    type: Literal["text"]
    value: str | None


class NumberReply(FieldReply, NumberExtras):
    type: Literal["number"]
    value: str | None


class CheckboxReply(FieldReply, CheckboxExtras):
    type: Literal["checkbox"]
    value: bool | None


class RadioReply(FieldReply, RadioExtras):
    type: Literal["radio"]
    value: str | None


class DropdownReply(FieldReply, DropdownExtras):
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


def present(field: core.Field) -> Any:
    """The field as an answer shows it."""
    value = InkValue(kind=field.value.kind) if isinstance(field.value, Ink) else field.value  # type: ignore[arg-type]  # Ink.kind is one of Kind
    model = REPLIES[field.type]
    return model.model_construct(
        id=field.id,
        type=field.type.value,
        page=field.page,
        x=field.x,
        y=field.y,
        width=field.width,
        height=field.height,
        key=field.key,
        label=field.label,
        placeholder=field.placeholder,
        required=field.required,
        read_only=field.read_only,
        value=value,
        font_size=field.font_size,
        align=field.align,
        filled_at=field.filled_at,
        **{name: field.options.get(info.serialization_alias or name) for name, info in own_members(model)},
    )


def own_members(model: type[FieldReply]) -> list[tuple[str, Any]]:
    """The extra properties of one type, by name."""
    return [
        (n, i)
        for n, i in model.model_fields.items()
        if n not in FieldReply.model_fields and n not in ("type", "value")
    ]
