"""Two circuit breakers for mail: one for all mails, and one for those of each organisation.

Both survive a restart. The first opens when the mail server accepts nothing. The second opens when it defers
the mails of one organisation, which may be due to their recipients.
"""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction


@dataclass(frozen=True, slots=True)
class MailStop:
    """An open breaker: no mail is sent since `stopped_at`, and one mail is tried at `probe_at`.

    `cause` is `login`, `refused` or, for the mails of one organisation, `deferred`.
    """

    stopped_at: Instant
    cause: str
    reason: str
    probe_at: Instant


async def find_stop(reader: Reader, organisation_id: str | None = None) -> MailStop | None:
    """Return the open breaker for all mails, or else that of the organisation; None if both are closed."""
    row = await reader.one(
        "SELECT stopped_at, cause, reason, probe_at FROM relay WHERE id = 1 AND stopped_at IS NOT NULL"
    )
    if row is None and organisation_id is not None:
        row = await reader.one(
            """
            SELECT stopped_at, 'deferred' AS cause, reason, probe_at FROM deferral
            WHERE organisation_id = :organisation_id AND stopped_at IS NOT NULL
            """,
            organisation_id=organisation_id,
        )
    return load(row) if row else None


async def find_silence(reader: Reader) -> MailStop | None:
    """Return the organisation's breaker that opened last, if no mail at all was sent since; else None."""
    row = await reader.one(
        """
        SELECT stopped_at, 'deferred' AS cause, reason, probe_at FROM deferral
        WHERE stopped_at IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM outbox WHERE finished_at >= deferral.stopped_at AND kind = 'mail' AND state = 'done')
        ORDER BY stopped_at DESC LIMIT 1
        """
    )
    return load(row) if row else None


def load(row: Row) -> MailStop:
    """Return the breaker of one row."""
    return MailStop(**{name: row[name] for name in MailStop.__slots__})


async def open_breaker(tx: Transaction, stop: MailStop) -> bool:
    """Open the breaker for all mails, or keep it open until the next probe; return True if it was closed."""
    before = await find_stop(tx)
    await tx.run(
        """
        INSERT INTO relay (id, failures, stopped_at, cause, reason, probe_at)
        VALUES (1, 0, :now, :cause, :reason, :probe_at)
        ON CONFLICT (id) DO UPDATE SET stopped_at = COALESCE(relay.stopped_at, excluded.stopped_at),
            cause = excluded.cause, reason = excluded.reason, probe_at = excluded.probe_at
        """,
        now=stop.stopped_at,
        cause=stop.cause,
        reason=stop.reason,
        probe_at=stop.probe_at,
    )
    return before is None


async def count_deferral(
    tx: Transaction, organisation_id: str, stop: MailStop, *, is_first: bool, most: int
) -> bool:
    """Count a deferred mail of an organisation; only its first attempt counts.

    Opens the breaker of the organisation as `stop` says at `most` in a row, or keeps it open until the next
    probe. Returns True if it was closed.
    """
    row = await tx.one(
        """
        INSERT INTO deferral (organisation_id, failures) VALUES (:organisation_id, :one)
        ON CONFLICT (organisation_id) DO UPDATE SET failures = deferral.failures + :one
        RETURNING failures, stopped_at
        """,
        organisation_id=organisation_id,
        one=int(is_first),
    )
    assert row is not None
    if row["stopped_at"] is None and row["failures"] < most:
        return False
    await tx.run(
        """
        UPDATE deferral SET stopped_at = COALESCE(stopped_at, :now), reason = :reason, probe_at = :probe_at
        WHERE organisation_id = :organisation_id
        """,
        organisation_id=organisation_id,
        now=stop.stopped_at,
        reason=stop.reason,
        probe_at=stop.probe_at,
    )
    return row["stopped_at"] is None


async def clear_deferral(tx: Transaction, organisation_id: str) -> Instant | None:
    """Close the breaker of an organisation; return since when it was open, or None."""
    row = await tx.points.one(
        "DELETE FROM deferral WHERE organisation_id = :organisation_id RETURNING stopped_at",
        organisation_id=organisation_id,
    )
    return row["stopped_at"] if row else None


async def close_breaker(tx: Transaction) -> MailStop | None:
    """Close the breaker for all mails; return it if it was open."""
    before = await find_stop(tx.points)
    if await tx.run_by_key("DELETE FROM relay WHERE id = 1"):
        tx.wake_workers()
    return before


async def close_all(tx: Transaction) -> None:
    """Close every breaker, of all mails and of each organisation."""
    await tx.run("DELETE FROM relay")
    await tx.run("DELETE FROM deferral")


async def take_probe(tx: Transaction, now: Instant, next_at: Instant) -> bool:
    """Claim the probe that is due; return False if none is, or another worker claimed it."""
    count = await tx.run(
        """
        UPDATE relay SET probe_at = :next_at WHERE id = 1 AND stopped_at IS NOT NULL AND probe_at <= :now
        """,
        now=now,
        next_at=next_at,
    )
    return count == 1


async def hasten_probe(tx: Transaction, now: Instant, organisation_id: str | None = None) -> None:
    """Make the next probes due now: that of all mails, and that of one organisation or of each."""
    await tx.run_and_wake(
        "UPDATE relay SET probe_at = :now WHERE id = 1 AND stopped_at IS NOT NULL AND probe_at > :now",
        now=now,
    )
    await tx.run_and_wake(
        f"""
        UPDATE deferral SET probe_at = :now WHERE stopped_at IS NOT NULL AND probe_at > :now
        {"" if organisation_id is None else "AND organisation_id = :organisation_id"}
        """,
        now=now,
        **({} if organisation_id is None else {"organisation_id": organisation_id}),
    )
