"""The entries of audit trails: those of documents, and those of the administrative log of an organisation."""

import json
from collections.abc import Mapping, Sequence

from esign.core.document.audit import START, AuditEntry
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import dumps, insert, list_parameters

COLUMNS = tuple(AuditEntry.__slots__)


async def get_head(reader: Reader, document_id: str) -> tuple[int, bytes]:
    """Return number and hash of the last entry; without entries, 0 and the start of the chain."""
    row = await reader.one(
        "SELECT seq, hash FROM audit WHERE document_id = :id ORDER BY seq DESC LIMIT 1", id=document_id
    )
    return (row["seq"], row["hash"]) if row else (0, START)


async def append(tx: Transaction, line: AuditEntry) -> None:
    """Add an entry to a trail."""
    personal = dumps(dict(line.personal)) if line.personal is not None else None
    values = {name: getattr(line, name) for name in COLUMNS}
    await tx.run(insert("audit", COLUMNS), **values | {"data": dumps(dict(line.data)), "personal": personal})


async def find_entries(
    reader: Reader, document_id: str, after: int = 0, limit: int = 2**31
) -> list[AuditEntry]:
    """Return the entries of one document with numbers above `after`, oldest first."""
    rows = await reader.all(
        "SELECT * FROM audit WHERE document_id = :id AND seq > :after ORDER BY seq LIMIT :limit",
        id=document_id,
        after=after,
        limit=limit,
    )
    return [load(row) for row in rows]


async def has(reader: Reader, document_id: str, type: str, data: Mapping[str, object]) -> bool:
    """Return whether the trail holds an entry of this type with exactly these data."""
    row = await reader.one(
        "SELECT 1 FROM audit WHERE document_id = :id AND type = :type AND data = :data LIMIT 1",
        id=document_id,
        type=type,
        data=dumps(dict(data)),
    )
    return row is not None


def load(row: Row) -> AuditEntry:
    """Return the entry of one row."""
    personal = json.loads(row["personal"]) if row["personal"] is not None else None
    values = {name: row[name] for name in COLUMNS}
    return AuditEntry(**values | {"data": json.loads(row["data"]), "personal": personal})


async def count(reader: Reader, document_id: str, types: Sequence[str]) -> int:
    """Return how many entries of these types the trail holds; unlike published events, entries are never pruned."""
    names, wanted = list_parameters("type", types)
    row = await reader.one(
        f"SELECT count(*) AS entries FROM audit WHERE document_id = :id AND type IN {names}",
        id=document_id,
        **wanted,
    )
    return int(row["entries"]) if row else 0


async def find_last_time(reader: Reader, document_id: str, type: str, recipient_id: str) -> Instant | None:
    """Return when the latest fact of this type about this recipient was recorded, or None."""
    row = await reader.one(
        """
        SELECT at FROM audit WHERE document_id = :id AND type = :type AND recipient_id = :recipient_id
        ORDER BY seq DESC LIMIT 1
        """,
        id=document_id,
        type=type,
        recipient_id=recipient_id,
    )
    return row["at"] if row else None


async def find_times(
    reader: Reader, document_id: str, type: str, recipient_id: str, since: Instant
) -> list[Instant]:
    """Return when facts of this type about this recipient were recorded, from `since` on, oldest first."""
    rows = await reader.all(
        """
        SELECT at FROM audit WHERE document_id = :id AND type = :type AND recipient_id = :recipient_id
        AND at >= :since ORDER BY seq
        """,
        id=document_id,
        type=type,
        recipient_id=recipient_id,
        since=since,
    )
    return [row["at"] for row in rows]


async def erase_personal(tx: Transaction, document_id: str) -> None:
    """Erase the personal data of a trail; the chain still verifies."""
    await tx.run(
        "UPDATE audit SET personal = NULL, salt = NULL WHERE document_id = :id AND personal IS NOT NULL",
        id=document_id,
    )
