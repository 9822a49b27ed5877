"""Templates: one row each, with roles and fields as JSON, because no query needs one of these alone."""

from typing import Any

import orjson

from esign.core.actor import Mode, Owner
from esign.core.document.document import Role
from esign.core.document.template import Template, TemplateRole
from esign.core.errors import NO_TEMPLATE, Problem
from esign.core.fold_text import fold
from esign.core.people.account import Reminders
from esign.store.document import blobs
from esign.store.document.documents import dump_field, dump_file, dump_members, load_field, load_file
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.dialect import contains
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import dumps, insert
from esign.store.engine.unreadable_rows import load_readable

MEMBERS = tuple(Template.__slots__)
COLUMNS = (*MEMBERS, "folded")
WORDS = "title || ' ' || coalesce(subject, '') || ' ' || coalesce(message, '') || roles"


async def get_own(reader: Reader, owner: Owner, template_id: str) -> Template:
    """Return the template of this owner; raise `not_found` for any other id (I5)."""
    row = await reader.one(
        "SELECT * FROM template WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
        id=template_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found", NO_TEMPLATE)
    return load(row)


async def find_containing(reader: Reader, organisation_id: str, text: str) -> list[tuple[str, str]]:
    """Return (id, title) of the templates that contain this text in title, mail or roles.

    ASCII letters are compared without case, all others exactly.
    """
    rows = await reader.all(
        f"""
        SELECT id, title FROM template
        WHERE organisation_id = :organisation_id AND mode IN ('live', 'test') AND {contains(f"lower({WORDS})", ":text")}
        ORDER BY mode, created_at, id
        """,
        organisation_id=organisation_id,
        text=text.encode().lower().decode(),  # ASCII only, as the `lower` of SQL
    )
    return [(row["id"], row["title"]) for row in rows]


async def find_page(
    reader: Reader, owner: Owner, limit: int, after: PageStart | None = None, q: str | None = None
) -> list[Template]:
    """Return up to `limit` templates, newest first; with `q` only those whose title contains it in any case.

    `q` walks along the index of the organisation's own templates, of which there are a thousand at most.
    """
    rows = await reader.all(
        """
        SELECT * FROM template
        WHERE organisation_id = :organisation_id AND mode = :mode AND (created_at, id) < (:created_at, :id)
        AND (CAST(:pattern AS TEXT) IS NULL OR folded LIKE :pattern ESCAPE '!')
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        created_at=after.at if after else 2**62,
        id=after.id if after else "",
        pattern=None if q is None else make_pattern(q),
        limit=limit,
    )
    return load_readable(reader, "template", rows, load)


async def find_titles(reader: Reader, owner: Owner, limit: int) -> list[tuple[str, str]]:
    """Return (id, title) of the newest `limit` templates, to choose from."""
    rows = await reader.all(
        "SELECT id, title FROM template WHERE organisation_id = :organisation_id AND mode = :mode"
        " ORDER BY created_at DESC, id DESC LIMIT :limit",
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        limit=limit,
    )
    return [(row["id"], row["title"]) for row in rows]


async def count(reader: Reader, owner: Owner) -> int:
    """Return the number of templates of an owner."""
    row = await reader.one(
        "SELECT COUNT(*) AS n FROM template WHERE organisation_id = :organisation_id AND mode = :mode",
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    return int(row["n"]) if row else 0


async def add(tx: Transaction, template: Template) -> None:
    """Add a template; the content of its file must have been stored before."""
    await tx.run(insert("template", COLUMNS), **dump(template))
    file = template.file
    await blobs.attach_to_template(tx, template.id, file.uploaded, file.prepared)


async def save(tx: Transaction, template: Template, before: Template) -> None:
    """Write a template whose revision the caller has raised. Raises `revision_mismatch` if it changed since
    `before`.
    """
    changed = await tx.run(
        "UPDATE template SET "
        + ", ".join(f"{c} = :{c}" for c in COLUMNS if c != "id")
        + " WHERE id = :id AND revision = :from_revision",
        **dump(template),
        from_revision=before.revision,
    )
    if not changed:
        raise Problem("revision_mismatch", "Someone changed the template in the meantime. Read it again.")


async def delete(tx: Transaction, template_id: str) -> None:
    """Delete a template; the content of its file stays while a document refers to it."""
    await tx.run("DELETE FROM template WHERE id = :id", id=template_id)


def make_pattern(q: str) -> str:
    """Return the LIKE pattern for titles that contain `q`, folded; `!` escapes."""
    escaped = fold(q).replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"


# ---------- rows to dataclasses and back ----------


def load(row: Row) -> Template:
    """Return the template of one row."""
    members = {name: row[name] for name in MEMBERS}
    return Template(
        **members
        | {
            "mode": Mode(row["mode"]),
            "file": load_file(row["file"]),
            "reminders": Reminders(**orjson.loads(row["reminders"])),
            "roles": tuple(load_role(stored) for stored in orjson.loads(row["roles"])),
        }
    )


def load_role(stored: dict[str, Any]) -> TemplateRole:
    """Return the TemplateRole of its JSON object."""
    fields = tuple(load_field(field) for field in stored["fields"])
    return TemplateRole(**stored | {"role": Role(stored["role"]), "fields": fields})


def dump(template: Template) -> dict[str, Any]:
    """Return the columns of a template."""
    roles = [dump_members(role) | {"fields": [dump_field(f) for f in role.fields]} for role in template.roles]
    return dump_members(template) | {
        "mode": template.mode.value,
        "file": dump_file(template.file),
        "reminders": dumps(dump_members(template.reminders)),
        "roles": dumps(roles),
        "folded": fold(template.title),
    }
