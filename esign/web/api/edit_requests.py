"""The bodies of requests that change a document or one of its recipients (contract 3.2, PATCH body)."""

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from esign.web.api import examples
from esign.web.api.document_requests import RecipientInput, RemindersInput
from esign.web.values.document_values import (
    MOST_RECIPIENTS,
    Days,
    ExternalId,
    FileContent,
    FileName,
    Locale,
    Message,
    Metadata,
    OnSignedFile,
    PersonName,
    RedirectUrl,
    Subject,
    Title,
    check_field_count,
)
from esign.web.values.schema import Email, Patch, Timestamp, refusal


class RecipientChange(RecipientInput):
    """A recipient as it shall be; members that are left out stay as they are."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CHANGE_RECIPIENT]})
    null_is_absent: ClassVar[bool] = False

    email: Annotated[Email, Field(default_factory=str)]
    name: Annotated[PersonName, Field(default_factory=str)]

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_defaults(cls, given: object) -> object:
        """Replace `null` by the default of the member. Email and name have none, so there `null` is refused."""
        if not isinstance(given, dict):
            return given
        members = cls.model_fields.values()
        defaults = {member.alias: member.default for member in members if member.default_factory is None}
        return {n: defaults[n] if value is None and n in defaults else value for n, value in given.items()}


class RecipientEntry(RecipientChange):
    """One of the list: with `id` somebody who is there already, without one somebody new."""

    id: str | None = None

    @model_validator(mode="after")
    def _is_whole_when_new(self) -> Self:
        """Raise if an entry without an id lacks the email or the name."""
        missing = tuple(name for name in ("email", "name") if name not in self.model_fields_set)
        if self.id is None and missing:
            raise refusal("required", "A new recipient needs it.", at=missing)
        return self


class EditDocument(Patch):
    """Members that are left out stay; `null` clears one, or puts its default in."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.EDIT_DOCUMENT]})

    title: Title | None = None
    subject: Subject | None = None
    message: Message | None = None
    file_name: Annotated[FileName, Field(default_factory=str)]
    file: Annotated[FileContent, Field(default_factory=str)]
    recipients: Annotated[
        tuple[RecipientEntry, ...],
        Field(default_factory=tuple, max_length=MOST_RECIPIENTS),
        AfterValidator(check_field_count),
    ]
    expires_in_days: Days | None = None
    expires_at: Timestamp | None = None
    reminders: RemindersInput | None = None
    redirect_url: RedirectUrl | None = None
    locale: Locale | None = None
    external_id: ExternalId | None = None
    metadata: Metadata | None = None
    on_signed_file: OnSignedFile | None = None

    @model_validator(mode="after")
    def _a_file_has_a_name(self) -> Self:
        """Raise if a new file comes without its name."""
        if "file" in self.model_fields_set and "file_name" not in self.model_fields_set:
            raise refusal("required", "A new file needs its name.", at="fileName")
        return self
