"""The browsers in which each user has completed a sign-in, by the SHA-256 of a cookie."""

import hashlib

from esign.core.instant import DAY, Instant, Millis
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.sql import OldRows, delete_some

REMEMBERED: Millis = 400 * DAY  # after the last sign-in; browsers keep no cookie for longer
MOST = 50  # of one user


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a cookie."""
    return hashlib.sha256(token.encode()).digest()


async def is_issued(reader: Reader, token: str) -> bool:
    """Return whether any user has signed in with a browser that holds this cookie, so that it was made here."""
    row = await reader.one(
        "SELECT 1 FROM known_browser WHERE token = :token LIMIT 1", token=hash_token(token)
    )
    return row is not None


async def is_known(reader: Reader, user_id: str, token: str, now: Instant) -> bool:
    """Return whether the user has signed in with this browser during the last 400 days."""
    row = await reader.one(
        "SELECT 1 FROM known_browser WHERE user_id = :user_id AND token = :token AND seen_at > :since",
        user_id=user_id,
        token=hash_token(token),
        since=now - REMEMBERED,
    )
    return row is not None


async def add(tx: Transaction, user_id: str, token: str, now: Instant) -> None:
    """Add the browser, or save its use; only the 50 browsers used last are kept per user."""
    await tx.run(
        """
        INSERT INTO known_browser (token, user_id, seen_at) VALUES (:token, :user_id, :now)
        ON CONFLICT (user_id, token) DO UPDATE SET seen_at = excluded.seen_at
        """,
        token=hash_token(token),
        user_id=user_id,
        now=now,
    )
    await tx.run(
        """
        DELETE FROM known_browser WHERE user_id = :user_id AND token NOT IN (
            SELECT token FROM known_browser WHERE user_id = :user_id ORDER BY seen_at DESC LIMIT :most
        )
        """,
        user_id=user_id,
        most=MOST,
    )


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` browsers that were last used before `before`; return how many."""
    return await delete_some(
        tx, OldRows("known_browser", "user_id, token", "seen_at < :before"), before, limit
    )
