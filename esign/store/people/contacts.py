"""The address book: contacts, and the words under which they are found."""

from dataclasses import replace

from esign.core.actor import Mode, Owner
from esign.core.errors import Problem
from esign.core.fold_text import fold
from esign.core.instant import Instant
from esign.core.people.contact import Contact
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import OldRows, delete_some, insert, list_parameters
from esign.store.engine.unreadable_rows import load_readable

MEMBERS = tuple(Contact.__slots__)
COLUMNS = (*MEMBERS, "address", "sorted")
LAST = "\U0010ffff"  # stands behind every character of a word


async def get_own(reader: Reader, owner: Owner, contact_id: str) -> Contact:
    """Return the contact of this owner; raise `not_found` for any other id."""
    row = await reader.one(
        "SELECT * FROM contact WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
        id=contact_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found")
    return load(row)


async def find_by_address(reader: Reader, owner: Owner, email: str) -> Contact | None:
    """Return the contact with this email address in any case, or None."""
    row = await reader.one(
        "SELECT * FROM contact WHERE organisation_id = :organisation_id AND mode = :mode AND address = :address",
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        address=fold(email),
    )
    return load(row) if row else None


async def find_page(
    reader: Reader, owner: Owner, limit: int, after: tuple[str, str] = ("", "")
) -> list[Contact]:
    """Return up to `limit` contacts by name, behind the contact of this folded name and id."""
    rows = await reader.all(
        """
        SELECT * FROM contact
        WHERE organisation_id = :organisation_id AND mode = :mode AND (sorted, id) > (:sorted, :id)
        ORDER BY sorted, id LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        sorted=after[0],
        id=after[1],
        limit=limit,
    )
    return load_readable(reader, "contact", rows, load)


async def find_by_word(reader: Reader, owner: Owner, beginning: str, limit: int) -> list[Contact]:
    """Return contacts of which a word begins with this folded text; `limit` words are looked at, in their order."""
    rows = await reader.all(
        """
        SELECT contact_id FROM contact_word
        WHERE organisation_id = :organisation_id AND mode = :mode AND word >= :beginning AND word < :end
        ORDER BY word, contact_id LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        beginning=beginning,
        end=beginning + LAST,
        limit=limit,
    )
    return await get_many(reader, list(dict.fromkeys(row["contact_id"] for row in rows)))


async def get_many(reader: Reader, ids: list[str]) -> list[Contact]:
    """Return those of these contacts that exist."""
    if not ids:
        return []
    names, given = list_parameters("id", ids)
    rows = await reader.all(f"SELECT * FROM contact WHERE id IN {names}", **given)
    return load_readable(reader, "contact", rows, load)


async def save(tx: Transaction, contact: Contact) -> Contact:
    """Add a contact, or replace the one of the same id or address; return it with the id that it has."""
    row = await tx.one(
        insert("contact", COLUMNS)
        + """
        ON CONFLICT (organisation_id, mode, address) DO UPDATE
        SET name = excluded.name, email = excluded.email, company = excluded.company, used_at = excluded.used_at,
            sorted = excluded.sorted
        RETURNING id
        """,
        **dump(contact),
    )
    assert row is not None
    saved = replace(contact, id=row["id"])
    await tx.run("DELETE FROM contact_word WHERE contact_id = :id", id=saved.id)
    for word in saved.list_words():
        await tx.run(
            insert("contact_word", ("organisation_id", "mode", "word", "contact_id")),
            organisation_id=saved.organisation_id,
            mode=saved.mode.value,
            word=word,
            contact_id=saved.id,
        )
    return saved


async def touch(tx: Transaction, contact_id: str, now: Instant) -> None:
    """Save that a document went to the contact."""
    await tx.run("UPDATE contact SET used_at = :now WHERE id = :id", id=contact_id, now=now)


async def delete(tx: Transaction, contact_id: str) -> None:
    """Delete a contact with its words."""
    await tx.run("DELETE FROM contact WHERE id = :id", id=contact_id)


async def delete_by_address(tx: Transaction, organisation_id: str, email: str) -> None:
    """Delete the contacts with this email address, in live and in test mode."""
    for mode in Mode:
        await tx.run(
            "DELETE FROM contact WHERE organisation_id = :organisation_id AND mode = :mode AND address = :address",
            organisation_id=organisation_id,
            mode=mode.value,
            address=fold(email),
        )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` contacts that were last used before `before`; return how many."""
    return await delete_some(tx, OldRows("contact", "id", "used_at < :before"), before, limit)


def load(row: Row) -> Contact:
    """Return the contact of one row."""
    return Contact(**{name: row[name] for name in MEMBERS} | {"mode": Mode(row["mode"])})


def dump(contact: Contact) -> dict[str, object]:
    """Return the columns of a contact."""
    members: dict[str, object] = {name: getattr(contact, name) for name in MEMBERS}
    return members | {
        "mode": contact.mode.value,
        "address": fold(contact.email),
        "sorted": fold(contact.name),
    }
