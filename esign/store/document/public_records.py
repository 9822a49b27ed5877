"""What is known here of a sealed document that a stranger asks for.

Who knows its number may learn when it was sealed, and who has its file also the present name of the organisation,
beside the one in the seal. The title and the signers are not read: the names of signers are shown only from the file
itself. The audit trail outlives the document, so a deleted one is still known.
"""

from dataclasses import dataclass

import orjson

from esign.core.actor import Mode
from esign.core.instant import Instant
from esign.store.engine.database import Reader


@dataclass(frozen=True, slots=True)
class PublicRecord:
    """A sealed document; of a deleted one only the times are left.

    `organisation` is the present name of the organisation. It is shown only to those who have the file.
    """

    completed_at: Instant
    deleted_at: Instant | None = None
    mode: Mode | None = None
    sealed: str | None = None
    certificate: str | None = None
    organisation: str | None = None


async def find(reader: Reader, document_id: str) -> PublicRecord | None:
    """Return the record of a document, or None if no document of this number was ever sealed here."""
    kept = await reader.one(
        """
        SELECT d.mode, d.completed_at, d.seal, o.name FROM document d JOIN organisation o ON o.id = d.organisation_id
        WHERE d.id = :id AND d.status = 'completed'
        """,
        id=document_id,
    )
    if kept is not None:
        seal = orjson.loads(kept["seal"])
        return PublicRecord(
            kept["completed_at"],
            None,
            Mode(kept["mode"]),
            seal["sha256"],
            seal["certificate_sha256"],
            kept["name"],
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
