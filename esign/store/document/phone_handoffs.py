"""Signatures that are drawn on a phone, encrypted. They are deleted with their recipients, or once these have
acted.
"""

from esign.core.document.handoff import Handoff
from esign.core.instant import Instant
from esign.store.document.signing_links import hash_token
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import OldRows, delete_some
from esign.system.vault import Vault

PURPOSE = "handoff"
COLUMNS = "recipient_id, document_id, id, kind, expires_at, opened_at, picture IS NOT NULL AS received"


async def begin(tx: Transaction, token: str, handoff: Handoff) -> None:
    """Start a hand-off, which replaces the recipient's earlier one."""
    await forget(tx, handoff.recipient_id)
    await tx.run(
        """
        INSERT INTO handoff (recipient_id, document_id, id, hash, kind, expires_at)
        VALUES (:recipient_id, :document_id, :id, :hash, :kind, :expires_at)
        """,
        recipient_id=handoff.recipient_id,
        document_id=handoff.document_id,
        id=handoff.id,
        hash=hash_token(token),
        kind=handoff.kind,
        expires_at=handoff.expires_at,
    )


async def find(reader: Reader, token: str) -> Handoff | None:
    """Return the hand-off of the phone's link, or None."""
    row = await reader.one(f"SELECT {COLUMNS} FROM handoff WHERE hash = :hash", hash=hash_token(token))
    return load(row) if row else None


async def get(reader: Reader, recipient_id: str) -> Handoff | None:
    """Return the hand-off of a recipient, or None."""
    row = await reader.one(f"SELECT {COLUMNS} FROM handoff WHERE recipient_id = :id", id=recipient_id)
    return load(row) if row else None


async def open(tx: Transaction, id: str, now: Instant) -> None:
    """Save when the phone opened the link for the first time."""
    await tx.run("UPDATE handoff SET opened_at = :now WHERE id = :id AND opened_at IS NULL", id=id, now=now)


async def receive(tx: Transaction, handoff: Handoff, png: bytes, expires_at: Instant, vault: Vault) -> None:
    """Save the picture that was drawn, and a new expiry."""
    await tx.run(
        "UPDATE handoff SET picture = :picture, expires_at = :expires_at WHERE id = :id",
        id=handoff.id,
        picture=vault.encrypt(PURPOSE, png, handoff.id.encode()),
        expires_at=expires_at,
    )


async def get_picture(reader: Reader, handoff: Handoff, vault: Vault) -> bytes | None:
    """Return the picture that was drawn, or None."""
    row = await reader.one("SELECT picture FROM handoff WHERE id = :id", id=handoff.id)
    found = row and row["picture"]
    return vault.decrypt(PURPOSE, found, handoff.id.encode()) if found else None


async def forget(tx: Transaction, recipient_id: str) -> None:
    """Delete the hand-off of a recipient."""
    await tx.run_by_key("DELETE FROM handoff WHERE recipient_id = :id", id=recipient_id)


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` hand-offs that expired by `before`; return how many."""
    return await delete_some(
        tx, OldRows("handoff", "recipient_id", "expires_at <= :before ORDER BY expires_at"), before, limit
    )


def load(row: Row) -> Handoff:
    """Return the hand-off of one row."""
    return Handoff(
        row["recipient_id"],
        row["document_id"],
        row["id"],
        row["kind"],
        row["expires_at"],
        row["opened_at"],
        bool(row["received"]),
    )
