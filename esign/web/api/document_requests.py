"""The bodies of requests to the document endpoints."""

from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from esign.actions.document.holder_entries import HolderEntry
from esign.web.api.examples import (
    ADD_RECIPIENT,
    CANCEL_DOCUMENT,
    CREATE_DOCUMENT,
    DUPLICATE,
    ISSUE_LINK,
    REMIND,
)
from esign.web.values.document_values import (
    MOST_RECIPIENTS,
    AccessCode,
    Authentication,
    Days,
    ExternalId,
    Fields,
    FileContent,
    FileName,
    LinkHours,
    Locale,
    Message,
    Metadata,
    Note,
    OnSignedFile,
    Order,
    PersonName,
    RedirectUrl,
    ReminderCount,
    ReminderDays,
    RoleName,
    Subject,
    Title,
    check_field_count,
)
from esign.web.values.rules import UniqueItems
from esign.web.values.schema import Email, Schema


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

    def to_entry(self, id: str | None = None) -> HolderEntry:
        """Return the members that were given, by their names in `core`."""
        members = {name: getattr(self, name) for name in self.model_fields_set - {"id"}}
        if "fields" in members:
            members["fields"] = tuple(field.to_field("") for field in self.fields)
        return HolderEntry(members, id)


class RemindersInput(Schema):
    """Each member by itself; one that is left out is as in the settings."""

    enabled: bool | None = None
    first_after_days: ReminderDays | None = None
    every_days: ReminderDays | None = None
    max: ReminderCount | None = None

    def list_given(self) -> dict[str, Any]:
        """Return the members that were given."""
        return self.model_dump(exclude_none=True)


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

    reason: Note | None = None
    notify: bool = True


class RemindRecipients(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [REMIND]})

    recipient_ids: Annotated[tuple[str, ...], Field(max_length=1_000), UniqueItems()] | None = None
    message: Note | None = None


class DuplicateDocument(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [DUPLICATE]})

    title: Title | None = None


class IssueLink(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [ISSUE_LINK]})

    ttl_hours: LinkHours = 24
