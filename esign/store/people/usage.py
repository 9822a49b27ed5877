"""Counters of usage by organisation, mode and day, raised in the transaction of their cause."""

from esign.core.actor import Mode
from esign.core.people.usage import Meter, Usage
from esign.store.engine.database import Reader, Transaction

COUNTERS = tuple(Usage.__slots__)


async def add(tx: Transaction, meter: Meter, used: Usage) -> None:
    """Raise the counters of a day; write nothing if there is nothing to count."""
    if used == Usage():
        return
    await tx.run(
        f"""
        INSERT INTO usage (organisation_id, mode, day, {", ".join(COUNTERS)})
        VALUES (:organisation_id, :mode, :day, {", ".join(":" + name for name in COUNTERS)})
        ON CONFLICT (organisation_id, day, mode) DO UPDATE
        SET {", ".join(f"{name} = usage.{name} + excluded.{name}" for name in COUNTERS)}
        """,
        organisation_id=meter.organisation_id,
        mode=meter.mode.value,
        day=meter.day,
        **{name: getattr(used, name) for name in COUNTERS},
    )


async def find(reader: Reader, organisation_id: str, mode: Mode, first: int, last: int) -> dict[int, Usage]:
    """Return the usage of the days from `first` to `last` on which anything was used, by day."""
    rows = await reader.all(
        """
        SELECT * FROM usage
        WHERE organisation_id = :organisation_id AND mode = :mode AND day BETWEEN :first AND :last
        """,
        organisation_id=organisation_id,
        mode=mode.value,
        first=first,
        last=last,
    )
    return {row["day"]: Usage(**{name: row[name] for name in COUNTERS}) for row in rows}


async def count_emails(reader: Reader, organisation_id: str, day: int) -> int:
    """Return the number of mails of one day in both modes."""
    row = await reader.one(
        "SELECT sum(emails) AS sent FROM usage WHERE organisation_id = :organisation_id AND day = :day",
        organisation_id=organisation_id,
        day=day,
    )
    return int(row["sent"] or 0) if row else 0


async def count_documents_sent(reader: Reader, organisation_id: str, first_day: int) -> int:
    """Return the number of live documents sent since that day."""
    row = await reader.one(
        """
        SELECT sum(documents_sent) AS sent FROM usage
        WHERE organisation_id = :organisation_id AND mode = 'live' AND day >= :first_day
        """,
        organisation_id=organisation_id,
        first_day=first_day,
    )
    return int(row["sent"] or 0) if row else 0
