"""Name, roles and message of a template: one form, saved with a button."""

from typing import Any

from starlette.responses import Response

from esign.core.errors import Problem
from esign.core.template import Template
from esign.entropy import new_id
from esign.web.office.call import Call
from esign.web.office.draft import sheet as sheets
from esign.web.office.draft.edit import CONFLICT, FIELDS, MOST, ROLES, UNPROCESSABLE, acted, kept
from esign.web.office.draft.saving import Saved, save
from esign.web.office.draft.sheet import Sheet
from esign.web.office.template.page import find, home
from esign.web.office.template.sheet import SHAPE, TEMPLATES, keyed, of_template

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
    """The roles as the form shows them, with an empty one where it has none or one more was asked for."""
    fields = {role.id: len(role.fields) for role in template.roles}
    shown = [{"key": key, "texts": texts, "fields": fields.get(key, 0)} for key, texts in sheet.rows.items()]
    if more or not shown:
        free = new_id("new", template.updated_at)
        texts = dict.fromkeys(SHAPE.entry, "") | dict(SHAPE.new)
        shown.append({"key": free, "texts": texts, "fields": 0})
    return shown


async def store(call: Call) -> Response:
    """Saved, and on to where the button leads."""
    template = await find(call)
    name, _, key = call.form.get("do", "").partition("-")
    if (question := asked(call, template, name, key)) is not None:
        return question
    sent = sheets.of_form(call.form, SHAPE)
    if len(sent.rows) > MOST:
        raise Problem("invalid_request", f"A form takes at most {MOST} roles.")
    mine = keyed(acted(sent, name, key))
    seen = sheets.load(call.form.get("seen", ""), SHAPE) or of_template(template)
    saved = await save(call, TEMPLATES, mine, seen)
    if saved.merge.conflicts:
        return conflict(call, saved)
    if saved.wrong:
        call.wrong = saved.wrong
        answer = page(call, saved.stored, saved.sheet, more=name == "add")
        answer.status_code = UNPROCESSABLE
        return answer
    here = home(template.id)
    if name == "fields":
        return call.go(f"{here}/fields")
    if name in ("save", ""):
        return call.go(here, "template-saved")
    return call.go(f"{here}/edit{'?more=1' if name == 'add' else ''}", "template-saved")


def asked(call: Call, template: Template, name: str, key: str) -> Response | None:
    """The question before a role is removed that has fields; the form waits inside it."""
    who = next((role for role in template.roles if role.id == key), None)
    if name != "remove" or who is None or not who.fields or call.form.get("sure") == key:
        return None
    return call.page("draft_remove", at=f"{home(template.id)}/edit", who=who, kept=kept(call.form))


def conflict(call: Call, saved: Saved[Template]) -> Response:
    """Both texts of everything that two people changed, and the rest of the form as it will be saved."""
    answer = call.page(
        "draft_conflict",
        at=f"{home(saved.stored.id)}/edit",
        conflicts=saved.merge.conflicts,
        labels=LABELS,
        names={key: one["name"] for key, one in saved.sheet.rows.items()},
        kept=saved.sheet.flat() | {"seen": of_template(saved.stored).dump(), "do": "save"},
        written=written,
    )
    answer.status_code = CONFLICT
    return answer


def written(field: str, text: str) -> str:
    """A value of the form as its page writes it."""
    name = field.partition("-")[0]
    if name == "remind":
        return "Sent" if text else "Not sent"
    return ROLES.get(text, text) if name == "role" else text
