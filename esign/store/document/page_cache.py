"""Rendered views of pages, kept so that each is made only once; they can be made again at any time."""

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.sql import OldRows, delete_some

MOST = 64 * 2**20  # bytes of one document


async def find(reader: Reader, document_id: str, name: str) -> bytes | None:
    """Return the stored view, or None."""
    rows = await reader.all(
        "SELECT content FROM page_view WHERE document_id = :document_id AND name = :name",
        document_id=document_id,
        name=name,
    )
    return bytes(rows[0]["content"]) if rows else None


async def keep(tx: Transaction, document_id: str, name: str, content: bytes, now: Instant) -> None:
    """Store a view, unless the document was deleted meanwhile or has `MOST` bytes of views already."""
    await tx.run(
        """
        INSERT INTO page_view (document_id, name, content, made_at)
        SELECT id, :name, :content, :now FROM document WHERE id = :document_id AND :most >
            (SELECT COALESCE(SUM(length(content)), 0) FROM page_view WHERE document_id = :document_id)
        ON CONFLICT DO NOTHING
        """,
        document_id=document_id,
        name=name,
        content=content,
        now=now,
        most=MOST,
    )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` views made before `before`; return how many."""
    return await delete_some(
        tx, OldRows("page_view", "document_id, name", "made_at < :before ORDER BY made_at"), before, limit
    )
