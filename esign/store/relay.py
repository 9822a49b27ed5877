"""Whether the mail server takes mails now: a breaker that all mails share, and that outlives a restart."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.database import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Stop:
    """No mail leaves since `stopped_at`; `cause` is login, refused or deferred; one mail is tried at `probe_at`."""

    stopped_at: Instant
    cause: str
    reason: str
    probe_at: Instant


async def find_stop(reader: Reader) -> Stop | None:
    """Return how the breaker stands open, or None while mails leave."""
    row = await reader.one(
        "SELECT stopped_at, cause, reason, probe_at FROM relay WHERE id = 1 AND stopped_at IS NOT NULL"
    )
    return Stop(**{name: row[name] for name in Stop.__slots__}) if row else None


async def stop(tx: Transaction, cause: str, reason: str, now: Instant, probe_at: Instant) -> bool:
    """Open the breaker, or keep it open until the next probe; True where it was closed."""
    before = await find_stop(tx)
    await tx.run(
        """
        INSERT INTO relay (id, failures, stopped_at, cause, reason, probe_at)
        VALUES (1, 0, :now, :cause, :reason, :probe_at)
        ON CONFLICT (id) DO UPDATE SET stopped_at = COALESCE(relay.stopped_at, excluded.stopped_at),
            cause = excluded.cause, reason = excluded.reason, probe_at = excluded.probe_at
        """,
        now=now,
        cause=cause,
        reason=reason,
        probe_at=probe_at,
    )
    return before is None


async def count_failure(tx: Transaction) -> int:
    """Count one more mail that was put off; how many that makes in a row."""
    row = await tx.one(
        """
        INSERT INTO relay (id, failures) VALUES (1, 1)
        ON CONFLICT (id) DO UPDATE SET failures = relay.failures + 1 RETURNING failures
        """
    )
    assert row is not None
    return int(row["failures"])


async def clear(tx: Transaction) -> Stop | None:
    """Close the breaker; how it stood, where it was open."""
    before = await find_stop(tx)
    await tx.run("DELETE FROM relay WHERE id = 1")
    return before


async def take_probe(tx: Transaction, now: Instant, next_at: Instant) -> bool:
    """Take the probe that is due; False where it is not, or somebody else has it."""
    count = await tx.run(
        """
        UPDATE relay SET probe_at = :next_at WHERE id = 1 AND stopped_at IS NOT NULL AND probe_at <= :now
        """,
        now=now,
        next_at=next_at,
    )
    return count == 1


async def hasten_probe(tx: Transaction, now: Instant) -> None:
    """Make the next probe due now."""
    await tx.run(
        "UPDATE relay SET probe_at = :now WHERE id = 1 AND stopped_at IS NOT NULL AND probe_at > :now",
        now=now,
    )
