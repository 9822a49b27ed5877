"""Name, roles and message of a template: one form, saved with a button."""

from typing import Any

from starlette.responses import Response

from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.system.entropy import new_id
from esign.web.office.draft import draft_form as sheets
from esign.web.office.draft.draft_form import Sheet
from esign.web.office.draft.edit import FIELDS, MOST, ROLES, UNPROCESSABLE, acted, asked, conflict
from esign.web.office.draft.saving import save
from esign.web.office.frame.call import Call
from esign.web.office.template.page import find, home
from esign.web.office.template.template_form import SHAPE, TEMPLATES, keyed, of_template

LABELS = FIELDS | {"title": "Name of the template", "key": "Key", "row": "Role"}


async def show(call: Call) -> Response:
    template = await find(call)
    return page(call, template, of_template(template), more=call.request.query_params.get("more") == "1")


def page(call: Call, template: Template, sheet: Sheet, *, more: bool = False) -> Response:
    return call.page(
        "template_edit",
        template=template,
        rows=rows(template, sheet, more=more),
        given=sheet.flat(),
        seen=of_template(template).dump(),
        roles=ROLES,
    )


def rows(template: Template, sheet: Sheet, *, more: bool) -> list[dict[str, Any]]:
    """Return the roles as the form shows them.

    An empty row is added if there is no role, or if one more was asked for.
    """
    fields = {role.id: len(role.fields) for role in template.roles}
    shown = [{"key": key, "texts": texts, "fields": fields.get(key, 0)} for key, texts in sheet.rows.items()]
    if more or not shown:
        free = new_id("new", template.updated_at)
        texts = dict.fromkeys(SHAPE.entry, "") | dict(SHAPE.new)
        shown.append({"key": free, "texts": texts, "fields": 0})
    return shown


async def store(call: Call) -> Response:
    """Save the form and lead to the page that the button asks for."""
    template = await find(call)
    name, _, key = call.form.get("do", "").partition("-")
    here = home(template.id)
    if name == "remove" and (question := asked(call, template.roles, key, f"{here}/edit")) is not None:
        return question
    sent = sheets.of_form(call.form, SHAPE)
    if len(sent.rows) > MOST:
        raise Problem("invalid_request", f"A form takes at most {MOST} roles.")
    mine = keyed(acted(sent, name, key))
    seen = sheets.load(call.form.get("seen", ""), SHAPE) or of_template(template)
    saved = await save(call, TEMPLATES, mine, seen)
    if saved.merge.conflicts:
        return conflict(call, TEMPLATES, saved, f"{here}/edit", LABELS)
    if saved.wrong:
        call.wrong = saved.wrong
        answer = page(call, saved.stored, saved.sheet, more=name == "add")
        answer.status_code = UNPROCESSABLE
        return answer
    if name == "fields":
        return call.go(f"{here}/fields")
    if name in ("save", ""):
        return call.go(here, "template-saved")
    return call.go(f"{here}/edit{'?more=1' if name == 'add' else ''}", "template-saved")
