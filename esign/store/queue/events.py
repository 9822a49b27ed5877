"""The audit trail of documents, and the events that were published."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from esign.core.actor import Mode
from esign.core.document.audit import START, AuditEntry
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import delete_some, dumps, insert, list_parameters

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


def load(row: Row) -> AuditEntry:
    """Return the entry of one row."""
    personal = json.loads(row["personal"]) if row["personal"] is not None else None
    values = {name: row[name] for name in COLUMNS}
    return AuditEntry(**values | {"data": json.loads(row["data"]), "personal": personal})


async def count(tx: Transaction, document_id: str, types: Sequence[str]) -> int:
    """Return how many entries of these types the trail holds; unlike published events, entries are never pruned."""
    names, wanted = list_parameters("type", types)
    row = await tx.one(
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


async def publish(
    tx: Transaction, event: dict[str, Any], organisation_id: str, document_id: str | None, now: Instant
) -> bytes:
    """Store the body of an event and return it.

    The bytes are sent unchanged to every webhook and at every retry.
    """
    body = dumps(event).encode()
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
        body=body,
    )
    return body


async def get_body(reader: Reader, event_id: str) -> bytes | None:
    """Return the body of an event, or None."""
    row = await reader.one("SELECT body FROM event WHERE id = :id", id=event_id)
    return row["body"] if row else None


async def get_own(reader: Reader, organisation_id: str, mode: Mode, event_id: str) -> bytes:
    """Return the body of an event of this organisation and mode; raise `not_found` for any other id (I5)."""
    row = await reader.one(
        "SELECT body FROM event WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
        id=event_id,
        organisation_id=organisation_id,
        mode=mode.value,
    )
    if row is None:
        raise Problem("not_found")
    return bytes(row["body"])


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events of an organisation from `since` on and before `before`, except those of the type `hidden`."""

    organisation_id: str
    mode: Mode
    type: str | None = None
    document_id: str | None = None
    since: Instant = 0
    before: Instant = 2**62
    hidden: str | None = None


async def find_page(
    reader: Reader, wanted: EventFilter, limit: int, after: PageStart | None = None
) -> list[tuple[PageStart, bytes]]:
    """Return place and body of up to `limit` events, newest first."""
    narrower = ""
    if wanted.document_id is not None:
        narrower = "AND document_id = :document_id"
    if wanted.type is not None:  # a document has few events: filter them instead of using the index of types
        narrower += " AND type = :type" if not narrower else " AND type || '' = :type"
    if wanted.hidden is not None:
        narrower += " AND type || '' <> :hidden"
    rows = await reader.all(
        f"""
        SELECT id, created_at, body FROM event
        WHERE organisation_id = :organisation_id AND mode = :mode {narrower}
        AND created_at >= :since AND (created_at, id) < (:created_at, :id)
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=wanted.organisation_id,
        mode=wanted.mode.value,
        since=wanted.since,
        type=wanted.type,
        document_id=wanted.document_id,
        hidden=wanted.hidden,
        created_at=after.at if after else wanted.before,
        id=after.id if after else "",
        limit=limit,
    )
    return [(PageStart(row["created_at"], row["id"]), row["body"]) for row in rows]


async def find_received(
    reader: Reader, wanted: EventFilter, webhook_id: str, limit: int, after: PageStart
) -> list[tuple[PageStart, str, bool]]:
    """Return place and type of the next `limit` events, oldest first, and whether the webhook has or awaits each."""
    rows = await reader.all(
        """
        SELECT event.id, event.created_at, event.type, delivery.status FROM event
        LEFT JOIN delivery ON delivery.event_id = event.id AND delivery.webhook_id = :webhook_id
        WHERE event.organisation_id = :organisation_id AND event.mode = :mode
        AND (event.created_at, event.id) > (:created_at, :id) AND event.created_at < :before
        ORDER BY event.created_at, event.id LIMIT :limit
        """,
        organisation_id=wanted.organisation_id,
        mode=wanted.mode.value,
        webhook_id=webhook_id,
        before=wanted.before,
        created_at=after.at,
        id=after.id,
        limit=limit,
    )
    return [
        (PageStart(row["created_at"], row["id"]), row["type"], row["status"] not in (None, "failed"))
        for row in rows
    ]


async def erase_personal(tx: Transaction, document_id: str) -> None:
    """Erase the personal data of a trail; the chain still verifies."""
    await tx.run(
        "UPDATE audit SET personal = NULL, salt = NULL WHERE document_id = :id AND personal IS NOT NULL",
        id=document_id,
    )


async def forget(tx: Transaction, document_id: str) -> None:
    """Delete the published events of a document."""
    await tx.run("DELETE FROM event WHERE document_id = :id", id=document_id)


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` published events older than `before`; return how many. The audit trail stays."""
    return await delete_some(tx, "event", "id", "created_at < :before", before, limit)
