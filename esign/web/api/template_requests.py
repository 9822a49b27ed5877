"""The bodies of requests to the template endpoints."""

from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    model_validator,
)

from esign.actions.document.holder_entries import HolderEntry
from esign.core.document.template import Taker
from esign.web.api.document_requests import RemindersInput
from esign.web.api.examples import (
    CHANGE_TEMPLATE,
    CREATE_TEMPLATE,
    CREATE_TEMPLATE_FROM_DOCUMENT,
    USE_TEMPLATE,
)
from esign.web.api.paging import Paging
from esign.web.values.document_values import (
    MOST_RECIPIENTS,
    AccessCode,
    Authentication,
    Days,
    ExternalId,
    Fields,
    FileContent,
    FileName,
    Locale,
    Message,
    Metadata,
    Order,
    PersonName,
    RedirectUrl,
    RoleKey,
    RoleName,
    SearchText,
    Subject,
    Title,
    check_field_count,
)
from esign.web.values.field_models import FieldKey
from esign.web.values.schema import BoundedText, Email, Patch, Schema, refusal


def check_value(given: object) -> object:
    """Return a value that a field of some type may have beforehand. Raise for any other value."""
    if given is None or isinstance(given, bool | str):
        return given
    raise refusal("type", "A string, or true or false.")


Values = Annotated[
    dict[FieldKey, Annotated[bool | str | None, BeforeValidator(check_value)]],
    Field(json_schema_extra={"additionalProperties": False}),
]


class TemplateRoleInput(Schema):
    """The place of one recipient; without a name it is shown by its key."""

    key: RoleKey
    name: PersonName | None = None
    role: RoleName = "signer"
    order: Order = 1
    fields: Fields = ()

    def to_entry(self) -> HolderEntry:
        """Return the members that were given."""
        members = {name: getattr(self, name) for name in self.model_fields_set}
        return HolderEntry(members | {"fields": tuple(field.to_field("") for field in self.fields)})


class TemplateFromFile(Schema):
    file_name: FileName
    file: FileContent
    title: Title | None = None
    roles: Annotated[
        tuple[TemplateRoleInput, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(check_field_count)
    ] = ()
    subject: Subject | None = None
    message: Message | None = None
    expires_in_days: Days | None = None
    reminders: RemindersInput | None = None


class TemplateFromDocument(Schema):
    """With the file of a document, a role for each of its recipients, and its settings."""

    from_document_id: Annotated[str, BoundedText(1)]
    title: Title | None = None


def source_of(given: object) -> str:
    """Return which of the two forms of the body this is."""
    return "document" if isinstance(given, dict) and "fromDocumentId" in given else "file"


class CreateTemplate(
    RootModel[
        Annotated[
            Annotated[TemplateFromFile, Tag("file")] | Annotated[TemplateFromDocument, Tag("document")],
            Discriminator(source_of),
        ]
    ]
):
    model_config = ConfigDict(
        json_schema_extra={"examples": [CREATE_TEMPLATE, CREATE_TEMPLATE_FROM_DOCUMENT]}
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, given: object) -> object:
        """Return the object without known members that are `null`, also those of the other form."""
        if not isinstance(given, dict):
            return given
        known = {
            member.alias
            for form in (TemplateFromFile, TemplateFromDocument)
            for member in form.model_fields.values()
        }
        return {name: value for name, value in given.items() if value is not None or name not in known}


class TemplateRoleChange(Patch):
    """With an `id` the role of that id, which keeps what is left out; without one a new role."""

    id: str | None = None
    key: RoleKey | None = None
    name: PersonName | None = None
    role: RoleName | None = None
    order: Order | None = None
    fields: Fields | None = None

    @model_validator(mode="after")
    def _has_a_key(self) -> Self:
        """Raise if a new role has no key, or if the key of a role is cleared."""
        if self.key is None and (self.id is None or "key" in self.model_fields_set):
            raise refusal("required", "This member is required.", at="key")
        return self

    def to_entry(self) -> HolderEntry:
        """Return the members that were given. `null` stands for the default of a new role."""
        members = {name: getattr(self, name) for name in self.model_fields_set - {"id"}}
        if self.fields is not None:
            members["fields"] = tuple(field.to_field("") for field in self.fields)
        return HolderEntry(members, self.id)


class ChangeTemplate(Patch):
    """`null` puts the default back; `roles` replaces the list, and in a role `fields` replaces its fields."""

    model_config = ConfigDict(json_schema_extra={"examples": [CHANGE_TEMPLATE]})

    title: Title | None = None
    subject: Subject | None = None
    message: Message | None = None
    expires_in_days: Days | None = None
    reminders: RemindersInput | None = None
    roles: (
        Annotated[
            tuple[TemplateRoleChange, ...],
            Field(max_length=MOST_RECIPIENTS),
            AfterValidator(check_field_count),
        ]
        | None
    ) = None


class TakerInput(Schema):
    """Who takes a role; `values` fills in fields of the role beforehand, by their key."""

    role_key: RoleKey
    email: Email
    name: PersonName
    values: Values | None = None
    authentication: Authentication = "link"
    access_code: AccessCode | None = None

    def to_taker(self) -> Taker:
        """Return the taker of a role, with the access code as it was given."""
        values = {key: value for key, value in (self.values or {}).items() if value is not None}
        return Taker(self.role_key, self.email, self.name, values, self.authentication, self.access_code)


class UseTemplate(Schema):
    """Each role is taken once; what is left out is as in the template."""

    model_config = ConfigDict(json_schema_extra={"examples": [USE_TEMPLATE]})

    recipients: Annotated[tuple[TakerInput, ...], Field(max_length=MOST_RECIPIENTS)]
    title: Title | None = None
    subject: Subject | None = None
    message: Message | None = None
    expires_in_days: Days | None = None
    reminders: RemindersInput | None = None
    redirect_url: RedirectUrl | None = None
    locale: Locale | None = None
    external_id: ExternalId | None = None
    metadata: Metadata | None = None


class TemplateList(Paging):
    q: Annotated[
        SearchText | None,
        Field(description="Part of the title, in any case.", examples=["lease"]),
    ] = None
