"""A template as the texts of its form, and the keys of new roles."""

import re
import unicodedata
from collections.abc import Container
from dataclasses import replace
from itertools import count

from esign.actions.document import templates
from esign.actions.document.templates import TemplateChanges
from esign.core.document.template import Template, TemplateRole
from esign.web.http.validation import check
from esign.web.office.draft.draft_form import FormChanges, FormShape, FormSheet, MessageForm, Texts, fill_top
from esign.web.office.draft.saving import FormKind, list_entries
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.template.page import find_template
from esign.web.values.document_values import Order, PersonName, RoleKey, RoleName
from esign.web.values.schema import Patch

SHAPE = FormShape(
    "roles",
    "rol",
    {"title": "title", "subject": "subject", "message": "message", "days": "expiresInDays"},
    {name: name for name in ("order", "name", "role", "key")},
    named=("name", "key"),
    required=("key",),
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


class RoleRow(Patch):
    """One role of the form: one that is there already by `id`, with what the user changed, or a new one."""

    id: str | None = None
    key: RoleKey = ""
    name: PersonName = ""
    role: RoleName = "signer"
    order: Order = 1


class TemplateForm(MessageForm):
    roles: tuple[RoleRow, ...] = ()


async def edit_template(call: OfficeCall, template: Template, body: FormChanges) -> Template:
    """Change the template."""
    given = check(TemplateForm, body.list_values())
    roles = list_entries(given.roles, body, template, call.runtime.vault)
    caller = replace(call.caller, revision=template.revision)
    return await templates.change(
        call.runtime, caller, template.id, TemplateChanges(given.list_members("roles"), roles)
    )


TEMPLATES = FormKind(SHAPE, find_template, fill_from_template, edit_template)
