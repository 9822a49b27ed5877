"""One row: the last time that was certain, and whether the wall clock is trusted at present."""

from dataclasses import dataclass

from esign.core.instant import Instant, Millis
from esign.store.engine.database import Reader, Transaction
from esign.system.clock import ClockDoubt, ClockMark


@dataclass(frozen=True, slots=True)
class ClockRecord:
    """What the server saved last.

    `confirmed` is when an operator asked to trust the wall clock, by that clock.
    """

    mark: ClockMark
    doubt_since: Instant | None
    doubt_ahead: Millis | None
    confirmed: Instant | None


async def find(reader: Reader) -> ClockRecord | None:
    """Return the record, or None before the first one is saved."""
    row = await reader.one("SELECT * FROM clock_mark WHERE id = 1")
    if row is None:
        return None
    mark = ClockMark(row["at"], row["elapsed"], row["boot_id"])
    return ClockRecord(mark, row["doubt_since"], row["doubt_ahead"], row["confirmed"])


async def save(tx: Transaction, mark: ClockMark) -> None:
    """Save a certain time, which clears earlier doubts and confirmations."""
    await tx.run(
        """
        INSERT INTO clock_mark (id, at, elapsed, boot_id) VALUES (1, :at, :elapsed, :boot_id)
        ON CONFLICT (id) DO UPDATE SET at = :at, elapsed = :elapsed, boot_id = :boot_id,
            doubt_since = NULL, doubt_ahead = NULL, confirmed = NULL
        """,
        at=mark.at,
        elapsed=mark.elapsed,
        boot_id=mark.boot_id,
    )


async def save_doubt(tx: Transaction, doubt: ClockDoubt) -> None:
    """Save that the wall clock is not trusted; the last certain time stays as it is."""
    await tx.run(
        "UPDATE clock_mark SET doubt_since = :since, doubt_ahead = :ahead WHERE id = 1",
        since=doubt.since,
        ahead=doubt.ahead,
    )


async def save_confirmed(tx: Transaction, wall: Instant) -> bool:
    """Ask the server to trust its wall clock; return False if it does so already."""
    return bool(
        await tx.run(
            "UPDATE clock_mark SET confirmed = :wall WHERE id = 1 AND doubt_since IS NOT NULL", wall=wall
        )
    )
