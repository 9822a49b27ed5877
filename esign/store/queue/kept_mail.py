"""Mails that were kept instead of sent, and those of test mode, which are kept as well as sent."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import OldRows, delete_some, insert
from esign.store.engine.unreadable_rows import load_readable


@dataclass(frozen=True, slots=True)
class KeptMail:
    """`content` is the whole message as ciphertext, because it contains a signing link.

    Only mails of test mode have an organisation; their `words` is the ciphertext of what `MailWords` shows.
    """

    id: str
    message_id: str
    recipient: str
    subject: str
    content: bytes
    created_at: Instant
    organisation_id: str | None = None
    document_id: str | None = None
    recipient_id: str | None = None
    words: bytes | None = None


@dataclass(frozen=True, slots=True)
class MailWords:
    """A mail of test mode without its attachments."""

    id: str
    subject: str
    words: bytes
    created_at: Instant


@dataclass(frozen=True, slots=True)
class KeptMailFilter:
    """The mails of test mode of an organisation, or only those about one document, or to one recipient."""

    organisation_id: str
    document_id: str | None = None
    recipient_id: str | None = None


async def keep(tx: Transaction, mail: KeptMail) -> str:
    """Keep a mail and return its id; a mail that comes again after a crash keeps the id it got first."""
    columns = KeptMail.__slots__
    await tx.run(
        insert("kept_mail", columns) + " ON CONFLICT DO NOTHING",
        **{name: getattr(mail, name) for name in columns},
    )
    row = await tx.one("SELECT id FROM kept_mail WHERE message_id = :message_id", message_id=mail.message_id)
    return str(row["id"]) if row else mail.id


async def forget(tx: Transaction, prefix: str) -> None:
    """Delete kept mails whose Message-ID begins with `prefix`, without its bracket."""
    await tx.run(
        "DELETE FROM kept_mail WHERE message_id >= :least AND message_id < :most",
        least=f"<{prefix}",
        most=f"<{prefix}~",
    )


async def forget_document(tx: Transaction, organisation_id: str, document_id: str) -> None:
    """Delete every mail of test mode about a document."""
    await tx.run(
        "DELETE FROM kept_mail WHERE organisation_id = :organisation_id AND document_id = :document_id",
        organisation_id=organisation_id,
        document_id=document_id,
    )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` mails of test mode about no document, older than `before`; return how many.

    The other mails are deleted with their documents.
    """
    loose = "organisation_id IS NOT NULL AND document_id IS NULL AND created_at < :before"
    return await delete_some(tx, OldRows("kept_mail", "id", loose), before, limit)


async def find_newest(reader: Reader, limit: int) -> list[KeptMail]:
    """Return the newest `limit` mails, the newest last."""
    rows = await reader.all(
        "SELECT * FROM kept_mail ORDER BY created_at DESC, id DESC LIMIT :limit", limit=limit
    )
    return load_readable(reader, "kept_mail", rows[::-1], load)


async def find_test_mails(
    reader: Reader, wanted: KeptMailFilter, limit: int, after: PageStart | None = None
) -> list[MailWords]:
    """Return up to `limit` mails of test mode, newest first."""
    filters = {"document_id": wanted.document_id, "recipient_id": wanted.recipient_id}
    given = {name: value for name, value in filters.items() if value is not None}
    rows = await reader.all(
        f"""
        SELECT id, subject, words, created_at FROM kept_mail WHERE organisation_id = :organisation_id
        {"".join(f"AND {name} = :{name} " for name in given)}
        AND (created_at, id) < (:created_at, :id) ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=wanted.organisation_id,
        created_at=after.at if after else 2**62,
        id=after.id if after else "",
        limit=limit,
        **given,
    )
    return [MailWords(**{name: row[name] for name in MailWords.__slots__}) for row in rows]


async def find_by_message_id(reader: Reader, prefix: str) -> KeptMail | None:
    """Return the mail whose Message-ID begins with `prefix`, without its bracket, or None."""
    row = await reader.one(
        """
        SELECT * FROM kept_mail WHERE message_id >= :least AND message_id < :most
        ORDER BY message_id LIMIT 1
        """,
        least=f"<{prefix}",
        most=f"<{prefix}~",
    )
    return load(row) if row else None


async def get(reader: Reader, mail_id: str) -> KeptMail | None:
    """Return the mail, or None."""
    row = await reader.one("SELECT * FROM kept_mail WHERE id = :id", id=mail_id)
    return load(row) if row else None


def load(row: Row) -> KeptMail:
    """Return the mail of one row."""
    return KeptMail(**{name: row[name] for name in KeptMail.__slots__})
