"""Audit trails as they are stored, for verification: damaged entries are read as well."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from esign.core.document.audit import START, AuditEntry, compose_head_message
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.dialect import read_bytes_as_text, read_text_as_bytes
from esign.store.engine.sql import load_object
from esign.system.vault import Vault

PURPOSE = "audit"
PAGE = 500
WORDS = ("document_id", "type", "actor_kind", "actor_id", "recipient_id", "data", "personal")
# Text is read as bytes: damaged text may not be UTF-8, and decoding it would fail the whole page.
BYTES = ", ".join(f"{read_text_as_bytes(f'a.{word}')} AS {word}" for word in WORDS)
LINE = f"""
    SELECT a.seq, a.at, a.salt, a.personal_hash, a.prev_hash, a.hash,
        {BYTES}, h.seq AS head_seq, h.mac AS head_mac,
        h.late AS head_late
    FROM audit a LEFT JOIN audit_head h ON h.document_id = a.document_id
"""


@dataclass(frozen=True, slots=True)
class TrailEnd:
    """Where a trail ends: number and hash of its last entry; `late` as in `TrailRow`."""

    document_id: str
    seq: int
    hash: bytes
    late: bool = False


@dataclass(frozen=True, slots=True)
class TrailRow:
    """One row of a trail; `entry` is None if it cannot be read.

    `head_seq` and `head_mac` say where the trail ended at that moment. They are read with the row, because the
    server keeps writing. `late`: a version without heads began the trail, and `verify_trails.complete_heads`
    added its head later.
    """

    document_id: str
    seq: int
    entry: AuditEntry | None
    head_seq: int | None
    head_mac: bytes | None
    late: bool = False

    def is_last(self, head: bytes, vault: Vault) -> bool:
        """Return whether the head of the trail vouches that it ends here, with this hash."""
        message = compose_head_message(self.document_id, self.seq, head, self.late)
        return self.head_seq == self.seq and vault.is_mac(PURPOSE, message, self.head_mac or b"")


async def walk(reader: Reader, document_id: str | None = None) -> AsyncIterator[TrailRow]:
    """Yield every line of every trail, or of one, in the order of the chain; only one page is in memory at a time."""
    place, seq = b"", -(2**63)
    name = read_bytes_as_text(":place")
    condition = f"(a.document_id, a.seq) > ({name}, :seq)"
    if document_id is not None:
        place, condition = document_id.encode(), f"a.document_id = {name} AND a.seq > :seq"
    sql = f"{LINE} WHERE {condition} ORDER BY a.document_id, a.seq LIMIT {PAGE}"
    while rows := await reader.all(sql, place=place, seq=seq):
        for row in rows:
            yield load_row(row)
        place, seq = rows[-1]["document_id"], rows[-1]["seq"]


def load_row(row: Row) -> TrailRow:
    """Return the line of one row."""
    try:
        read = load_entry(row)
    except (ValueError, RecursionError):
        read = None
    name = row["document_id"].decode(errors="backslashreplace")
    return TrailRow(name, row["seq"], read, row["head_seq"], row["head_mac"], bool(row["head_late"]))


def load_entry(row: Row) -> AuditEntry:
    """Return the entry of one row. Raises ValueError for text that is not UTF-8 and JSON that is not an object."""
    seq, at, salt, personal_hash, prev_hash, own_hash, *words = row
    document_id, type, actor_kind, actor_id, recipient_id, data, personal, *_ = words
    return AuditEntry(
        document_id.decode(),
        seq,
        at,
        type.decode(),
        actor_kind.decode(),
        None if actor_id is None else actor_id.decode(),
        None if recipient_id is None else recipient_id.decode(),
        load_object(data),
        None if personal is None else load_object(personal),
        salt,
        personal_hash,
        prev_hash,
        own_hash,
    )


async def get_hash(reader: Reader, document_id: str, seq: int) -> bytes | None:
    """Return the hash of one entry, or None if there is none."""
    row = await reader.one(
        "SELECT hash FROM audit WHERE document_id = :document_id AND seq = :seq",
        document_id=document_id,
        seq=seq,
    )
    return row["hash"] if row else None


async def list_documents_without_trail(reader: Reader) -> list[str]:
    """Return the ids of the documents that have no audit entries, although their creation was recorded."""
    rows = await reader.all(
        """
        SELECT id FROM (SELECT id FROM document UNION SELECT document_id FROM audit_head) known
        WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.document_id = known.id) ORDER BY id
        """
    )
    return [row["id"] for row in rows]


async def find_end(reader: Reader, document_id: str) -> TrailEnd:
    """Return where the trail ends; without entries, that is 0 and the start of the chain."""
    row = await reader.one(
        """
        SELECT a.seq, a.hash, h.late FROM audit a LEFT JOIN audit_head h ON h.document_id = a.document_id
        WHERE a.document_id = :document_id ORDER BY a.seq DESC LIMIT 1
        """,
        document_id=document_id,
    )
    if row is None:
        return TrailEnd(document_id, 0, START)
    return TrailEnd(document_id, row["seq"], row["hash"], bool(row["late"]))


async def save_head(tx: Transaction, end: TrailEnd, vault: Vault) -> None:
    """Save where the trail ends, with a mac that vouches for it."""
    await tx.run(
        """
        INSERT INTO audit_head (document_id, seq, mac, late) VALUES (:document_id, :seq, :mac, :late)
        ON CONFLICT (document_id) DO UPDATE SET seq = excluded.seq, mac = excluded.mac, late = excluded.late
        """,
        document_id=end.document_id,
        seq=end.seq,
        mac=vault.compute_mac(PURPOSE, compose_head_message(end.document_id, end.seq, end.hash, end.late)),
        late=int(end.late),
    )


async def find_headless(reader: Reader, after: str, limit: int) -> list[str]:
    """Return up to `limit` ids of documents after the id `after` whose trails have no head, in order."""
    rows = await reader.all(
        """
        SELECT DISTINCT document_id FROM audit a WHERE a.document_id > :after
        AND NOT EXISTS (SELECT 1 FROM audit_head h WHERE h.document_id = a.document_id)
        ORDER BY a.document_id LIMIT :limit
        """,
        after=after,
        limit=limit,
    )
    return [row["document_id"] for row in rows]
