"""The events that were published: webhooks receive them, and the API lists them."""

from dataclasses import dataclass
from typing import Any

from esign.core.actor import Mode, Owner
from esign.core.errors import NO_EVENT, Problem
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import OldRows, delete_some, dumps


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


async def get_own(reader: Reader, owner: Owner, event_id: str) -> bytes:
    """Return the body of an event of this owner; raise `not_found` for any other id (I5)."""
    row = await reader.one(
        "SELECT body FROM event WHERE id = :id AND organisation_id = :organisation_id AND mode = :mode",
        id=event_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found", NO_EVENT)
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


async def forget(tx: Transaction, document_id: str) -> None:
    """Delete the published events of a document."""
    await tx.run("DELETE FROM event WHERE document_id = :id", id=document_id)


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` published events older than `before`; return how many. The audit trail stays."""
    return await delete_some(tx, OldRows("event", "id", "created_at < :before"), before, limit)
