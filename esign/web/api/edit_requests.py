"""What changes a document or one of its recipients (contract 3.2, PATCH body)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from esign.core.document import Document, Recipient
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.core.placement import out_of_bounds
from esign.web.api import examples, rules
from esign.web.api.document_requests import (
    Locale,
    Metadata,
    RecipientInput,
    RemindersInput,
    problems_across,
)
from esign.web.api.field_requests import group_problems
from esign.web.schema import Email, Line, Multiline, Patch, Timestamp, refusal
from esign.web.validation import MOST


class RecipientChange(RecipientInput):
    """A recipient as it shall be; members that are left out stay as they are."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CHANGE_RECIPIENT]})
    null_is_absent: ClassVar[bool] = False

    email: Email | None = None  # type: ignore[assignment]  # here it may be left out
    name: Annotated[str, Line(1, 200)] | None = None  # type: ignore[assignment]  # here it may be left out

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_defaults(cls, given: object) -> object:
        """`null` for a member with a default puts that in; address and name have none."""
        if not isinstance(given, dict):
            return given
        defaults = {field.alias: field.default for field in cls.model_fields.values()}
        return {n: defaults[n] if value is None and n in defaults else value for n, value in given.items()}

    @model_validator(mode="after")
    def _keeps_address_and_name(self) -> Self:
        refuse_null(self, "email", "name")
        return self

    def members(self, now: Instant) -> dict[str, Any]:
        """What was given, by the names of the rules."""
        wanted = self.to_recipient(now)
        return {name: getattr(wanted, name) for name in self.model_fields_set - {"id"}}


class RecipientEntry(RecipientChange):
    """One of the list: with `id` somebody who is there already, without one somebody new."""

    id: str | None = None

    @model_validator(mode="after")
    def _is_whole_when_new(self) -> Self:
        for member in ("email", "name"):
            if self.id is None and getattr(self, member) is None:
                raise refusal("required", "A new recipient needs it.", at=member)
        return self


class EditDocument(Patch):
    """Members that are left out stay; `null` clears one, or puts its default in."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.EDIT_DOCUMENT]})

    title: Annotated[str, Line(1, 200)] | None = None
    subject: Annotated[str, Line(0, 200)] | None = None
    message: Annotated[str, Multiline(5_000)] | None = None
    file_name: Annotated[str, Line(1, 255), AfterValidator(rules.file_name)] | None = None
    file: (
        Annotated[
            str, Field(json_schema_extra={"contentEncoding": "base64", "contentMediaType": "application/pdf"})
        ]
        | None
    ) = None
    recipients: tuple[RecipientEntry, ...] | None = None
    expires_in_days: Annotated[int, Field(ge=1, le=365)] | None = None
    expires_at: Timestamp | None = None
    reminders: RemindersInput | None = None
    redirect_url: Annotated[str, Line(1, 2_048), AfterValidator(rules.https_url)] | None = None
    locale: Locale | None = None
    external_id: Annotated[str, Line(0, 200)] | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _a_file_has_a_name(self) -> Self:
        refuse_null(self, "file_name", "file", "recipients")
        if self.file is not None and self.file_name is None:
            raise refusal("required", "A new file needs its name.", at="fileName")
        return self


def refuse_null(model: Patch | RecipientChange, *members: str) -> None:
    for member in members:
        if member in model.model_fields_set and getattr(model, member) is None:
            alias = type(model).model_fields[member].alias or member
            raise refusal("type", "This member cannot be cleared.", at=alias)


def merged(
    entries: Iterable[RecipientEntry], now: Instant, most_recipients: int, most_fields: int
) -> Callable[[Document], tuple[Recipient, ...]]:
    """The list as it shall be, of the document as it is."""

    def recipients(document: Document) -> tuple[Recipient, ...]:
        known = {recipient.id: recipient for recipient in document.recipients}
        made: list[Recipient] = []
        details = []
        for n, entry in enumerate(entries):
            if entry.id is None:
                made.append(entry.to_recipient(now))
            elif (recipient := known.pop(entry.id, None)) is not None:
                made.append(replace(recipient, **entry.members(now)))
            else:
                message = "No recipient of this document has this id, or it stands here twice."
                details.append(Detail(f"/recipients/{n}/id", message, "reference"))
        details += problems_across(tuple(made), most_recipients, most_fields) if not details else ()
        if details:
            raise Problem("invalid_request", details=details[:MOST])
        return tuple(made)

    return recipients


def checking(most_fields: int) -> Callable[[Document, Recipient], None]:
    """Holds one recipient, as a request made it, against the rest of the document."""

    def check(document: Document, recipient: Recipient) -> None:
        others = [r for r in document.recipients if r.id != recipient.id]
        if sum(len(r.fields) for r in (*others, recipient)) > most_fields:
            raise Problem(
                "limit_reached",
                f"At most {most_fields} fields in a document.",
                current_status=document.status,
            )
        seen = {field.key for other in others for field in other.fields} - {None}
        details = []
        for m, field in enumerate(recipient.fields):
            if field.key in seen:
                details.append(Detail(f"/fields/{m}/key", "Each key stands once.", "duplicate"))
            seen |= {field.key} - {None}
        if details := [*details, *group_problems(recipient.fields, "")]:
            raise Problem("invalid_request", details=details[:MOST])
        outside = (
            out_of_bounds(field, document.file.pages, f"/fields/{m}")
            for m, field in enumerate(recipient.fields)
        )
        if problems := [problem for problem in outside if problem]:
            raise Problem("field_out_of_bounds", details=problems[:MOST])

    return check
