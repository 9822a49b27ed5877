"""The browsers that are signed in; the database knows only the hash of a cookie."""

import hashlib

from esign.core.actor import Mode
from esign.core.instant import Instant
from esign.core.people.user import ABSOLUTE, IDLE, Session, Stage
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import insert
from esign.store.engine.unreadable_rows import load_readable

COLUMNS = tuple(Session.__slots__)


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a cookie."""
    return hashlib.sha256(token.encode()).digest()


async def get(reader: Reader, token: str, now: Instant) -> Session | None:
    """Return the session of a cookie, or None if it has ended."""
    row = await reader.one("SELECT * FROM session WHERE token = :token", token=hash_token(token))
    session = load(row) if row else None
    return None if session is None or session.is_over(now) else session


async def get_own(reader: Reader, session: Session, now: Instant) -> Session | None:
    """Return the session as it is now, whatever its cookie, or None if it has ended."""
    row = await reader.one("SELECT * FROM session WHERE id = :id", id=session.id)
    found = load(row) if row else None
    return None if found is None or found.is_over(now) else found


async def count_others(reader: Reader, session: Session, now: Instant) -> int:
    """Return the number of other browsers that the user is signed in with.

    Sessions that still wait for a code of the second factor do not count.
    """
    row = await reader.one(
        """
        SELECT count(*) AS others FROM session WHERE user_id = :user_id AND id <> :id AND stage = :whole
        AND created_at > :absolute AND seen_at > :idle
        """,
        user_id=session.user_id,
        id=session.id,
        whole=Stage.WHOLE.value,
        absolute=now - ABSOLUTE,
        idle=now - IDLE,
    )
    return int(row["others"]) if row else 0


async def find(reader: Reader, user_id: str, now: Instant, limit: int) -> list[Session]:
    """Return up to `limit` sessions of a user that have not ended, newest first."""
    rows = await reader.all(
        """
        SELECT * FROM session WHERE user_id = :user_id AND created_at > :absolute AND seen_at > :idle
        ORDER BY created_at DESC LIMIT :limit
        """,
        user_id=user_id,
        absolute=now - ABSOLUTE,
        idle=now - IDLE,
        limit=limit,
    )
    return load_readable(reader, "session", rows, load)


async def add(tx: Transaction, token: str, session: Session) -> None:
    """Add a session."""
    row = {name: getattr(session, name) for name in COLUMNS}
    row |= {"stage": session.stage.value, "mode": session.mode.value}
    await tx.run(insert("session", (*COLUMNS, "token")), **row, token=hash_token(token))


async def renew(tx: Transaction, session: Session, token: str) -> bool:
    """Save the progress of a session under a new cookie; return False if it has ended meanwhile.

    Its organisation and mode stay as they are.
    """
    return bool(
        await tx.run(
            """
            UPDATE session SET token = :token, stage = :stage, seen_at = :seen_at, proved_at = :proved_at,
                factor_at = :factor_at
            WHERE id = :id
            """,
            id=session.id,
            token=hash_token(token),
            stage=session.stage.value,
            seen_at=session.seen_at,
            proved_at=session.proved_at,
            factor_at=session.factor_at,
        )
    )


async def touch(tx: Transaction, session_id: str, now: Instant) -> None:
    """Save the last use of a session."""
    await tx.run("UPDATE session SET seen_at = :now WHERE id = :id", id=session_id, now=now)


async def move(tx: Transaction, session_id: str, organisation_id: str, mode: Mode) -> None:
    """Move a session to another organisation or mode."""
    await tx.run(
        "UPDATE session SET organisation_id = :organisation_id, mode = :mode WHERE id = :id",
        id=session_id,
        organisation_id=organisation_id,
        mode=mode.value,
    )


async def end(tx: Transaction, user_id: str, session_id: str) -> Stage | None:
    """End a session; return how far it had come, or None if the user had no such session."""
    row = await tx.one(
        "DELETE FROM session WHERE id = :id AND user_id = :user_id RETURNING stage",
        id=session_id,
        user_id=user_id,
    )
    return Stage(row["stage"]) if row else None


async def end_all(tx: Transaction, user_id: str, but: str | None = None) -> int:
    """End all sessions of a user but the one of the id `but`; return how many."""
    return await tx.run(
        "DELETE FROM session WHERE user_id = :user_id AND id <> :but", user_id=user_id, but=but or ""
    )


async def prune(tx: Transaction, now: Instant, limit: int) -> int:
    """Delete up to `limit` sessions that were idle for too long; return how many."""
    return await tx.run(
        """
        DELETE FROM session WHERE token IN
        (SELECT token FROM session WHERE seen_at <= :idle ORDER BY seen_at LIMIT :limit)
        """,
        idle=now - min(IDLE, ABSOLUTE),
        limit=limit,
    )


def load(row: Row) -> Session:
    """Return the session of one row."""
    members = {name: row[name] for name in COLUMNS}
    return Session(**members | {"stage": Stage(row["stage"]), "mode": Mode(row["mode"])})
