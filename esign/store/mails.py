"""Mails kept instead of sent."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.database import Reader, Row, Transaction


@dataclass(frozen=True, slots=True)
class KeptMail:
    """`content` is the whole message as ciphertext: it holds a signing link."""

    id: str
    message_id: str
    recipient: str
    subject: str
    content: bytes
    created_at: Instant


async def keep(tx: Transaction, mail: KeptMail) -> None:
    await tx.run(
        """
        INSERT INTO kept_mail (id, message_id, recipient, subject, content, created_at)
        VALUES (:id, :message_id, :recipient, :subject, :content, :created_at) ON CONFLICT DO NOTHING
        """,
        **{name: getattr(mail, name) for name in KeptMail.__slots__},
    )


async def forget(tx: Transaction, prefix: str) -> None:
    """Kept mails whose Message-ID begins like this, without its bracket."""
    await tx.run(
        "DELETE FROM kept_mail WHERE message_id >= :least AND message_id < :most",
        least=f"<{prefix}",
        most=f"<{prefix}~",
    )


async def newest(reader: Reader, limit: int) -> list[KeptMail]:
    """Newest last."""
    rows = await reader.all(
        "SELECT * FROM kept_mail ORDER BY created_at DESC, id DESC LIMIT :limit", limit=limit
    )
    return [load(row) for row in reversed(rows)]


async def get(reader: Reader, mail_id: str) -> KeptMail | None:
    row = await reader.one("SELECT * FROM kept_mail WHERE id = :id", id=mail_id)
    return load(row) if row else None


def load(row: Row) -> KeptMail:
    return KeptMail(**{name: row[name] for name in KeptMail.__slots__})
