"""The answers to requests with an Idempotency-Key, stored in the transaction of their effect (contract 3.1)."""

from dataclasses import dataclass

import orjson

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.sql import OldRows, delete_some
from esign.system.vault import Vault

PURPOSE = "idempotency"
FINGERPRINT = "fingerprint"
REDUCED = ("id", "status")


class KeyTaken(Exception):
    """The key already has a live answer. The caller must roll back the effect and use that answer."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """`body` is ciphertext; `fingerprint` is a mac over method, path and canonical body.

    `about` is the id of the document that the answer is about, if any.
    """

    fingerprint: bytes
    status: int
    body: bytes
    created_at: Instant
    about: str | None = None


def compose_context(key_id: str, key: str) -> bytes:
    """Return the associated data that the ciphertext of an answer is bound to."""
    return f"{key_id}\n{key}".encode()


async def find(reader: Reader, key_id: str, key: str) -> StoredAnswer | None:
    """Return the stored answer, or None."""
    row = await reader.one(
        "SELECT fingerprint, status, body, created_at, about FROM idempotency WHERE key_id = :key_id AND key = :key",
        key_id=key_id,
        key=key,
    )
    return StoredAnswer(**{name: row[name] for name in StoredAnswer.__slots__}) if row else None


async def add(tx: Transaction, key_id: str, key: str, answer: StoredAnswer, expired_before: Instant) -> None:
    """Store an answer. Raises `KeyTaken` unless the key is free or its answer is older than `expired_before`."""
    added = await tx.run(
        """
        INSERT INTO idempotency (key_id, key, fingerprint, status, body, created_at, about)
        VALUES (:key_id, :key, :fingerprint, :status, :body, :now, :about)
        ON CONFLICT (key_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
            body = excluded.body, created_at = excluded.created_at, about = excluded.about
        WHERE idempotency.created_at < :expired_before
        """,
        key_id=key_id,
        key=key,
        fingerprint=answer.fingerprint,
        status=answer.status,
        body=answer.body,
        now=answer.created_at,
        expired_before=expired_before,
        about=answer.about,
    )
    if not added:
        raise KeyTaken


async def reduce(tx: Transaction, about: str, status: str, vault: Vault) -> None:
    """Reduce the answers about a deleted document to its id and status; `status` is used where an answer has none."""
    for row in await tx.all("SELECT key_id, key, body FROM idempotency WHERE about = :about", about=about):
        place = compose_context(row["key_id"], row["key"])
        answer = orjson.loads(vault.decrypt(PURPOSE, row["body"], place))
        left = {"id": about, "status": status} | {n: answer[n] for n in REDUCED if n in answer}
        await tx.run(
            "UPDATE idempotency SET body = :body WHERE key_id = :key_id AND key = :key",
            body=vault.encrypt(PURPOSE, orjson.dumps(left), place),
            key_id=row["key_id"],
            key=row["key"],
        )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` answers older than `before`; return how many."""
    return await delete_some(tx, OldRows("idempotency", "key_id, key", "created_at < :before"), before, limit)
