"""What the document endpoints take."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, ConfigDict, Field

from esign.core import document as core
from esign.core.document import Recipient, Role
from esign.core.errors import Detail
from esign.core.instant import Instant
from esign.entropy import new_id
from esign.web.api.examples import CANCEL_DOCUMENT, CREATE_DOCUMENT, DUPLICATE, ISSUE_LINK, REMIND
from esign.web.api.field_requests import AnyFieldInput, group_problems
from esign.web.api.paging import Paging
from esign.web.api.rules import file_name, https_url, once
from esign.web.schema import Email, Line, Multiline, Schema

# What recipients may be, and how they prove who they are; templates take the same.
RoleName = Literal["signer"]
Authentication = Literal["link"]
Locale = Literal["en"]
FileName = Annotated[str, Line(1, 255), AfterValidator(file_name)]
FileContent = Annotated[
    str, Field(json_schema_extra={"contentEncoding": "base64", "contentMediaType": "application/pdf"})
]
Title = Annotated[str, Line(1, 200)]
Subject = Annotated[str, Line(0, 200)]
Message = Annotated[str, Multiline(5_000)]
Days = Annotated[int, Field(ge=1, le=365)]
Order = Annotated[int, Field(ge=1, le=100)]
PersonName = Annotated[str, Line(1, 200)]
RedirectUrl = Annotated[str, Line(1, 2_048), AfterValidator(https_url)]
ExternalId = Annotated[str, Line(0, 200)]


class RecipientInput(Schema):
    email: Email
    name: PersonName
    role: RoleName = "signer"
    order: Order = 1
    fields: tuple[AnyFieldInput, ...] = ()
    authentication: Authentication = "link"
    locale: Locale | None = None

    def to_recipient(self, now: Instant) -> Recipient:
        return Recipient(
            id=new_id("rcp", now),
            email=self.email,
            name=self.name,
            role=Role(self.role),
            order=self.order,
            authentication=self.authentication,
            locale=self.locale,
            fields=tuple(field.to_field(new_id("fld", now)) for field in self.fields),
        )


class RemindersInput(Schema):
    """Each member by itself; one that is left out is as in the settings."""

    enabled: bool | None = None
    first_after_days: Annotated[int, Field(ge=1, le=90)] | None = None
    every_days: Annotated[int, Field(ge=1, le=90)] | None = None
    max: Annotated[int, Field(ge=0, le=10)] | None = None


MetadataKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]
Metadata = Annotated[dict[MetadataKey, Annotated[str, Line(0, 500)]], Field(max_length=20)]


class CreateDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [CREATE_DOCUMENT]})

    file_name: FileName
    file: FileContent
    recipients: tuple[RecipientInput, ...]
    title: Title | None = None
    subject: Subject | None = None
    message: Message | None = None
    expires_in_days: Days | None = None
    reminders: RemindersInput | None = None
    redirect_url: RedirectUrl | None = None
    locale: Locale | None = None
    external_id: ExternalId | None = None
    metadata: Metadata | None = None
    send: bool = False


class Empty(Schema):
    """A call that takes nothing."""


class CancelDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [CANCEL_DOCUMENT]})

    reason: Annotated[str, Multiline(1_000)] | None = None
    notify: bool = True


class RemindRecipients(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [REMIND]})

    recipient_ids: Annotated[tuple[str, ...], Field(max_length=1_000), AfterValidator(once)] | None = None
    message: Annotated[str, Multiline(1_000)] | None = None


class DuplicateDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [DUPLICATE]})

    title: Annotated[str, Line(1, 200)] | None = None


class IssueLink(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [ISSUE_LINK]})

    ttl_hours: Annotated[int, Field(ge=1, le=720)] = 24


class DocumentList(Paging):
    status: Annotated[
        str | None, Field(description="Statuses, separated by commas.", examples=["sent,sealing"])
    ] = None


class Holder(Protocol):
    """Somebody with fields: a recipient, or a role of a template."""

    @property
    def fields(self) -> tuple[core.Field, ...]: ...


def problems_across(
    holders: Sequence[Holder], most_holders: int, most_fields: int, place: str = "/recipients"
) -> Iterator[Detail]:
    """What only the whole list tells: limits of the settings, keys that must differ, groups of check boxes."""
    if len(holders) > most_holders:
        yield Detail(place, f"At most {most_holders} {place[1:]}.", "length")
    if sum(len(holder.fields) for holder in holders) > most_fields:
        yield Detail(place, f"At most {most_fields} fields in all.", "length")
    seen: set[str | None] = set()
    for n, holder in enumerate(holders):
        for m, field in enumerate(holder.fields):
            if field.key in seen and field.key is not None:
                yield Detail(f"{place}/{n}/fields/{m}/key", "Each key stands once.", "duplicate")
            seen.add(field.key)
        yield from group_problems(holder.fields, f"{place}/{n}")
