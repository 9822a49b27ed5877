"""The bases of all models of requests and answers, and the types of text, number and time in them.

Values of a request are never converted: a string is not a number and not a boolean. An answer is built by the
names of its attributes and written in camelCase.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, LiteralString, TypeVar

import idna
from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from esign.core import instant
from esign.core.instant import Instant

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
# The same as patterns of JSON Schema, which uses the escapes of ECMAScript.
LINE = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$"
LINES = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029]*$"
UNKNOWN_MEMBERS = 100
SLICE = 2**16  # characters that are searched at a time; other threads may run in between


def refusal(rule: LiteralString, message: str, at: str | tuple[str, ...] = "") -> PydanticCustomError:
    """Return the error that a validator raises.

    `rule` is a rule of contract 6, `message` says what is wrong, and `at` names the member or members, if any.
    """
    return PydanticCustomError(rule, "{message}", {"message": message, "at": at})


def make_strict(schema: CoreSchema) -> CoreSchema:
    """Return the schema with numbers and booleans strict.

    It changes the schema in place. Texts, lists and objects are strict enough already.
    """
    if isinstance(schema, dict):
        if schema.get("type") in ("int", "float", "bool"):
            schema["strict"] = True
        for inner in schema.values():
            make_strict(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            make_strict(inner)
    return schema


class Schema(BaseModel):
    """Base of every request body and object inside one: `null` for an optional member means absent."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)
    null_is_absent: ClassVar[bool] = True

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return make_strict(handler(source))

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, given: object) -> object:
        """Return the object without optional members that are `null`. Raise if it has far too many members."""
        if not isinstance(given, dict):
            return given
        if len(given) > len(cls.model_fields) + UNKNOWN_MEMBERS:
            raise refusal("unknown_member", "This object has far too many members.")
        if not cls.null_is_absent or None not in given.values():
            return given
        optional = {field.alias for field in cls.model_fields.values() if not field.is_required()}
        return {name: value for name, value in given.items() if value is not None or name not in optional}


class Patch(Schema):
    """Base of a PATCH body: absent means unchanged (see `model_fields_set`), `null` means cleared."""

    null_is_absent: ClassVar[bool] = False


class QueryParameters(BaseModel):
    """Base of query parameters, which are text: give each a type that reads text, such as `Limit`."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)


class Reply(BaseModel):
    """Base of every answer: built by the names of its attributes, written in camelCase, nothing left out."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=AliasGenerator(serialization_alias=to_camel),
        defer_build=True,
    )


R = TypeVar("R", bound=Reply)


@dataclass(frozen=True, slots=True)
class WrittenReply(Generic[R]):
    """An answer that was written as JSON without its model `R`, which only describes it."""

    body: bytes


@dataclass(frozen=True, slots=True)
class BoundedText:
    """One line of text, trimmed, with its length in code points: `Annotated[str, Line(1, 200)]`."""

    least: int = 0
    most: int | None = None
    refused: re.Pattern[str] = CONTROL

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.str_schema(
            strict=True, strip_whitespace=True, min_length=self.least or None, max_length=self.most
        )
        return core_schema.no_info_before_validator_function(self.check, text)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "pattern": LINES if self.refused is CONTROL_BUT_LINES else LINE}

    def check(self, given: object) -> object:
        """Refuse a text with characters that are not allowed. Return the value unchanged."""
        if isinstance(given, str) and has_character(self.refused, given):
            raise refusal("format", "Control characters and line separators are not allowed here.")
        return given


def has_character(refused: re.Pattern[str], text: str) -> bool:
    """Return whether the text has a character that the pattern describes. It searches a long text in slices."""
    if len(text) <= SLICE:
        return refused.search(text) is not None
    return any(refused.search(text, at, at + SLICE) for at in range(0, len(text), SLICE))


@dataclass(frozen=True, slots=True)
class TextPattern:
    """Text of a pattern, with a sentence for people: `Annotated[str, TextPattern(r"^[a-z]{4}$", "Four letters.")]`."""

    pattern: str
    sentence: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}

    def check(self, given: object) -> object:
        """Refuse a text that does not match the pattern. Return the value unchanged."""
        if isinstance(given, str) and not re.fullmatch(self.pattern, given):
            raise refusal("format", self.sentence)
        return given


def Multiline(most: int) -> BoundedText:
    """Return the type of a text that may have line breaks and tabs: `Annotated[str, Multiline(5000)]`."""
    return BoundedText(0, most, CONTROL_BUT_LINES)


ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u00a1-\U0010ffff-]+")
LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")


def check_email(text: str) -> str:
    """Return the address if it is one of RFC 5321 or 6531: atoms before the @, and a domain with a dot behind it."""
    wrong = refusal("format", "An email address such as ana@example.com.")
    local, _, domain = text.rpartition("@")
    if len(local.encode()) > 64 or not all(ATOM.fullmatch(part) for part in local.split(".")):
        raise wrong
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode()
        except (idna.IDNAError, UnicodeError):
            raise wrong from None
    labels = domain.split(".")
    if len(labels) < 2 or len(domain) > 253 or not all(map(LABEL.fullmatch, labels)) or labels[-1].isdigit():
        raise wrong
    return text


@dataclass(frozen=True, slots=True)
class TextRule:
    """A further rule on a text that `first` has accepted, with its name in OpenAPI."""

    first: BoundedText
    rule: Callable[[str], Any]
    format: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = self.first.__get_pydantic_core_schema__(source, handler)
        return core_schema.no_info_after_validator_function(self.rule, text)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "format": self.format}


RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)")


def parse_timestamp(text: str) -> Instant:
    """Return the instant of an RFC 3339 time."""
    try:
        if RFC3339.fullmatch(text):
            return instant.parse(text.upper())
    except ValueError:
        pass
    raise refusal("format", "A time such as 2026-11-21T00:14:00Z.")


WHOLE = re.compile("0|[1-9][0-9]{0,8}")


def parse_digits(text: object) -> object:
    """Return a whole number of a query: only digits, and no leading zero."""
    if isinstance(text, str) and WHOLE.fullmatch(text):
        return int(text)
    raise refusal("type", "A whole number.")


Email = Annotated[str, TextRule(BoundedText(1, 254), check_email, "email")]
Timestamp = Annotated[Instant, TextRule(BoundedText(1, 40), parse_timestamp, "date-time")]
"""A time in a request, as the instant it names."""
Moment = Annotated[
    Instant,
    PlainSerializer(instant.rfc3339, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-21T00:14:00.123Z"]}),
]
"""An instant in an answer, as a time."""
Limit = Annotated[Annotated[int, Field(ge=1, le=100)], BeforeValidator(parse_digits)]
"""`?limit` of a list."""
