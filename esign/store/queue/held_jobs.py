"""What a restore from a backup holds back: mails, seals and deliveries that were due in the copy.

They may have been done since the copy was made. Nothing that works on the outbox takes a job in the state `held`.
"""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction

WAITS = "held back since the restore from a backup: it may have been delivered before"
DROPPED = "dropped after a restore from a backup"
LEFT_OUT = "left out after a restore from a backup: the webhook was off"


@dataclass(frozen=True, slots=True)
class Restoration:
    """A restore of this database: when, of which time the backup is, and when what it held back went on."""

    restored_at: Instant
    made_at: Instant
    resumed_at: Instant | None


@dataclass(frozen=True, slots=True)
class HeldMail:
    """A mail that is held back, as its row of the outbox has it."""

    id: int
    key: str
    document_id: str | None
    body: bytes | None
    attempts: int
    created_at: Instant
    organisation_id: str | None


@dataclass(frozen=True, slots=True)
class HeldDelivery:
    """A delivery that is held back: the event, and the address of the webhook; `is_on`: it would be delivered."""

    id: str
    event_type: str
    document_id: str | None
    url: str
    is_on: bool
    created_at: Instant


@dataclass(frozen=True, slots=True)
class HeldCounts:
    """How many mails, deliveries and seals are held back."""

    mails: int
    deliveries: int
    seals: int

    @property
    def are_none(self) -> bool:
        """Return whether nothing is held back."""
        return not (self.mails or self.deliveries or self.seals)


async def hold(tx: Transaction, made_at: Instant, now: Instant) -> None:
    """Hold back everything that waits, and the seal of each document that has all signatures, and note the restore.

    The schedule of backups is forgotten, so that it begins with another label.
    """
    await tx.run(
        "INSERT INTO restoration (restored_at, made_at) VALUES (:now, :made_at)", now=now, made_at=made_at
    )
    await tx.run("UPDATE outbox SET state = 'held', boot = NULL WHERE state = 'pending'")
    await tx.run(
        """
        INSERT INTO outbox (kind, key, document_id, body, state, due_at, attempts, created_at, organisation_id)
        SELECT 'seal', 'seal:' || id, id, :body, 'held', :now, 0, :now, organisation_id
        FROM document WHERE status = 'sealing'
        ON CONFLICT (key) DO UPDATE SET state = 'held', boot = NULL, finished_at = NULL,
            worker_deaths = 0, cut_offs = 0, not_before = 0
        """,
        now=now,
        body=b"",
    )
    await tx.run(
        """
        UPDATE delivery SET status = 'failed', held_at = :now, finished_at = :now, last_error = :reason, boot = NULL
        WHERE status = 'pending'
        """,
        now=now,
        reason=WAITS,
    )
    # With a label of its own it deletes no backup of the server that was lost, or of the one that still runs.
    await tx.run("DELETE FROM backup_schedule")


async def find_open_restoration(reader: Reader) -> Restoration | None:
    """Return the latest restore whose mails and deliveries are still held back, or None."""
    rows = await reader.all(
        """
        SELECT restored_at, made_at, resumed_at FROM restoration WHERE resumed_at IS NULL
        ORDER BY id DESC LIMIT 1
        """
    )
    return Restoration(**dict(rows[0])) if rows else None


async def count(reader: Reader) -> HeldCounts:
    """Return how much is held back."""
    rows = await reader.all(
        """
        SELECT (SELECT count(*) FROM outbox WHERE state = 'held' AND kind = 'mail') AS mails,
            (SELECT count(*) FROM delivery WHERE held_at IS NOT NULL) AS deliveries,
            (SELECT count(*) FROM outbox WHERE state = 'held' AND kind = 'seal') AS seals
        """
    )
    return HeldCounts(**dict(rows[0]))


