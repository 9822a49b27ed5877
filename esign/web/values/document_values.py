"""The types of the members of documents, their recipients, and templates (contract 3.2, 3.3)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import AfterValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from esign.core.language import Tag
from esign.core.sentence import say
from esign.web.http.encoded_file import EncodedFile
from esign.web.values.field_models import AnyFieldInput
from esign.web.values.rules import FILE_NAME, HTTPS_URL, check_file_name, check_https_url
from esign.web.values.schema import BoundedText, Multiline, TextPattern, refusal

# The most that the settings can allow. A longer list is refused before anything is made from its entries.
MOST_RECIPIENTS, MOST_FIELDS = 500, 10_000

# The roles of recipients and their ways of authentication. Templates take the same.
RoleName = Literal["signer", "approver", "viewer", "cc"]
Authentication = Literal["link", "email_code", "access_code"]
AccessCode = Annotated[
    str,
    BoundedText(4, 64),
    Field(
        description="Agreed upon with the recipient beforehand; stored as a mac and never shown again.",
        json_schema_extra={"writeOnly": True},
    ),
]
Locale = Tag
OnSignedFile = Literal["refuse"]  # keeping a signed file byte for byte would need another way of sealing
FileName = Annotated[
    str, BoundedText(1, 255), AfterValidator(check_file_name), Field(json_schema_extra=FILE_NAME)
]


class EncodedText:
    """A text in base64, or the file that was decoded from it while the body was parsed."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(keep_decoded, core_schema.str_schema())


def keep_decoded(given: object, check: Any) -> Any:
    """Return a decoded file as it is, and anything else checked as a text."""
    return given if isinstance(given, EncodedFile) else check(given)


FileContent = Annotated[
    str | EncodedFile,
    EncodedText(),
    Field(json_schema_extra={"contentEncoding": "base64", "contentMediaType": "application/pdf"}),
]
Title = Annotated[str, BoundedText(1, 200)]
Subject = Annotated[str, BoundedText(0, 200)]
Message = Annotated[str, Multiline(5_000)]
Days = Annotated[int, Field(ge=1, le=365)]
Order = Annotated[int, Field(ge=1, le=100)]
PersonName = Annotated[str, BoundedText(1, 200)]
RedirectUrl = Annotated[
    str, BoundedText(1, 2_048), AfterValidator(check_https_url), Field(json_schema_extra=HTTPS_URL)
]
ExternalId = Annotated[str, BoundedText(0, 200)]
Note = Annotated[str, Multiline(1_000)]
LinkHours = Annotated[int, Field(ge=1, le=720)]
ObjectId = Annotated[str, BoundedText(1, 64)]
SearchText = Annotated[str, BoundedText(1, 100)]
SimulatedAct = Literal["view", "complete", "decline", "bounce", "expire", "remind"]
ReminderDays = Annotated[int, Field(ge=1, le=90)]
ReminderCount = Annotated[int, Field(ge=0, le=10)]
RoleKey = Annotated[str, TextPattern(r"^[a-z0-9_]{1,40}$", "Up to 40 small letters (a to z), digits and _.")]
NAMED = "A name is made of up to 40 letters (a to z, A to Z), digits, dots, _ and -."
MetadataKey = Annotated[str, TextPattern(r"^[A-Za-z0-9_.-]{1,40}$", NAMED)]
Metadata = Annotated[dict[MetadataKey, Annotated[str, BoundedText(0, 500)]], Field(max_length=20)]
Fields = Annotated[tuple[AnyFieldInput, ...], Field(max_length=MOST_FIELDS)]


class FieldedEntry(Protocol):
    """An entry that may have fields."""

    @property
    def fields(self) -> tuple[AnyFieldInput, ...] | None: ...


Entries = TypeVar("Entries", bound=Sequence[FieldedEntry])


def check_field_count(entries: Entries) -> Entries:
    """Return the entries unchanged.

    Raise, before fields are made from them, if they have more fields in all than the settings can allow.
    """
    if sum(len(entry.fields or ()) for entry in entries) > MOST_FIELDS:
        raise refusal(
            "length", say("At most {n} fields in all.", one="At most {n} field in all.", n=MOST_FIELDS)
        )
    return entries
