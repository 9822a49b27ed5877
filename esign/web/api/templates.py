"""The handlers of the template endpoints: they turn a checked request into the call of an action."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from esign.actions.document import templates as actions
from esign.actions.document.templates import TemplateOrder, TemplateUse
from esign.actions.people import settings
from esign.actions.people.settings import Settings
from esign.core.document.document import Document, Recipient
from esign.core.document.recipient_rules import find_code_problems, find_duplicates, find_list_problems
from esign.core.document.state.edit import make_title
from esign.core.document.template import Template, TemplateRole, make_recipients
from esign.core.errors import Detail, Problem
from esign.runtime import Runtime
from esign.system.entropy import make_id
from esign.web.api.documents import decode_file, reminders_of
from esign.web.api.paging import FoundPage
from esign.web.api.template_requests import (
    ChangeTemplate,
    CreateTemplate,
    TemplateFromDocument,
    TemplateList,
    TemplateRoleChange,
    UseTemplate,
)
from esign.web.cursors import cursor_of, place_of
from esign.web.http.validation import MOST
from esign.web.rest.endpoint import ApiCall


async def find(call: ApiCall, query: TemplateList) -> FoundPage[Template]:
    """A page of templates, newest first."""
    filters = f"templates:{call.owner}:{query.q}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_page(call.runtime, call.owner, query.limit, after, query.q)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def create(call: ApiCall, body: CreateTemplate) -> Template:
    """Create a template from a PDF and roles, or from a document."""
    given, runtime, now = body.root, call.runtime, call.runtime.clock.now()
    if isinstance(given, TemplateFromDocument):
        return await actions.create_from_document(runtime, call.caller, given.from_document_id, given.title)
    roles = tuple(role.to_role(now) for role in given.roles)
    check_roles(runtime, roles)
    defaults = await settings.read(runtime, call.owner)
    order = TemplateOrder(
        file_name=given.file_name,
        file=partial(decode_file, given.file, runtime.config.limits.file_mib),
        title=given.title or make_title(given.file_name),
        roles=roles,
        subject=given.subject or None,
        message=given.message or None,
        expires_in_days=given.expires_in_days or defaults.expires_in_days,
        reminders=reminders_of(defaults, given.reminders),
    )
    return await actions.create(runtime, call.caller, order)


def check_roles(runtime: Runtime, roles: Sequence[TemplateRole], found: Sequence[Detail] = ()) -> None:
    """Raise `invalid_request` with the problems `found` before and those that only the whole list of roles shows."""
    limits = runtime.config.limits
    problems = [
        *found,
        *find_duplicates([role.key or None for role in roles], "/roles", "key"),
        *find_list_problems(roles, limits.recipients, limits.fields, "/roles"),
    ]
    if problems:
        raise Problem("invalid_request", details=problems[:MOST])


async def read(call: ApiCall) -> Template:
    """One template with its roles and their fields."""
    return await actions.get(call.runtime, call.owner, call.path["id"])


async def change(call: ApiCall, body: ChangeTemplate) -> Template:
    """Change a template; documents made from it stay as they are."""
    defaults = await settings.read(call.runtime, call.owner)

    def decide(before: Template) -> Template:
        return apply_changes(call.runtime, defaults, before, body)

    return await actions.change(call.runtime, call.caller, call.path["id"], decide)


def apply_changes(runtime: Runtime, defaults: Settings, before: Template, body: ChangeTemplate) -> Template:
    """Return the template with the members of the body. Raise `invalid_request` for roles that do not fit."""
    made: dict[str, Any] = {
        "title": body.title or make_title(before.file.name),
        "subject": body.subject or None,
        "message": body.message or None,
        "expires_in_days": body.expires_in_days or defaults.expires_in_days,
        "reminders": reminders_of(defaults, body.reminders),
    }
    if "roles" in body.model_fields_set:
        made["roles"] = apply_role_changes(runtime, before, body.roles or ())
    return replace(before, **{name: made[name] for name in body.model_fields_set})


def apply_role_changes(
    runtime: Runtime, before: Template, given: Sequence[TemplateRoleChange]
) -> tuple[TemplateRole, ...]:
    """Return the new list of roles. Raise `invalid_request` with every problem of the list."""
    old, now = {role.id: role for role in before.roles}, runtime.clock.now()
    unknown = [
        Detail(f"/roles/{n}/id", "The template has no role of this id.", "reference")
        for n, entry in enumerate(given)
        if entry.id is not None and entry.id not in old
    ]
    ids = [entry.id for entry in given]
    roles = tuple(entry.make_role(old.pop(entry.id or "", None), now) for entry in given)
    check_roles(runtime, roles, [*unknown, *find_duplicates(ids, "/roles", "id")])
    return roles


async def delete(call: ApiCall) -> Template:
    """Delete a template; documents made from it are unaffected."""
    return await actions.delete(call.runtime, call.caller, call.path["id"])


async def use(call: ApiCall, body: UseTemplate) -> Document:
    """Create a draft from a template: each role is taken by a recipient."""
    wanted = build_use(call.runtime, body)
    return await actions.use(call.runtime, call.caller, call.path["id"], wanted)


def build_use(runtime: Runtime, body: UseTemplate) -> TemplateUse:
    """Return what the body asks for.

    Raise `invalid_request` for access codes that are missing, or that will not be asked for.
    """
    takers = [given.to_taker(runtime.vault) for given in body.recipients]
    now = runtime.clock.now()
    if wrong := [
        detail for n, one in enumerate(takers) for detail in find_code_problems(one, f"/recipients/{n}")
    ]:
        raise Problem("invalid_request", details=wrong[:MOST])

    def recipients(template: Template) -> tuple[Recipient, ...]:
        """Return the recipients of the new document. Raise `invalid_request` if the list does not fit."""
        made = make_recipients(template, takers, lambda prefix: make_id(prefix, now))
        limits = runtime.config.limits
        if problems := tuple(find_list_problems(made, limits.recipients, limits.fields)):
            raise Problem("invalid_request", details=problems[:MOST])
        return made

    return TemplateUse(
        recipients=recipients,
        title=body.title,
        subject=body.subject,
        message=body.message,
        expires_in_days=body.expires_in_days,
        reminders=body.reminders.model_dump(exclude_none=True) if body.reminders else {},
        redirect_url=body.redirect_url,
        locale=body.locale,
        external_id=body.external_id or None,
        metadata=body.metadata,
    )
