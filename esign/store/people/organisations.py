"""Organisations: one row each."""

import json
from dataclasses import asdict

from esign.core.people.account import Logo, Organisation, Reminders
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.unreadable_rows import load_readable


async def get(reader: Reader, organisation_id: str) -> Organisation:
    """Return the organisation, which must exist."""
    row = await reader.one("SELECT * FROM organisation WHERE id = :id", id=organisation_id)
    assert row is not None, "every row that names an organisation refers to one"
    return load(row)


async def find_first(reader: Reader) -> Organisation | None:
    """Return the organisation that was made first, or None before the first use."""
    row = await reader.one("SELECT * FROM organisation ORDER BY created_at, id LIMIT 1")
    return load(row) if row else None


async def find_all(reader: Reader) -> list[Organisation]:
    """Return all organisations, oldest first."""
    rows = await reader.all("SELECT * FROM organisation ORDER BY created_at, id")
    return load_readable(reader, "organisation", rows, load)


async def find_by_user(reader: Reader, user_id: str) -> list[Organisation]:
    """Return the organisations of a user, the one joined first before the others."""
    rows = await reader.all(
        """
        SELECT o.* FROM member m JOIN organisation o ON o.id = m.organisation_id
        WHERE m.user_id = :user_id ORDER BY m.created_at, m.id
        """,
        user_id=user_id,
    )
    return load_readable(reader, "organisation", rows, load)


async def add(tx: Transaction, organisation: Organisation) -> None:
    """Add an organisation."""
    names = Organisation.__slots__
    await tx.run(
        f"INSERT INTO organisation ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)})",
        **dump(organisation),
    )


async def save(tx: Transaction, organisation: Organisation) -> None:
    """Save an organisation."""
    await tx.run(
        "UPDATE organisation SET "
        + ", ".join(f"{name} = :{name}" for name in Organisation.__slots__ if name != "id")
        + " WHERE id = :id",
        **dump(organisation),
    )


def dump(organisation: Organisation) -> dict[str, object]:
    """Return the columns of an organisation."""
    members = {name: getattr(organisation, name) for name in Organisation.__slots__}
    reminders = organisation.reminders
    return members | {
        "reminders": json.dumps(asdict(reminders)) if reminders else None,
        "embed_origins": json.dumps(organisation.embed_origins),
        "logo": json.dumps(asdict(organisation.logo)) if organisation.logo else None,
    }


def load(row: Row) -> Organisation:
    """Return the organisation of one row."""
    members = {name: row[name] for name in Organisation.__slots__}
    if members["reminders"] is not None:
        members["reminders"] = Reminders(**json.loads(members["reminders"]))
    members["embed_origins"] = tuple(json.loads(members["embed_origins"]))
    if members["logo"] is not None:
        members["logo"] = Logo(**json.loads(members["logo"]))
    return Organisation(**members)
