"""A template as the texts of its form, and the keys of new roles."""

import re
import unicodedata
from collections.abc import Container
from dataclasses import replace
from itertools import count

from esign.actions.document import templates
from esign.actions.people import settings
from esign.core.document.template import Template, TemplateRole
from esign.web.api.template_requests import ChangeTemplate
from esign.web.api.templates import apply_changes
from esign.web.http.validation import check
from esign.web.office.draft.draft_form import FormShape, FormSheet, PatchBody, Texts, fill_top
from esign.web.office.draft.saving import FormKind, assign_row_ids
from esign.web.office.frame.call import OfficeCall
from esign.web.office.template.page import find_template

SHAPE = FormShape(
    "roles",
    "rol",
    {"title": "title", "subject": "subject", "message": "message", "days": "expiresInDays"},
    {name: name for name in ("order", "name", "role", "key")},
    named=("name", "key"),
    new={"order": "1", "role": "signer"},
)
LONGEST = 40


def fill_from_template(template: Template) -> FormSheet:
    """Return a template as the texts of its form."""
    return FormSheet(fill_top(template), {role.id: fill_role_row(role) for role in template.roles})


def fill_role_row(role: TemplateRole) -> Texts:
    """Return a role as the texts of a row."""
    return {"order": str(role.order), "name": role.name, "role": role.role.value, "key": role.key}


def assign_keys(sheet: FormSheet) -> FormSheet:
    """Return the sheet with a key for each role that has a name but no key."""
    taken = {row["key"] for row in sheet.rows.values()} - {""}
    rows: dict[str, Texts] = {}
    for id, row in sheet.rows.items():
        key = row["key"] or (make_key(row["name"], taken) if row["name"] else "")
        taken.add(key)
        rows[id] = row | {"key": key}
    return replace(sheet, rows=rows)


def make_key(name: str, taken: Container[str]) -> str:
    """Return a key that is not taken: `Project manager` gives `project_manager`, a second one `project_manager_2`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    key = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[: LONGEST - 4] or "role"
    return next(one for n in count(1) if (one := key if n == 1 else f"{key}_{n}") not in taken)


async def edit_template(call: OfficeCall, template: Template, body: PatchBody) -> Template:
    """Change the template as PATCH does (contract 3.3), with the same schema."""
    given, runtime = check(ChangeTemplate, body.json()), call.runtime
    defaults = await settings.read(runtime, call.owner)

    def decide(before: Template) -> Template:
        after = apply_changes(runtime, defaults, before, given)
        if body.rows is None:
            return after
        return replace(after, roles=assign_row_ids(after.roles, body, before, runtime.vault))

    caller = replace(call.caller, revision=template.revision)
    return await templates.change(runtime, caller, template.id, decide)


TEMPLATES = FormKind(SHAPE, find_template, fill_from_template, edit_template)
