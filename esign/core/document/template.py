"""A template: a PDF with roles in place of people, and how a document is made from it (contract 3.3)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from esign.core.actor import Mode
from esign.core.document.document import Document, Field, File, Recipient, Role
from esign.core.document.field_types import INK, InvalidValue
from esign.core.document.field_values import prefill
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.core.people.account import Reminders
from esign.core.sentence import say

NewId = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class TemplateRole:
    """The place of one recipient; requests name it by its `key`, and the recipient who takes it gets its fields."""

    id: str
    key: str
    name: str
    role: Role = Role.SIGNER
    order: int = 1
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    id: str
    organisation_id: str
    mode: Mode
    title: str
    file: File
    created_at: Instant
    updated_at: Instant
    revision: int = 1
    subject: str | None = None
    message: str | None = None
    expires_in_days: int = 30
    reminders: Reminders = Reminders()
    roles: tuple[TemplateRole, ...] = ()

    @property
    def page_count(self) -> int:
        """Return the number of pages of the file."""
        return len(self.file.pages)


@dataclass(frozen=True, slots=True)
class Taker:
    """The recipient who takes a role of a template. `values` maps keys of fields to what the sender writes into
    them.
    """

    role_key: str
    email: str
    name: str
    values: Mapping[str, str | bool] = field(default_factory=dict)
    authentication: str = "link"
    access_code: str | None = None


def make_recipients(template: Template, takers: Sequence[Taker], new_id: NewId) -> tuple[Recipient, ...]:
    """Return the recipients of a document made from the template, in the order of its roles.

    Raises `invalid_request` naming every role that is unknown, taken twice or not at all, and every value that
    no field of the role accepts. Paths are those of a request with a list `recipients`.
    """
    roles = {role.key: role for role in template.roles}
    problems: list[Detail] = []
    made: dict[str, Recipient] = {}
    for n, taker in enumerate(takers):
        role = roles.get(taker.role_key)
        if role is None:
            problems.append(
                Detail(f"/recipients/{n}/roleKey", "The template has no role of this key.", "reference")
            )
        elif role.key in made:
            problems.append(Detail(f"/recipients/{n}/roleKey", "Each role can be filled once.", "duplicate"))
        else:
            problems += find_wrong_values(role, taker, f"/recipients/{n}/values")
            made[role.key] = make_recipient(role, taker, new_id)
    problems += [
        Detail("/recipients", say("The role “{key}” needs a recipient.", key=key), "required")
        for key in roles
        if key not in made
    ]
    if problems:
        raise Problem("invalid_request", details=problems[:100])
    return tuple(made[key] for key in roles)


def find_wrong_values(role: TemplateRole, taker: Taker, path: str) -> Iterator[Detail]:
    """Yield the problems of values whose key is unknown or that their field does not accept."""
    fields = {field.key: field for field in role.fields}
    for key, given in taker.values.items():
        if key not in fields:
            yield Detail(f"{path}/{key}", "The role has no field of this key.", "reference")
        elif wrong := find_refusal(fields[key], given):
            yield Detail(f"{path}/{key}", wrong.message, wrong.rule)


def find_refusal(field: Field, given: str | bool) -> InvalidValue | None:
    """Return why the field does not accept a value beforehand, or None when it does."""
    try:
        value = prefill(field, given)
    except InvalidValue as wrong:
        return wrong
    if field.read_only and value is None:
        return InvalidValue("required", "A read-only field needs a value.")
    return None


def make_recipient(role: TemplateRole, taker: Taker, new_id: NewId) -> Recipient:
    """Return a recipient with a copy of the role's fields; values that do not fit are left out."""
    return Recipient(
        id=new_id("rcp"),
        email=taker.email,
        name=taker.name,
        role=role.role,
        order=role.order,
        authentication=taker.authentication,
        access_code=taker.access_code,
        fields=tuple(copy_field(field, taker.values, new_id) for field in role.fields),
    )


def copy_field(field: Field, values: Mapping[str, str | bool], new_id: NewId) -> Field:
    """Return a copy of the field under a new id, with the sender's value where it has one that fits."""
    field = replace(field, id=new_id("fld"))
    if field.key is None or field.key not in values or find_refusal(field, values[field.key]):
        return field
    return replace(field, value=prefill(field, values[field.key]))


def make_roles(document: Document, new_id: NewId) -> tuple[TemplateRole, ...]:
    """Return a role for each recipient of a document, without any of their personal data."""
    return tuple(
        TemplateRole(
            id=new_id("rol"),
            key=f"{recipient.role}_{n}",
            name=f"{recipient.role.capitalize()} {n}",
            role=recipient.role,
            order=recipient.order,
            fields=tuple(empty_field(field, new_id) for field in recipient.fields),
        )
        for n, recipient in enumerate(document.recipients, 1)
    )


def empty_field(field: Field, new_id: NewId) -> Field:
    """Return the field with only the sender's value; what a recipient filled in stays in the document."""
    own = field.type not in INK and (field.read_only or field.filled_at is None)
    return replace(field, id=new_id("fld"), value=field.value if own else None, filled_at=None)
