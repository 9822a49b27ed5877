"""Signing links: only the SHA-256 of a token is stored, so a link cannot be read back, only issued anew."""

import hashlib
from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.database import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Link:
    """`issued_to` is `recipient` for a mailed link, `sender` for one handed to the sender."""

    recipient_id: str
    document_id: str
    issued_to: str


def hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def add(
    tx: Transaction, token: str, link: Link, now: Instant, expires_at: Instant | None = None
) -> None:
    await tx.run(
        """
        INSERT INTO link (hash, recipient_id, document_id, issued_to, created_at, expires_at)
        VALUES (:hash, :recipient_id, :document_id, :issued_to, :now, :expires_at)
        """,
        hash=hashed(token),
        recipient_id=link.recipient_id,
        document_id=link.document_id,
        issued_to=link.issued_to,
        now=now,
        expires_at=expires_at,
    )


async def revoke(tx: Transaction, recipient_id: str, now: Instant) -> None:
    """End every link that a recipient has."""
    await tx.run(
        "UPDATE link SET revoked_at = :now WHERE recipient_id = :id AND revoked_at IS NULL",
        id=recipient_id,
        now=now,
    )


async def find(reader: Reader, token: str, now: Instant) -> Link | None:
    """The live link of a token."""
    row = await reader.one(
        """
        SELECT recipient_id, document_id, issued_to FROM link
        WHERE hash = :hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
        """,
        hash=hashed(token),
        now=now,
    )
    return Link(row["recipient_id"], row["document_id"], row["issued_to"]) if row else None
