"""The handlers of the template endpoints: they turn a checked request into the call of an action."""

from functools import partial

from esign.actions.document import templates as actions
from esign.actions.document.templates import TemplateChanges, TemplateOrder, TemplateUse
from esign.core.document.document import Document
from esign.core.document.template import Template
from esign.web.api.documents import decode_file
from esign.web.api.paging import FoundPage
from esign.web.api.template_requests import (
    ChangeTemplate,
    CreateTemplate,
    TemplateFromDocument,
    TemplateList,
    UseTemplate,
)
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall


async def find(call: ApiCall, query: TemplateList) -> FoundPage[Template]:
    """List templates, newest first."""
    filters = f"templates:{call.owner}:{query.q}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_page(call.runtime, call.owner, query.limit, after, query.q)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def create(call: ApiCall, body: CreateTemplate) -> Template:
    """Create a template from a PDF and roles, or from a document."""
    given, runtime = body.root, call.runtime
    if isinstance(given, TemplateFromDocument):
        return await actions.create_from_document(runtime, call.caller, given.from_document_id, given.title)
    order = TemplateOrder(
        file_name=given.file_name,
        file=partial(decode_file, given.file, runtime.config.limits.file_mib),
        title=given.title,
        roles=tuple(role.to_entry() for role in given.roles),
        subject=given.subject,
        message=given.message,
        expires_in_days=given.expires_in_days,
        reminders=given.reminders.list_given() if given.reminders else {},
    )
    return await actions.create(runtime, call.caller, order)


async def read(call: ApiCall) -> Template:
    """Return one template with its roles and their fields."""
    return await actions.get(call.runtime, call.owner, call.path["id"])


async def change(call: ApiCall, body: ChangeTemplate) -> Template:
    """Change a template; documents made from it stay as they are."""
    given = body.model_fields_set
    members = {name: getattr(body, name) for name in given - {"roles"}}
    if body.reminders is not None:
        members["reminders"] = body.reminders.list_given()
    roles = tuple(role.to_entry() for role in body.roles or ()) if "roles" in given else None
    return await actions.change(call.runtime, call.caller, call.path["id"], TemplateChanges(members, roles))


async def delete(call: ApiCall) -> Template:
    """Delete a template; documents made from it are unaffected."""
    return await actions.delete(call.runtime, call.caller, call.path["id"])


async def use(call: ApiCall, body: UseTemplate) -> Document:
    """Create a draft from a template: each role is taken by a recipient."""
    wanted = TemplateUse(
        takers=tuple(given.to_taker() for given in body.recipients),
        title=body.title,
        subject=body.subject,
        message=body.message,
        expires_in_days=body.expires_in_days,
        reminders=body.reminders.list_given() if body.reminders else {},
        redirect_url=body.redirect_url,
        locale=body.locale,
        external_id=body.external_id,
        metadata=body.metadata,
    )
    return await actions.use(call.runtime, call.caller, call.path["id"], wanted)
