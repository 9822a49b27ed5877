"""The saved views of the document list."""

from esign.core.actor import Mode, Owner
from esign.core.document.saved_view import SavedView
from esign.core.errors import Problem
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import insert
from esign.store.engine.unreadable_rows import load_readable

COLUMNS = tuple(SavedView.__slots__)


async def find_own(reader: Reader, owner: Owner, member_id: str, limit: int) -> list[SavedView]:
    """Return the views of a member, oldest first."""
    rows = await reader.all(
        """
        SELECT * FROM saved_view
        WHERE organisation_id = :organisation_id AND mode = :mode AND member_id = :member_id
        ORDER BY created_at, id LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        member_id=member_id,
        limit=limit,
    )
    return load_readable(reader, "saved_view", rows, load)


async def find_shared(reader: Reader, owner: Owner, limit: int) -> list[SavedView]:
    """Return the views that members share with the organisation, oldest first."""
    rows = await reader.all(
        """
        SELECT * FROM saved_view
        WHERE organisation_id = :organisation_id AND mode = :mode AND shared = 1
        ORDER BY created_at, id LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        limit=limit,
    )
    return load_readable(reader, "saved_view", rows, load)


async def get_own(reader: Reader, owner: Owner, view_id: str) -> SavedView:
    """Return the view of this organisation and mode; raise `not_found` for any other id."""
    row = await reader.one(
        "SELECT * FROM saved_view WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
        id=view_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found")
    return load(row)


async def add(tx: Transaction, view: SavedView) -> None:
    """Add a view."""
    await tx.run(insert("saved_view", COLUMNS), **dump(view))


async def save(tx: Transaction, view: SavedView) -> None:
    """Save the name of a view and whether it is shared."""
    await tx.run(
        "UPDATE saved_view SET name = :name, shared = :shared WHERE id = :id",
        id=view.id,
        name=view.name,
        shared=int(view.shared),
    )


async def delete(tx: Transaction, view_id: str) -> None:
    """Delete a view."""
    await tx.run("DELETE FROM saved_view WHERE id = :id", id=view_id)


async def delete_private(tx: Transaction, member_id: str) -> None:
    """Delete the views of a member who leaves; what they share stays."""
    await tx.run("DELETE FROM saved_view WHERE member_id = :member_id AND shared = 0", member_id=member_id)


async def delete_mentioning(tx: Transaction, organisation_id: str, text: str) -> None:
    """Delete every view whose query contains a text, such as the address of a person who is erased."""
    rows = await tx.all(
        "SELECT id, query FROM saved_view WHERE organisation_id = :organisation_id",
        organisation_id=organisation_id,
    )
    for row in rows:
        if text.casefold() in row["query"].casefold():
            await delete(tx, row["id"])


def load(row: Row) -> SavedView:
    """Return the view of one row."""
    members = {name: row[name] for name in COLUMNS}
    return SavedView(**members | {"mode": Mode(row["mode"]), "shared": bool(row["shared"])})


def dump(view: SavedView) -> dict[str, object]:
    """Return the columns of a view."""
    return {name: getattr(view, name) for name in COLUMNS} | {
        "mode": view.mode.value,
        "shared": int(view.shared),
    }
