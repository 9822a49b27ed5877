"""The files that were sealed here: of each completed document the sealed file and the certificate of completion."""

from dataclasses import dataclass

import orjson

from esign.store.engine.database import Reader


@dataclass(frozen=True, slots=True)
class SealedFile:
    """The hashes of the files of one document; `late` as in `trails.TrailRow`."""

    document_id: str
    sealed: str
    certificate: str
    late: bool = False


COLUMNS = """
    SELECT d.id, d.seal, h.late FROM document d LEFT JOIN audit_head h ON h.document_id = d.id
"""


async def find_after(reader: Reader, place: str, limit: int) -> list[SealedFile]:
    """Return the files of up to `limit` completed documents after this id, in the order of the ids."""
    rows = await reader.all(
        f"{COLUMNS} WHERE d.id > :place AND d.seal IS NOT NULL ORDER BY d.id LIMIT :limit",
        place=place,
        limit=limit,
    )
    return [_load(row["id"], row["seal"], row["late"]) for row in rows]


async def find_of_content(reader: Reader, sha256: str) -> list[SealedFile]:
    """Return those whose sealed file or certificate of completion this content is."""
    rows = await reader.all(  # CROSS JOIN: the hash first, not every completed document
        """
        SELECT d.id, d.seal, h.late FROM document_blob b CROSS JOIN document d
        LEFT JOIN audit_head h ON h.document_id = d.id
        WHERE b.sha256 = :sha256 AND d.id = b.document_id AND d.seal IS NOT NULL
        """,
        sha256=sha256,
    )
    found = [_load(row["id"], row["seal"], row["late"]) for row in rows]
    return [each for each in found if sha256 in (each.sealed, each.certificate)]


async def read_content(reader: Reader, sha256: str) -> bytes:
    """Return a content without checking its hash; empty if it is missing."""
    rows = await reader.all(
        "SELECT content FROM blob_chunk WHERE sha256 = :sha256 ORDER BY number", sha256=sha256
    )
    return b"".join(row["content"] for row in rows)


def _load(document_id: str, seal: str, late: int | None) -> SealedFile:
    found = orjson.loads(seal)
    return SealedFile(document_id, found["sha256"], found["certificate_sha256"], bool(late))
