"""The page of one template, the pictures of its pages, and deleting it."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from esign.actions.document import page_cache, templates
from esign.core.document.template import Template, TemplateRole
from esign.store.document import blobs
from esign.web import downloads
from esign.web.office.draft.draft_summary import describe_reminders
from esign.web.office.draft.edit import name_roles
from esign.web.office.draft.explain_upload import describe_changes
from esign.web.office.draft.field_editor import make_picture_response, parse_picture_address
from esign.web.office.editor import editor
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.template.listing import find_last_use


async def find_template(call: OfficeCall) -> Template:
    """Return the template of the address. Raise `not_found` for one of another organisation or mode."""
    return await templates.get(call.runtime, call.owner, call.path["id"])


def get_template_path(template_id: str) -> str:
    """Return the path of a template's page."""
    return f"/templates/{template_id}"


def sort_roles(roles: Sequence[TemplateRole]) -> list[dict[str, Any]]:
    """Return the roles in the order of their steps, each with its colour in the editor."""
    colours = editor.assign_colours(roles)
    return [
        {"one": role, "colour": colours.get(role.id)} for role in sorted(roles, key=lambda role: role.order)
    ]


async def show_template(call: OfficeCall) -> Response:
    template = await find_template(call)
    return call.page(
        "template",
        template=template,
        roles=sort_roles(template.roles),
        does=name_roles(call.words),
        fields=editor.sort_fields(template.roles),
        sheets=editor.list_pages(template.file, get_template_path(template.id)),
        changes=describe_changes(
            template.file, call.words, untouched=not any(role.fields for role in template.roles)
        ),
        reminders=describe_reminders(template.reminders, call.words),
        last=await find_last_use(call, template),
    )


async def send_page_picture(call: OfficeCall) -> Response:
    """Send the picture of a page.

    The query of the address holds a hash, so that browsers can keep the picture, and the size.
    """
    template = await find_template(call)
    number, size = parse_picture_address(call, template.page_count)
    return make_picture_response(await page_cache.read_template_picture(call.runtime, template, number, size))


async def send_original(call: OfficeCall) -> Response:
    """Send the file as it was uploaded. A template has no audit trail, so nothing records the download."""
    template = await find_template(call)
    content = await blobs.open_content(call.runtime.db, template.file.uploaded)
    return downloads.make_content_response(template.file.name, content)


async def ask_delete(call: OfficeCall) -> Response:
    return call.page("template_delete", template=await find_template(call))


async def delete(call: OfficeCall) -> Response:
    """Delete the template.

    It is deleted even if another user changed it while the question was open.
    """
    await templates.delete(call.runtime, call.caller, call.path["id"])
    return call.redirect_to("/templates", "template-deleted")
