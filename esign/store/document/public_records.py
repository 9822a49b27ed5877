"""What anyone who knows the number of a sealed document may learn: when it was sealed, and the hashes of its
files.

It does not contain whose document it is, its title or its signers. The audit trail outlives the document, so a
deleted one is still known.
"""

from dataclasses import dataclass

import orjson

from esign.core.actor import Mode
from esign.core.instant import Instant
from esign.store.engine.database import Reader


@dataclass(frozen=True, slots=True)
class PublicRecord:
    """A sealed document; of a deleted one only the times are left."""

    completed_at: Instant
    deleted_at: Instant | None = None
    mode: Mode | None = None
    sealed: str | None = None
    certificate: str | None = None


async def find(reader: Reader, document_id: str) -> PublicRecord | None:
    """Return the record of a document, or None if no document of this number was ever sealed here."""
    kept = await reader.one(
        "SELECT mode, completed_at, seal FROM document WHERE id = :id AND status = 'completed'",
        id=document_id,
    )
    if kept is not None:
        seal = orjson.loads(kept["seal"])
        return PublicRecord(
            kept["completed_at"], None, Mode(kept["mode"]), seal["sha256"], seal["certificate_sha256"]
        )
    left = await reader.one(
        """
        SELECT max(CASE type WHEN 'document.completed' THEN at END) AS completed_at,
            max(CASE type WHEN 'document.deleted' THEN at END) AS deleted_at
        FROM audit WHERE document_id = :id
        """,
        id=document_id,
    )
    if left is None or left["completed_at"] is None or left["deleted_at"] is None:
        return None
    return PublicRecord(left["completed_at"], left["deleted_at"])
