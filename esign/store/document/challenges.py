"""The state of recipients' codes, and the browsers that have proved one. Codes themselves are never stored."""

import hashlib

from esign.core.document.challenge import Challenge
from esign.core.document.signing_link import Reached
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.sql import OldRows, delete_some, insert

COLUMNS = tuple(Challenge.__slots__)


async def get(reader: Reader, recipient_id: str) -> Challenge:
    """Return the challenge of a recipient, which is empty at first."""
    row = await reader.one("SELECT * FROM challenge WHERE recipient_id = :id", id=recipient_id)
    return Challenge(**{name: row[name] for name in COLUMNS}) if row else Challenge(recipient_id)


async def save(tx: Transaction, challenge: Challenge) -> None:
    """Save the challenge of a recipient."""
    await tx.run(
        insert("challenge", COLUMNS)
        + " ON CONFLICT (recipient_id) DO UPDATE SET "
        + ", ".join(f"{c} = excluded.{c}" for c in COLUMNS if c != "recipient_id"),
        **{name: getattr(challenge, name) for name in COLUMNS},
    )


async def end_proofs(tx: Transaction, recipient_id: str) -> None:
    """End the mailed code and every proof, because the recipient's links may reach another person now.

    That person does not wait for earlier wrong tries. All tries and the codes of the day still count, or every
    correction would allow as many guesses again.
    """
    await tx.run(
        "UPDATE challenge SET code = NULL, reached = NULL, tries = 0, tries_since = NULL WHERE recipient_id = :id",
        id=recipient_id,
    )
    await tx.run("DELETE FROM proof WHERE recipient_id = :id", id=recipient_id)


async def note_reached(tx: Transaction, recipient_id: str, code: bytes, reached: Reached) -> None:
    """Save what became of the mail with the code of which this is stored."""
    await tx.run(
        "UPDATE challenge SET reached = :reached WHERE recipient_id = :id AND code = :code",
        id=recipient_id,
        code=code,
        reached=reached.value,
    )


# ---------- proofs ----------


def hash_session(session: str) -> bytes:
    """Return the SHA-256 of a browser session's token."""
    return hashlib.sha256(session.encode()).digest()


async def prove(
    tx: Transaction, before: str | None, session: str, recipient_id: str, expires_at: Instant
) -> None:
    """Save that the browser has proved the code; its new session takes over all proofs of the session `before`."""
    if before is not None:
        await tx.run(
            "UPDATE proof SET session = :new WHERE session = :old",
            new=hash_session(session),
            old=hash_session(before),
        )
    await tx.run(
        """
        INSERT INTO proof (session, recipient_id, expires_at) VALUES (:session, :recipient_id, :expires_at)
        ON CONFLICT (session, recipient_id) DO UPDATE SET expires_at = excluded.expires_at
        """,
        session=hash_session(session),
        recipient_id=recipient_id,
        expires_at=expires_at,
    )


async def is_proven(reader: Reader, session: str | None, recipient_id: str, now: Instant) -> bool:
    """Return whether the browser's session has proved this recipient's code and the proof has not expired."""
    if session is None:
        return False
    row = await reader.one(
        "SELECT 1 AS yes FROM proof WHERE session = :session AND recipient_id = :id AND expires_at > :now",
        session=hash_session(session),
        id=recipient_id,
        now=now,
    )
    return row is not None


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` proofs that expired by `before`; return how many."""
    return await delete_some(
        tx,
        OldRows("proof", "session, recipient_id", "expires_at <= :before ORDER BY expires_at"),
        before,
        limit,
    )
