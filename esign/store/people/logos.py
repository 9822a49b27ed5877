"""The pictures of organisations' logos; the organisation's row says which one it uses."""

from esign.store.engine.database import Reader, Transaction


async def save(tx: Transaction, organisation_id: str, sha256: str, png: bytes) -> None:
    """Save the logo of an organisation, which replaces the one before."""
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
    """Delete the logo of an organisation."""
    await tx.run("DELETE FROM logo WHERE organisation_id = :id", id=organisation_id)


async def get(reader: Reader, sha256: str) -> bytes | None:
    """Return the logo of this hash, or None if no organisation has it."""
    row = await reader.one("SELECT png FROM logo WHERE sha256 = :sha256 LIMIT 1", sha256=sha256)
    return row["png"] if row else None
