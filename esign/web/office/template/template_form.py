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
from esign.web.api.templates import changed
from esign.web.http.validation import check
from esign.web.office.draft.draft_form import Body, Shape, Sheet, Texts, top_of
from esign.web.office.draft.saving import Kind, named
from esign.web.office.frame.call import Call
from esign.web.office.template.page import find

SHAPE = Shape(
    "roles",
    "rol",
    {"title": "title", "subject": "subject", "message": "message", "days": "expiresInDays"},
    {name: name for name in ("order", "name", "role", "key")},
    named=("name", "key"),
    new={"order": "1", "role": "signer"},
)
LONGEST = 40


def of_template(template: Template) -> Sheet:
    """Return a template as the texts of its form."""
    return Sheet(top_of(template), {role.id: of_role(role) for role in template.roles})


def of_role(role: TemplateRole) -> Texts:
    """Return a role as the texts of a row."""
    return {"order": str(role.order), "name": role.name, "role": role.role.value, "key": role.key}


def keyed(sheet: Sheet) -> Sheet:
    """Return the sheet with a key for each role that has a name but no key."""
    taken = {row["key"] for row in sheet.rows.values()} - {""}
    rows: dict[str, Texts] = {}
    for id, row in sheet.rows.items():
        key = row["key"] or (key_from(row["name"], taken) if row["name"] else "")
        taken.add(key)
        rows[id] = row | {"key": key}
    return replace(sheet, rows=rows)


def key_from(name: str, taken: Container[str]) -> str:
    """Return a key that is not taken: `Project manager` gives `project_manager`, a second one `project_manager_2`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    key = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[: LONGEST - 4] or "role"
    return next(one for n in count(1) if (one := key if n == 1 else f"{key}_{n}") not in taken)


async def edit(call: Call, template: Template, body: Body) -> Template:
    """Change the template as PATCH does (contract 3.3), with the same schema."""
    given, runtime = check(ChangeTemplate, body.json()), call.runtime
    defaults = await settings.read(runtime, call.owner)

    def decide(before: Template) -> Template:
        after = changed(runtime, defaults, before, given)
        if body.rows is None:
            return after
        return replace(after, roles=named(after.roles, body, before, runtime.vault))

    return await templates.change(runtime, call.owner, template.id, decide, revision=template.revision)


TEMPLATES = Kind(SHAPE, find, of_template, edit)
