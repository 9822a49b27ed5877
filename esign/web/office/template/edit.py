"""Name, roles and message of a template: one form, saved with a button."""

from functools import partial
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.core.sentence import say
from esign.system.entropy import make_id
from esign.web.office.draft import draft_form as sheets
from esign.web.office.draft.draft_form import FormSheet
from esign.web.office.draft.edit import (
    MOST,
    UNPROCESSABLE,
    apply_button,
    ask_removal,
    name_field,
    name_roles,
    show_conflict,
)
from esign.web.office.draft.saving import save_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords
from esign.web.office.template.page import find_template, get_template_path
from esign.web.office.template.template_form import SHAPE, TEMPLATES, assign_keys, fill_from_template

TOO_MANY, TOO_MANY_FOR_ONE = "A template can have at most {n} roles.", "A template can have at most {n} role."
OWN_LABELS = frozenset({"title", "key", "row"})  # what a template calls otherwise than a draft


async def show_form(call: OfficeCall) -> Response:
    template = await find_template(call)
    return render_form(
        call, template, fill_from_template(template), more=call.request.query_params.get("more") == "1"
    )


def render_form(call: OfficeCall, template: Template, sheet: FormSheet, *, more: bool = False) -> Response:
    return call.page(
        "template_edit",
        template=template,
        rows=list_rows(template, sheet, more=more),
        given=sheet.flatten(),
        seen=fill_from_template(template).dump(),
        roles=name_roles(call.words),
    )


def list_rows(template: Template, sheet: FormSheet, *, more: bool) -> list[dict[str, Any]]:
    """Return the roles as the form shows them.

    An empty row is added if there is no role, or if one more was asked for.
    """
    fields = {role.id: len(role.fields) for role in template.roles}
    shown = [{"key": key, "texts": texts, "fields": fields.get(key, 0)} for key, texts in sheet.rows.items()]
    if more or not shown:
        free = make_id("new", template.updated_at)
        texts = dict.fromkeys(SHAPE.entry, "") | dict(SHAPE.new)
        shown.append({"key": free, "texts": texts, "fields": 0})
    return shown


async def store_form(call: OfficeCall) -> Response:
    """Save the form and lead to the page that the button asks for."""
    template = await find_template(call)
    name, _, key = call.form.get("do", "").partition("-")
    here = get_template_path(template.id)
    if name == "remove" and (question := ask_removal(call, template.roles, key, f"{here}/edit")) is not None:
        return question
    sent = sheets.read_form(call.form, SHAPE)
    if len(sent.rows) > MOST:
        raise Problem(
            "invalid_request",
            say(TOO_MANY, one=TOO_MANY_FOR_ONE, n=MOST),
        )
    mine = assign_keys(apply_button(sent, name, key))
    seen = sheets.load_sheet(call.form.get("seen", ""), SHAPE) or fill_from_template(template)
    saved = await save_form(call, TEMPLATES, mine, seen)
    if saved.merge.conflicts:
        return show_conflict(call, TEMPLATES, saved, f"{here}/edit", partial(name_label, t=call.words))
    if saved.wrong:
        call.wrong = saved.wrong
        answer = render_form(call, saved.stored, saved.sheet, more=name == "add")
        answer.status_code = UNPROCESSABLE
        return answer
    if name == "fields":
        return call.redirect_to(f"{here}/fields")
    if name in ("save", ""):
        return call.redirect_to(here, "template-saved")
    return call.redirect_to(f"{here}/edit{'?more=1' if name == 'add' else ''}", "template-saved")


def name_label(name: str, t: OfficeWords) -> Markup:
    """Return what the form calls a field, or the row of a role."""
    return t(f"template.field.{name}") if name in OWN_LABELS else name_field(name, t)
