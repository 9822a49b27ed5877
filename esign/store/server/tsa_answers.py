"""How each time-stamp authority last answered."""

from collections.abc import Sequence

from esign.core.timestamp import TimeStampAuthority
from esign.store.engine.database import Reader, Transaction


async def find_asked(reader: Reader) -> list[TimeStampAuthority]:
    """Return every authority that was ever asked, including those no longer in the settings."""
    rows = await reader.all("SELECT url, asked_at, error, name FROM time_authority")
    return [TimeStampAuthority(row["url"], row["asked_at"], row["error"], row["name"]) for row in rows]


async def note(tx: Transaction, authorities: Sequence[TimeStampAuthority]) -> None:
    """Save how each authority answered; those that were never asked are left out."""
    for each in authorities:
        if each.asked_at is not None:
            await tx.run(
                """
                INSERT INTO time_authority (url, asked_at, error, name) VALUES (:url, :asked_at, :error, :name)
                ON CONFLICT (url) DO UPDATE SET asked_at = :asked_at, error = :error, name = :name
                """,
                url=each.url,
                asked_at=each.asked_at,
                error=each.error,
                name=each.name,
            )
