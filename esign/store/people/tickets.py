"""Links that can be used once: the database knows only their hashes."""

import hashlib

from esign.core.instant import Instant
from esign.core.people.user import Errand, Ticket
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.sql import delete_some, insert


def hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def find(reader: Reader, errand: Errand, token: str, now: Instant) -> str | None:
    """What the link is about, while it lasts; looking does not use it."""
    row = await reader.one(
        "SELECT subject FROM ticket WHERE token = :token AND errand = :errand AND expires_at > :now",
        token=hashed(token),
        errand=errand.value,
        now=now,
    )
    return row["subject"] if row else None


async def use(tx: Transaction, errand: Errand, token: str, now: Instant) -> str | None:
    """What the link was about, which nobody finds after this; None where it was used, has ended or never was."""
    subject = await find(tx, errand, token, now)
    if subject is not None:
        await drop(tx, errand, subject)
    return subject


async def count(reader: Reader, errand: Errand, subject: str, now: Instant) -> int:
    """How many links for the same last."""
    row = await reader.one(
        "SELECT count(*) AS n FROM ticket WHERE subject = :subject AND errand = :errand AND expires_at > :now",
        subject=subject,
        errand=errand.value,
        now=now,
    )
    return int(row["n"]) if row else 0


async def add(tx: Transaction, token: str, ticket: Ticket, *, beside: bool = False) -> None:
    """In place of earlier links for the same, or `beside` them; using one uses all of them."""
    if not beside:
        await drop(tx, ticket.errand, ticket.subject)
    await tx.run(
        insert("ticket", ("token", "errand", "subject", "expires_at")),
        token=hashed(token),
        errand=ticket.errand.value,
        subject=ticket.subject,
        expires_at=ticket.expires_at,
    )


async def drop(tx: Transaction, errand: Errand, subject: str) -> None:
    """No longer wanted."""
    await tx.run(
        "DELETE FROM ticket WHERE subject = :subject AND errand = :errand",
        subject=subject,
        errand=errand.value,
    )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Those that ended by `before`; the number of rows that went."""
    return await delete_some(
        tx, "ticket", "token", "expires_at <= :before ORDER BY expires_at", before, limit
    )
