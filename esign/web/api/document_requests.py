"""The bodies of requests to the document endpoints, and the rules across a list of recipients."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import AfterValidator, ConfigDict, Field

from esign.actions.base import stored_codes
from esign.core.document import document as core
from esign.core.document.challenge import Method
from esign.core.document.document import ACTING, Recipient, Role
from esign.core.errors import Detail
from esign.core.instant import Instant
from esign.core.language import Tag
from esign.system.entropy import make_id
from esign.system.vault import Vault
from esign.web.api.examples import (
    ADD_RECIPIENT,
    CANCEL_DOCUMENT,
    CREATE_DOCUMENT,
    DUPLICATE,
    ISSUE_LINK,
    REMIND,
)
from esign.web.api.field_requests import AnyFieldInput, find_group_problems
from esign.web.values.rules import FILE_NAME, HTTPS_URL, UniqueItems, check_file_name, check_https_url
from esign.web.values.schema import BoundedText, Email, Multiline, Schema, TextPattern, refusal

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
FileContent = Annotated[
    str, Field(json_schema_extra={"contentEncoding": "base64", "contentMediaType": "application/pdf"})
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
        raise refusal("length", f"At most {MOST_FIELDS} fields in all.")
    return entries


class RecipientInput(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [ADD_RECIPIENT]})

    email: Email
    name: PersonName
    role: RoleName = "signer"
    order: Order = 1
    fields: Fields = ()
    authentication: Authentication = "link"
    access_code: AccessCode | None = None
    locale: Locale | None = None

    def to_recipient(self, now: Instant, vault: Vault) -> Recipient:
        """Return the recipient with new ids for it and its fields."""
        return Recipient(
            id=make_id("rcp", now),
            email=self.email,
            name=self.name,
            role=Role(self.role),
            order=self.order,
            authentication=self.authentication,
            access_code=None
            if self.access_code is None
            else stored_codes.encode_access_code(vault, self.access_code),
            locale=self.locale,
            fields=tuple(field.to_field(make_id("fld", now)) for field in self.fields),
        )


class RemindersInput(Schema):
    """Each member by itself; one that is left out is as in the settings."""

    enabled: bool | None = None
    first_after_days: Annotated[int, Field(ge=1, le=90)] | None = None
    every_days: Annotated[int, Field(ge=1, le=90)] | None = None
    max: Annotated[int, Field(ge=0, le=10)] | None = None


NAMED = "A name is made of up to 40 letters (a to z, A to Z), digits, dots, _ and -."
MetadataKey = Annotated[str, TextPattern(r"^[A-Za-z0-9_.-]{1,40}$", NAMED)]
Metadata = Annotated[dict[MetadataKey, Annotated[str, BoundedText(0, 500)]], Field(max_length=20)]


class CreateDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [CREATE_DOCUMENT]})

    file_name: FileName
    file: FileContent
    recipients: Annotated[
        tuple[RecipientInput, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(check_field_count)
    ]
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
    on_signed_file: OnSignedFile = "refuse"


class Empty(Schema):
    """A call that takes nothing."""


class CancelDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [CANCEL_DOCUMENT]})

    reason: Annotated[str, Multiline(1_000)] | None = None
    notify: bool = True


class RemindRecipients(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [REMIND]})

    recipient_ids: Annotated[tuple[str, ...], Field(max_length=1_000), UniqueItems()] | None = None
    message: Annotated[str, Multiline(1_000)] | None = None


class DuplicateDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [DUPLICATE]})

    title: Title | None = None


class IssueLink(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [ISSUE_LINK]})

    ttl_hours: Annotated[int, Field(ge=1, le=720)] = 24


class FieldOwner(Protocol):
    """A holder of fields: a recipient, or a role of a template."""

    @property
    def role(self) -> Role: ...

    @property
    def fields(self) -> tuple[core.Field, ...]: ...


def find_list_problems(
    holders: Sequence[FieldOwner], most_holders: int, most_fields: int, place: str = "/recipients"
) -> Iterator[Detail]:
    """Yield the problems that only the whole list shows.

    They are the limits of the settings, keys that are used twice, fields of recipients who cannot hold any,
    codes, and groups of check boxes. `place` is the JSON Pointer of the list.
    """
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
        yield from find_role_problems(holder, f"{place}/{n}")
        if isinstance(holder, Recipient):
            yield from find_code_problems(holder, f"{place}/{n}")
        yield from find_group_problems(holder.fields, f"{place}/{n}")


class CodeHolder(Protocol):
    """A recipient, or the taker of a role of a template, with their way of authentication."""

    @property
    def authentication(self) -> str: ...

    @property
    def access_code(self) -> str | None: ...


def find_code_problems(who: CodeHolder, path: str) -> Iterator[Detail]:
    """Yield a problem if the access code is missing, or if one is given that will not be asked for."""
    wanted = who.authentication == Method.ACCESS_CODE
    if wanted and who.access_code is None:
        yield Detail(f"{path}/accessCode", "With access_code a code is required.", "required")
    if not wanted and who.access_code is not None:
        yield Detail(f"{path}/accessCode", "Only with access_code is a code asked for.", "reference")


def find_duplicates(names: Sequence[str | None], place: str, member: str) -> Iterator[Detail]:
    """Yield a problem for each entry of a list whose name an earlier entry has."""
    seen: set[str] = set()
    for n, name in enumerate(names):
        if name in seen:
            yield Detail(f"{place}/{n}/{member}", f"Each {member} stands once.", "duplicate")
        elif name is not None:
            seen.add(name)


def find_role_problems(holder: FieldOwner, path: str) -> Iterator[Detail]:
    """Yield a problem if a recipient who only reads or gets a copy has fields (contract 4)."""
    if holder.role not in ACTING and holder.fields:
        yield Detail(f"{path}/fields", "Only signers and approvers may hold fields.", "reference")
