"""The page of one template, the pictures of its pages, and deleting it."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from esign.actions.document import page_views, templates
from esign.core.document.template import Template, TemplateRole
from esign.web.office.draft.edit import ROLES
from esign.web.office.draft.field_editor import asked, picture
from esign.web.office.draft.preflight import changes
from esign.web.office.editor import editor
from esign.web.office.frame.call import Call
from esign.web.office.template.listing import last_use


async def find(call: Call) -> Template:
    """Return the template of the address. Raise `not_found` for one of another organisation or mode."""
    return await templates.get(call.runtime, call.owner, call.path["id"])


def home(template_id: str) -> str:
    """Return the path of a template's page."""
    return f"/templates/{template_id}"


def in_order(roles: Sequence[TemplateRole]) -> list[dict[str, Any]]:
    """Return the roles in the order of their steps, each with its colour in the editor."""
    colours = editor.colours(roles)
    return [
        {"one": role, "colour": colours.get(role.id)} for role in sorted(roles, key=lambda role: role.order)
    ]


async def show(call: Call) -> Response:
    template = await find(call)
    return call.page(
        "template",
        template=template,
        roles=in_order(template.roles),
        does=ROLES,
        fields=editor.listed(template.roles),
        sheets=editor.sheets(template.file, home(template.id)),
        changes=changes(template.file),
        last=await last_use(call, template),
    )


async def sheet(call: Call) -> Response:
    """Send the picture of a page.

    The query of the address holds a hash, so that browsers can keep the picture, and the size.
    """
    template = await find(call)
    number, size = asked(call, template.page_count)
    return picture(await page_views.template_picture(call.runtime, template, number, size))


async def ask_delete(call: Call) -> Response:
    return call.page("template_delete", template=await find(call))


async def delete(call: Call) -> Response:
    """Delete the template.

    It is deleted even if another user changed it while the question was open.
    """
    await templates.delete(call.runtime, call.owner, call.path["id"], caller=call.caller)
    return call.go("/templates", "template-deleted")
