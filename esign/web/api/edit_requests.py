"""The bodies of requests that change a document or one of its recipients (contract 3.2, PATCH body)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from esign.core.document.challenge import Method
from esign.core.document.document import Document, Recipient
from esign.core.document.placement import find_out_of_bounds
from esign.core.document.recipient_rules import (
    find_code_problems,
    find_duplicates,
    find_group_problems,
    find_list_problems,
    find_role_problems,
)
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.system.vault import Vault
from esign.web.api import examples
from esign.web.api.document_requests import RecipientInput, RemindersInput
from esign.web.http.validation import MOST
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

    def members(self, now: Instant, vault: Vault) -> dict[str, Any]:
        """Return the members that were given, by their names in `core`.

        Any authentication other than `access_code` removes the stored access code.
        """
        wanted, given = self.to_recipient(now, vault), self.model_fields_set - {"id"}
        if "authentication" in given and wanted.authentication != Method.ACCESS_CODE:
            given |= {"access_code"}
        return {name: getattr(wanted, name) for name in given}


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


def make_merge(
    entries: Sequence[RecipientEntry], now: Instant, vault: Vault, most_recipients: int, most_fields: int
) -> Callable[[Document], tuple[Recipient, ...]]:
    """Return a function that gives the new list of recipients of a document.

    The function raises `invalid_request` with every problem of the list.
    """

    def recipients(document: Document) -> tuple[Recipient, ...]:
        """Return the recipients as the entries describe them."""
        old = {recipient.id: recipient for recipient in document.recipients}
        details = [
            Detail(f"/recipients/{n}/id", "No recipient of this document has this id.", "reference")
            for n, entry in enumerate(entries)
            if entry.id is not None and entry.id not in old
        ]
        details += find_duplicates([entry.id for entry in entries], "/recipients", "id")
        made = tuple(
            replace(known, **entry.members(now, vault))
            if (known := old.pop(entry.id or "", None))
            else entry.to_recipient(now, vault)
            for entry in entries
        )
        if details := [*details, *find_list_problems(made, most_recipients, most_fields)]:
            raise Problem("invalid_request", details=details[:MOST])
        return made

    return recipients


def make_recipient_check(most_fields: int) -> Callable[[Document, Recipient], None]:
    """Return a function that checks one changed recipient against the rest of the document."""

    def check(document: Document, recipient: Recipient) -> None:
        """Raise `invalid_request` or `field_out_of_bounds` if the recipient does not fit into the document."""
        others = [r for r in document.recipients if r.id != recipient.id]
        details = []
        if sum(len(r.fields) for r in (*others, recipient)) > most_fields:
            details.append(Detail("/fields", f"At most {most_fields} fields in all.", "length"))
        seen = {field.key for other in others for field in other.fields} - {None}
        for m, field in enumerate(recipient.fields):
            if field.key in seen:
                details.append(Detail(f"/fields/{m}/key", "Each key stands once.", "duplicate"))
            seen |= {field.key} - {None}
        if details := [
            *details,
            *find_role_problems(recipient, ""),
            *find_code_problems(recipient, ""),
            *find_group_problems(recipient.fields, ""),
        ]:
            raise Problem("invalid_request", details=details[:MOST])
        if problems := [
            problem
            for m, field in enumerate(recipient.fields)
            for problem in find_out_of_bounds(field, document.file.pages, f"/fields/{m}")
        ]:
            raise Problem("field_out_of_bounds", details=problems[:MOST])

    return check
