"""The own members of each field type, with their defaults (contract 4). Requests and answers share them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from esign.web.values.rules import UniqueItems, simplify_number
from esign.web.values.schema import BoundedText, TextPattern

Kind = Literal["drawn", "typed", "uploaded"]
Option = Annotated[str, BoundedText(1, 200)]
Date = Annotated[
    str,
    TextPattern(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "A date such as 2026-11-21."),
    Field(examples=["2026-11-21"], json_schema_extra={"format": "date"}),
]
KINDS: tuple[Kind, ...] = ("drawn", "typed", "uploaded")


Number = Annotated[float, AfterValidator(simplify_number)]


class InkOptions(BaseModel):
    allowed: Annotated[list[Kind], Field(min_length=1, max_length=3), UniqueItems()] = list(KINDS)


class DateOptions(BaseModel):
    autofill: bool = True
    format: Literal["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "D MMM YYYY"] = "YYYY-MM-DD"
    min: Date | None = None
    max: Date | None = None


class AutofillOptions(BaseModel):
    autofill: bool = True


class TextOptions(BaseModel):
    multiline: bool = False
    min_length: Annotated[int, Field(ge=0, le=2_000)] | None = None
    max_length: Annotated[int, Field(ge=1, le=2_000)] | None = None
    pattern: Literal["none", "digits", "letters", "alphanumeric", "phone", "postal"] = "none"


class NumberOptions(BaseModel):
    min: Number | None = None
    max: Number | None = None
    decimals: Annotated[int, Field(ge=0, le=6)] | None = None


class CheckboxOptions(BaseModel):
    group: Annotated[str, BoundedText(1, 40)] | None = None
    min_checked: Annotated[int, Field(ge=0, le=500)] | None = None
    max_checked: Annotated[int, Field(ge=1, le=500)] | None = None


class RadioOptions(BaseModel):
    options: Annotated[list[Option], Field(min_length=2, max_length=50), UniqueItems()]
    layout: Literal["vertical", "horizontal"] = "vertical"


class DropdownOptions(BaseModel):
    options: Annotated[list[Option], Field(min_length=1, max_length=200), UniqueItems()]
