"""What a request with an Idempotency-Key did, stored in the transaction of its effect (contract 3.1)."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.database import Reader, Transaction


class Taken(Exception):
    """The key already has a live answer: the effect must be rolled back and that answer looked at."""


@dataclass(frozen=True, slots=True)
class Stored:
    """`body` is ciphertext; `fingerprint` the SHA-256 of method, path and canonical body."""

    fingerprint: bytes
    status: int
    body: bytes
    created_at: Instant


async def find(reader: Reader, key_id: str, key: str) -> Stored | None:
    row = await reader.one(
        "SELECT fingerprint, status, body, created_at FROM idempotency WHERE key_id = :key_id AND key = :key",
        key_id=key_id,
        key=key,
    )
    return Stored(**{name: row[name] for name in Stored.__slots__}) if row else None


async def add(
    tx: Transaction,
    key_id: str,
    key: str,
    fingerprint: bytes,
    status: int,
    body: bytes,
    now: Instant,
    expired_before: Instant,
) -> None:
    """Raises Taken unless the key is free or its answer is older than `expired_before`."""
    added = await tx.run(
        """
        INSERT INTO idempotency (key_id, key, fingerprint, status, body, created_at)
        VALUES (:key_id, :key, :fingerprint, :status, :body, :now)
        ON CONFLICT (key_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
            body = excluded.body, created_at = excluded.created_at
        WHERE idempotency.created_at < :expired_before
        """,
        key_id=key_id,
        key=key,
        fingerprint=fingerprint,
        status=status,
        body=body,
        now=now,
        expired_before=expired_before,
    )
    if not added:
        raise Taken


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    return await tx.run(
        """
        DELETE FROM idempotency WHERE (key_id, key) IN (
            SELECT key_id, key FROM idempotency WHERE created_at < :before LIMIT :limit)
        """,
        before=before,
        limit=limit,
    )