async def list_mails(reader: Reader) -> list[HeldMail]:
    """Return the mails that are held back, the oldest first."""
    rows = await reader.all(
        """
        SELECT id, key, document_id, body, attempts, created_at, organisation_id FROM outbox
        WHERE state = 'held' AND kind = 'mail' ORDER BY id
        """
    )
    return [HeldMail(**dict(row)) for row in rows]


async def list_deliveries(reader: Reader) -> list[HeldDelivery]:
    """Return the deliveries that are held back, the oldest first."""
    rows = await reader.all(
        """
        SELECT delivery.id, delivery.event_type, event.document_id, coalesce(webhook.url, '') AS url,
            coalesce(webhook.enabled, 0) AS is_on, delivery.created_at
        FROM delivery LEFT JOIN webhook ON webhook.id = delivery.webhook_id JOIN event ON event.id = delivery.event_id
        WHERE delivery.held_at IS NOT NULL ORDER BY delivery.number
        """
    )
    return [HeldDelivery(**{**dict(row), "is_on": bool(row["is_on"])}) for row in rows]


async def list_unsealed(reader: Reader) -> list[str]:
    """Return the ids of the documents whose seal is held back."""
    rows = await reader.all(
        "SELECT document_id FROM outbox WHERE state = 'held' AND kind = 'seal' ORDER BY id"
    )
    return [row["document_id"] for row in rows]


async def release(tx: Transaction, now: Instant) -> None:
    """Make the mails and deliveries due now that are held back, and note it.

    A delivery made by hand is left out, and those to webhooks that are gone or off.
    """
    await tx.run_and_wake(
        "UPDATE outbox SET state = 'pending', due_at = :now WHERE state = 'held' AND kind = 'mail'", now=now
    )
    await tx.run_and_wake(
        """
        UPDATE delivery SET status = 'pending', due_at = :now, finished_at = NULL, last_error = NULL
        WHERE held_at IS NOT NULL AND status = 'failed'
            AND EXISTS (SELECT 1 FROM webhook WHERE webhook.id = delivery.webhook_id AND webhook.enabled = 1)
        """,
        now=now,
    )
    await tx.run(
        "UPDATE delivery SET last_error = :reason WHERE held_at IS NOT NULL AND status = 'failed'",
        reason=LEFT_OUT,
    )
    await _note_resumption(tx, now)


async def drop(tx: Transaction, now: Instant) -> None:
    """Give up the mails and deliveries that are held back, and note it."""
    await tx.run(
        """
        UPDATE outbox SET state = 'failed', finished_at = :now, last_error = :reason, body = NULL
        WHERE state = 'held' AND kind = 'mail'
        """,
        now=now,
        reason=DROPPED,
    )
    await tx.run(
        "UPDATE delivery SET last_error = :reason WHERE held_at IS NOT NULL AND status = 'failed'",
        reason=DROPPED,
    )
    await _note_resumption(tx, now)


async def _note_resumption(tx: Transaction, now: Instant) -> None:
    await tx.run("UPDATE delivery SET held_at = NULL WHERE held_at IS NOT NULL")
    await tx.run("UPDATE restoration SET resumed_at = :now WHERE resumed_at IS NULL", now=now)


async def release_seals(tx: Transaction, now: Instant) -> None:
    """Make the seals due now that are held back."""
    await tx.run_and_wake(
        "UPDATE outbox SET state = 'pending', due_at = :now WHERE state = 'held' AND kind = 'seal'", now=now
    )


async def is_seal_held(reader: Reader, document_id: str) -> bool:
    """Return whether the seal of a document is held back."""
    row = await reader.one(
        "SELECT 1 FROM outbox WHERE key = :key AND state = 'held'", key=f"seal:{document_id}"
    )
    return row is not None


async def finish_seal(tx: Transaction, document_id: str, now: Instant) -> None:
    """Finish the seal of a document that has its sealed file, also one that is due or set aside."""
    await tx.run(
        """
        UPDATE outbox SET state = 'done', finished_at = :now
        WHERE key = :key AND state IN ('held', 'pending', 'aside')
        """,
        key=f"seal:{document_id}",
        now=now,
    )
