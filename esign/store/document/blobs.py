"""The content of files by SHA-256, in chunks of 1 MiB, written in the transaction that first refers to it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import OldRows, delete_some

CHUNK = 2**20
MISSING = "the content is missing or was changed; restore it from a backup"


class MissingBlob(Exception):
    """Content that a row refers to does not exist, or was changed."""


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Content whose hash has been checked: its size in bytes, and its pieces, which are read one at a time."""

    size: int
    pieces: AsyncIterator[bytes]


async def add(tx: Transaction, content: bytes, now: Instant, sha256: str | None = None) -> str:
    """Store `content` unless it exists; return its SHA-256 in lower-case hex.

    Pass `sha256` when it is known, because hashing takes time.
    """
    sha256 = sha256 or hashlib.sha256(content).hexdigest()
    added = await tx.run(
        "INSERT INTO blob (sha256, size, created_at) VALUES (:sha256, :size, :now) ON CONFLICT DO NOTHING",
        sha256=sha256,
        size=len(content),
        now=now,
    )
    if added:
        for number, start in enumerate(range(0, len(content), CHUNK)):
            await tx.run(
                "INSERT INTO blob_chunk (sha256, number, content) VALUES (:sha256, :number, :content)",
                sha256=sha256,
                number=number,
                content=content[start : start + CHUNK],
            )
    return sha256


async def attach(tx: Transaction, document_id: str, *hashes: str) -> None:
    """Keep this content as long as the document exists."""
    await tx.run_many(
        "INSERT INTO document_blob (document_id, sha256) VALUES (:document_id, :sha256) ON CONFLICT DO NOTHING",
        [{"document_id": document_id, "sha256": sha256} for sha256 in set(hashes)],
    )


async def detach(tx: Transaction, document_id: str) -> None:
    """Remove all references of the document to content; attach the content that stays again."""
    await tx.run("DELETE FROM document_blob WHERE document_id = :id", id=document_id)


async def get(reader: Reader, sha256: str) -> bytes:
    """Return the content after checking its hash. Raises `MissingBlob`."""
    rows = await reader.all(
        "SELECT content FROM blob_chunk WHERE sha256 = :sha256 ORDER BY number", sha256=sha256
    )
    content, found = await asyncio.to_thread(join_chunks, rows) if len(rows) > 1 else join_chunks(rows)
    if found != sha256:
        reader.damage.note("blob", sha256, MISSING)
        raise MissingBlob(
            f"stored content {sha256} is missing or was changed; restore the data from a backup"
        )
    reader.damage.forget("blob", sha256)
    return content


async def open_content(reader: Reader, sha256: str) -> StoredContent:
    """Return the content to send it, after checking its hash. Raises `MissingBlob`.

    It is read twice, so that no more than a piece of it is in memory however slowly its reader takes it.
    """
    size, found = 0, hashlib.sha256()
    async for piece in read_pieces(reader, sha256):
        size += len(piece)
        await asyncio.to_thread(found.update, piece)
    if found.hexdigest() != sha256:
        reader.damage.note("blob", sha256, MISSING)
        raise MissingBlob(
            f"stored content {sha256} is missing or was changed; restore the data from a backup"
        )
    reader.damage.forget("blob", sha256)
    return StoredContent(size, read_pieces(reader, sha256))


async def read_pieces(reader: Reader, sha256: str) -> AsyncIterator[bytes]:
    """Yield the content one chunk at a time, without checking its hash; nothing if it does not exist."""
    number = 0
    while row := await reader.one(
        "SELECT content FROM blob_chunk WHERE sha256 = :sha256 AND number = :number",
        sha256=sha256,
        number=number,
    ):
        yield row["content"]
        number += 1


def join_chunks(chunks: Sequence[Row]) -> tuple[bytes, str]:
    """Return the joined content and its hash; it takes a few milliseconds per MiB."""
    content = b"".join(chunk["content"] for chunk in chunks)
    return content, hashlib.sha256(content).hexdigest()


async def get_size_of_document(reader: Reader, document_id: str) -> int:
    """Return the total size in bytes of the content attached to the document."""
    rows = await reader.all(
        """
        SELECT sum(b.size) AS size FROM document_blob d JOIN blob b ON b.sha256 = d.sha256
        WHERE d.document_id = :document_id
        """,
        document_id=document_id,
    )
    return int(rows[0]["size"] or 0)


async def attach_to_template(tx: Transaction, template_id: str, *hashes: str) -> None:
    """Keep this content as long as the template exists."""
    for sha256 in set(hashes):
        await tx.run(
            "INSERT INTO template_blob (template_id, sha256) VALUES (:template_id, :sha256) ON CONFLICT DO NOTHING",
            template_id=template_id,
            sha256=sha256,
        )


async def detach_from_template(tx: Transaction, template_id: str) -> None:
    """Remove all references of the template to content; attach the content that stays again."""
    await tx.run("DELETE FROM template_blob WHERE template_id = :id", id=template_id)


async def is_kept(reader: Reader, sha256: str) -> bool:
    """Return whether a document or template refers to this content."""
    return (
        await reader.one("SELECT 1 FROM blob WHERE sha256 = :sha256 AND loose = 0", sha256=sha256) is not None
    )


async def get_size(reader: Reader, sha256: str) -> int:
    """Return the size in bytes. Raises `MissingBlob`."""
    rows = await reader.all("SELECT size FROM blob WHERE sha256 = :sha256", sha256=sha256)
    if not rows:
        reader.damage.note("blob", sha256, MISSING)
        raise MissingBlob(f"stored content {sha256} is missing; restore the data from a backup")
    return int(rows[0]["size"])


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Remove up to `limit` contents older than `before` that no document and no template refers to; return how
    many.
    """
    return await delete_some(
        tx, OldRows("blob", "sha256", "loose = 1 AND created_at < :before"), before, limit
    )


def hash_contents(contents: Sequence[bytes]) -> list[str]:
    """Return the SHA-256 of each content, in hex."""
    return [hashlib.sha256(content).hexdigest() for content in contents]
