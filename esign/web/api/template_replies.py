"""The answers of the template endpoints, and how they are built from a template."""

from typing import Any, Literal

from pydantic import ConfigDict

from esign.core.document.template import Template, TemplateRole
from esign.web.api import examples
from esign.web.api.document_replies import RemindersReply, present_reminders
from esign.web.api.paging import FoundPage, ListReply
from esign.web.values import field_models
from esign.web.values.field_models import AnyFieldReply
from esign.web.values.schema import Moment, Reply


class TemplateRoleSummary(Reply):
    """A role in a list: without its fields."""

    id: str
    key: str
    name: str
    role: Literal["signer", "approver", "viewer", "cc"]
    order: int


class TemplateRoleReply(TemplateRoleSummary):
    fields: list[AnyFieldReply]


class TemplateSummary(Reply):
    """A template in a list."""

    id: str
    title: str
    file_name: str
    page_count: int
    revision: int
    mode: Literal["live", "test"]
    subject: str | None
    message: str | None
    expires_in_days: int
    reminders: RemindersReply
    created_at: Moment
    updated_at: Moment
    roles: list[TemplateRoleSummary]


class TemplateReply(TemplateSummary):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.TEMPLATE]})

    roles: list[TemplateRoleReply]  # type: ignore[assignment]  # the same list with more in it


class TemplatePage(ListReply[TemplateSummary]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.TEMPLATES]})


class TemplateDeleted(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELETED_TEMPLATE]})

    id: str


def present(template: Template) -> TemplateReply:
    return TemplateReply.model_construct(
        **collect_members(template), roles=[present_role(role) for role in template.roles]
    )


def present_role(role: TemplateRole) -> TemplateRoleReply:
    return TemplateRoleReply.model_construct(
        **collect_role_members(role), fields=[field_models.present(field) for field in role.fields]
    )


def present_summary(template: Template) -> TemplateSummary:
    roles = [TemplateRoleSummary.model_construct(**collect_role_members(role)) for role in template.roles]
    return TemplateSummary.model_construct(**collect_members(template), roles=roles)


def present_page(found: FoundPage[Template]) -> TemplatePage:
    return TemplatePage.from_page(found, present_summary)


def present_deleted(template: Template) -> TemplateDeleted:
    return TemplateDeleted(id=template.id)


def collect_members(template: Template) -> dict[str, Any]:
    """Return the members that a list and a single answer share. A test validates them, not each answer."""
    return {
        "id": template.id,
        "title": template.title,
        "file_name": template.file.name,
        "page_count": template.page_count,
        "revision": template.revision,
        "mode": template.mode.value,
        "subject": template.subject,
        "message": template.message,
        "expires_in_days": template.expires_in_days,
        "reminders": present_reminders(template.reminders),
        "created_at": template.created_at,
        "updated_at": template.updated_at,
    }


def collect_role_members(role: TemplateRole) -> dict[str, Any]:
    """Return the members that a role has in a list and in a single answer."""
    return {
        "id": role.id,
        "key": role.key,
        "name": role.name,
        "role": role.role.value,
        "order": role.order,
    }
