"""Requests to erase a person's data, and the progress of each."""

from dataclasses import asdict

import orjson

from esign.core.actor import Actor, Mode, Origin
from esign.core.document.erasure import ErasureRequest, Fate
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import dumps, insert
from esign.store.engine.unreadable_rows import load_readable
from esign.system.vault import Vault

COLUMNS = tuple(ErasureRequest.__slots__)
PURPOSE = "erasing"


async def add(tx: Transaction, erasing: ErasureRequest, vault: Vault) -> None:
    """Add a request."""
    assert erasing.email is not None
    row: dict[str, object] = {name: getattr(erasing, name) for name in COLUMNS}
    row |= {
        "email": vault.encrypt(PURPOSE, erasing.email.encode(), erasing.id.encode()),
        "shared": int(erasing.shared),
        "actor": dumps(asdict(erasing.actor)),
        "origin": dumps(asdict(erasing.origin)),
        "mode": erasing.mode.value,
    }
    await tx.run(insert("erasing", COLUMNS), **row)


async def find_unfinished(reader: Reader, vault: Vault) -> list[ErasureRequest]:
    """Return the requests that are not finished, oldest first."""
    rows = await reader.all("SELECT * FROM erasing WHERE finished_at IS NULL ORDER BY created_at, id")
    return load_readable(reader, "erasing", rows, lambda row: load(row, vault))


async def find_newest(reader: Reader, organisation_id: str, vault: Vault, limit: int) -> list[ErasureRequest]:
    """Return the newest `limit` requests of an organisation, newest first."""
    rows = await reader.all(
        "SELECT * FROM erasing WHERE organisation_id = :id ORDER BY created_at DESC, id DESC LIMIT :limit",
        id=organisation_id,
        limit=limit,
    )
    return load_readable(reader, "erasing", rows, lambda row: load(row, vault))


async def advance(tx: Transaction, erasing_id: str, mode: Mode, place: PageStart, fate: Fate | None) -> None:
    """Save that the request has passed a document, and count its fate.

    `fate` is None if the document was gone already, or the person is no longer in it.
    """
    counted = f", {fate.value} = {fate.value} + 1" if fate else ""
    await tx.run(
        f"UPDATE erasing SET mode = :mode, at = :at, document_id = :document_id{counted} WHERE id = :id",
        id=erasing_id,
        mode=mode.value,
        at=place.at,
        document_id=place.id,
    )


async def finish(tx: Transaction, erasing_id: str, now: Instant) -> int:
    """Finish a request and erase whose data it was about; return how many documents were erased in all."""
    row = await tx.one(
        """
        UPDATE erasing SET finished_at = COALESCE(finished_at, :now), email = NULL WHERE id = :id RETURNING erased
        """,
        id=erasing_id,
        now=now,
    )
    return int(row["erased"]) if row else 0


def load(row: Row, vault: Vault) -> ErasureRequest:
    """Return the request of one row."""
    members = {name: row[name] for name in COLUMNS}
    if members["email"] is not None:
        members["email"] = vault.decrypt(PURPOSE, members["email"], row["id"].encode()).decode()
    members["shared"] = bool(members["shared"])
    members["actor"] = Actor(**orjson.loads(members["actor"]))
    members["origin"] = Origin(**orjson.loads(members["origin"]))
    members["mode"] = Mode(members["mode"])
    return ErasureRequest(**members)
