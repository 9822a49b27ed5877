"""The bodies of requests to the document endpoints."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from esign.actions.base import stored_codes
from esign.core.document.document import Recipient, Role
from esign.core.instant import Instant
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
    first_after_days: ReminderDays | None = None
    every_days: ReminderDays | None = None
    max: ReminderCount | None = None


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
