"""A template as its form shows it, and the keys of roles that are new."""

import re
import unicodedata
from collections.abc import Container
from dataclasses import replace
from itertools import count
from typing import Any

from esign.actions import settings, templates
from esign.core.template import Template, TemplateRole
from esign.web.api.template_requests import ChangeTemplate
from esign.web.api.templates import changed
from esign.web.office.call import Call
from esign.web.office.draft.saving import Kind
from esign.web.office.draft.sheet import Shape, Sheet, Texts, top_of
from esign.web.office.template.page import find
from esign.web.validation import check

SHAPE = Shape(
    "roles",
    {"title": "title", "subject": "subject", "message": "message", "days": "expiresInDays"},
    {name: name for name in ("order", "name", "role", "key")},
    named=("name", "key"),
    new={"order": "1", "role": "signer"},
)
LONGEST = 40


def of_template(template: Template) -> Sheet:
    return Sheet(top_of(template), {role.id: of_role(role) for role in template.roles})


def of_role(role: TemplateRole) -> Texts:
    return {"order": str(role.order), "name": role.name, "role": role.role.value, "key": role.key}


def keyed(sheet: Sheet) -> Sheet:
    """With a key for each role that has a name and none yet."""
    taken = {row["key"] for row in sheet.rows.values()} - {""}
    rows: dict[str, Texts] = {}
    for id, row in sheet.rows.items():
        key = row["key"] or (key_from(row["name"], taken) if row["name"] else "")
        taken.add(key)
        rows[id] = row | {"key": key}
    return replace(sheet, rows=rows)


def key_from(name: str, taken: Container[str]) -> str:
    """`Project manager` is `project_manager`, the second one `project_manager_2`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    key = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[: LONGEST - 4] or "role"
    return next(one for n in count(1) if (one := key if n == 1 else f"{key}_{n}") not in taken)


async def edit(call: Call, template: Template, wanted: dict[str, Any]) -> Template:
    """What PATCH does (contract 3.3), with the same schema."""
    given = check(ChangeTemplate, wanted)
    defaults = await settings.read(call.runtime, call.owner)
    return await templates.change(
        call.runtime,
        call.owner,
        template.id,
        lambda before: changed(call.runtime, defaults, before, given),
        revision=template.revision,
    )


TEMPLATES = Kind(SHAPE, find, of_template, edit)
