"""One-time links; the database knows only the hash of each."""

import hashlib

from esign.core.instant import Instant
from esign.core.people.user import Errand, Ticket
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.sql import OldRows, delete_some, insert


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token."""
    return hashlib.sha256(token.encode()).digest()


async def find(reader: Reader, errand: Errand, token: str, now: Instant) -> str | None:
    """Return the subject of a link that has not expired, or None; the link stays usable."""
    row = await reader.one(
        "SELECT subject FROM ticket WHERE token = :token AND errand = :errand AND expires_at > :now",
        token=hash_token(token),
        errand=errand.value,
        now=now,
    )
    return row["subject"] if row else None


async def use(tx: Transaction, errand: Errand, token: str, now: Instant) -> str | None:
    """Use a link and return its subject, or None if it was used, has expired or never existed."""
    subject = await find(tx, errand, token, now)
    if subject is not None:
        await drop(tx, errand, subject)
    return subject


async def count(reader: Reader, errand: Errand, subject: str, now: Instant) -> int:
    """Return the number of links for this subject that have not expired."""
    row = await reader.one(
        "SELECT count(*) AS n FROM ticket WHERE subject = :subject AND errand = :errand AND expires_at > :now",
        subject=subject,
        errand=errand.value,
        now=now,
    )
    return int(row["n"]) if row else 0


async def add(tx: Transaction, token: str, ticket: Ticket, *, beside: bool = False) -> None:
    """Add a link, which replaces earlier links for the same subject or, with `beside`, joins them.

    Using one of them uses up all.
    """
    if not beside:
        await drop(tx, ticket.errand, ticket.subject)
    await tx.run(
        insert("ticket", ("token", "errand", "subject", "expires_at")),
        token=hash_token(token),
        errand=ticket.errand.value,
        subject=ticket.subject,
        expires_at=ticket.expires_at,
    )


async def drop(tx: Transaction, errand: Errand, subject: str) -> None:
    """Delete all links for this subject."""
    await tx.run(
        "DELETE FROM ticket WHERE subject = :subject AND errand = :errand",
        subject=subject,
        errand=errand.value,
    )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` links that expired by `before`; return how many."""
    return await delete_some(
        tx, OldRows("ticket", "token", "expires_at <= :before ORDER BY expires_at"), before, limit
    )
