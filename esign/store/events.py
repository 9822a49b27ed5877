"""The audit trail of documents, and the events that were published."""

import json
from collections.abc import Sequence
from typing import Any

from esign.core.audit import START, Entry
from esign.core.instant import Instant
from esign.store.database import Reader, Row, Transaction
from esign.store.sql import dumps, insert, listed

COLUMNS = tuple(Entry.__slots__)


async def head(reader: Reader, document_id: str) -> tuple[int, bytes]:
    """Number and hash of the last entry; 0 and the chain's start when there is none."""
    row = await reader.one(
        "SELECT seq, hash FROM audit WHERE document_id = :id ORDER BY seq DESC LIMIT 1", id=document_id
    )
    return (row["seq"], row["hash"]) if row else (0, START)


async def append(tx: Transaction, line: Entry) -> None:
    personal = dumps(dict(line.personal)) if line.personal is not None else None
    values = {name: getattr(line, name) for name in COLUMNS}
    await tx.run(insert("audit", COLUMNS), **values | {"data": dumps(dict(line.data)), "personal": personal})


async def trail(reader: Reader, document_id: str, after: int = 0, limit: int = 2**31) -> list[Entry]:
    """Entries of one document from the one after number `after` on, oldest first."""
    rows = await reader.all(
        "SELECT * FROM audit WHERE document_id = :id AND seq > :after ORDER BY seq LIMIT :limit",
        id=document_id,
        after=after,
        limit=limit,
    )
    return [load(row) for row in rows]


def load(row: Row) -> Entry:
    personal = json.loads(row["personal"]) if row["personal"] is not None else None
    values = {name: row[name] for name in COLUMNS}
    return Entry(**values | {"data": json.loads(row["data"]), "personal": personal})


async def count(tx: Transaction, document_id: str, types: Sequence[str]) -> int:
    """How many entries of these types the trail holds; unlike the published events it forgets nothing."""
    names, wanted = listed("type", types)
    row = await tx.one(
        f"SELECT count(*) AS entries FROM audit WHERE document_id = :id AND type IN {names}",
        id=document_id,
        **wanted,
    )
    return int(row["entries"]) if row else 0


async def publish(
    tx: Transaction, event: dict[str, Any], organisation_id: str, document_id: str | None, now: Instant
) -> None:
    """Keep the body as it will be sent, byte for byte, to every endpoint and at every retry."""
    await tx.run(
        """
        INSERT INTO event (id, organisation_id, mode, document_id, sequence, type, created_at, body)
        VALUES (:id, :organisation_id, :mode, :document_id, :sequence, :type, :now, :body)
        """,
        id=event["id"],
        organisation_id=organisation_id,
        mode=event["mode"],
        document_id=document_id,
        sequence=event["sequence"],
        type=event["type"],
        now=now,
        body=dumps(event).encode(),
    )


async def body(reader: Reader, event_id: str) -> bytes | None:
    row = await reader.one("SELECT body FROM event WHERE id = :id", id=event_id)
    return row["body"] if row else None


async def erase_personal(tx: Transaction, document_id: str) -> None:
    """Null what is personal in a trail; the chain still verifies."""
    await tx.run(
        "UPDATE audit SET personal = NULL, salt = NULL WHERE document_id = :id AND personal IS NOT NULL",
        id=document_id,
    )


async def forget(tx: Transaction, document_id: str) -> None:
    """Published events of a document that is deleted."""
    await tx.run("DELETE FROM event WHERE document_id = :id", id=document_id)


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Forget published events older than `before`; the audit trail stays."""
    return await tx.run(
        "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE created_at < :before LIMIT :limit)",
        before=before,
        limit=limit,
    )
