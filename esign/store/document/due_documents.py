"""Finds the documents and recipients for which something is due; each query reads only a partial index."""

from typing import Literal

from esign.core.actor import Owner
from esign.core.instant import Instant
from esign.store.engine.database import Reader


async def find_expired(reader: Reader, now: Instant, limit: int) -> list[str]:
    """Return the ids of up to `limit` documents past their expiry, the oldest first."""
    rows = await reader.all(
        "SELECT id FROM document WHERE status = 'sent' AND expires_at <= :now ORDER BY expires_at LIMIT :limit",
        now=now,
        limit=limit,
    )
    return [row["id"] for row in rows]


async def find_sealing(reader: Reader) -> list[str]:
    """Return the id of every document that waits for its seal, whether or not a job is queued.

    Documents whose seal is held back since a restore are left out.
    """
    rows = await reader.all(
        """
        SELECT id FROM document WHERE status = 'sealing' AND NOT EXISTS (
            SELECT 1 FROM outbox WHERE key = 'seal:' || document.id AND state = 'held')
        """
    )
    return [row["id"] for row in rows]


async def find_reminders_due(reader: Reader, now: Instant, limit: int) -> list[tuple[str, str]]:
    """Return (document id, recipient id) of up to `limit` recipients to remind, the longest due first."""
    rows = await reader.all(
        "SELECT document_id, id FROM recipient WHERE next_reminder_at <= :now ORDER BY next_reminder_at LIMIT :limit",
        now=now,
        limit=limit,
    )
    return [(row["document_id"], row["id"]) for row in rows]


async def find_kept_invitations(reader: Reader, owner: Owner, limit: int) -> list[tuple[str, str]]:
    """Return (document id, recipient id) of up to `limit` invitations that were kept here and are still awaited."""
    rows = await reader.all(
        """
        SELECT r.document_id, r.id FROM document d JOIN recipient r ON r.document_id = d.id
        WHERE d.organisation_id = :organisation_id AND d.mode = :mode AND d.status = 'sent'
        AND r.delivery = 'kept' AND r.status = 'sent' AND r.role <> 'cc' LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        limit=limit,
    )
    return [(row["document_id"], row["id"]) for row in rows]


async def find_ended(
    reader: Reader,
    owner: Owner,
    how: Literal["completed_at", "closed_at"],
    until: Instant,
    limit: int,
) -> list[str]:
    """Return the ids of up to `limit` documents completed, or closed without a seal, by `until`, oldest first."""
    rows = await reader.all(
        f"""
        SELECT id FROM document WHERE organisation_id = :organisation_id AND mode = :mode
        AND {how} <= :until ORDER BY {how} LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        until=until,
        limit=limit,
    )
    return [row["id"] for row in rows]
