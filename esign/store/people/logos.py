"""What the logos of organisations look like; which one counts stands with the organisation."""

from esign.store.engine.database import Reader, Transaction


async def save(tx: Transaction, organisation_id: str, sha256: str, png: bytes) -> None:
    await tx.run(
        """
        INSERT INTO logo (organisation_id, sha256, png) VALUES (:organisation_id, :sha256, :png)
        ON CONFLICT (organisation_id) DO UPDATE SET sha256 = excluded.sha256, png = excluded.png
        """,
        organisation_id=organisation_id,
        sha256=sha256,
        png=png,
    )


async def delete(tx: Transaction, organisation_id: str) -> None:
    await tx.run("DELETE FROM logo WHERE organisation_id = :id", id=organisation_id)


async def get(reader: Reader, sha256: str) -> bytes | None:
    """The logo of this hash, whoever has it; None once nobody does."""
    row = await reader.one("SELECT png FROM logo WHERE sha256 = :sha256 LIMIT 1", sha256=sha256)
    return row["png"] if row else None
