"""The people who sign in, and the codes that stand in for their second factor."""

from collections.abc import Sequence
from typing import Any

from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people.user import User
from esign.store.engine.damage import load_readable
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import insert, listed

COLUMNS = tuple(User.__slots__)
STEPS_AHEAD = 240  # of 30 seconds: two hours


async def get(reader: Reader, user_id: str) -> User:
    """Raises `not_found`."""
    row = await reader.one("SELECT * FROM app_user WHERE id = :id", id=user_id)
    if row is None:
        raise Problem("not_found")
    return load(row)


async def get_many(reader: Reader, ids: Sequence[str]) -> dict[str, User]:
    """Those of these ids, by id."""
    names, given = listed("id", ids)
    rows = await reader.all(f"SELECT * FROM app_user WHERE id IN {names}", **given)
    return {each.id: each for each in load_readable(reader, "app_user", rows, load)}


async def find(reader: Reader, email: str) -> User | None:
    """The person of an address, whatever its capitals."""
    row = await reader.one("SELECT * FROM app_user WHERE address = :address", address=email.casefold())
    return load(row) if row else None


async def require_same(tx: Transaction, user: User) -> None:
    """Raises `revision_mismatch` where what the person signs in with was changed since they were read."""
    now = await get(tx, user.id)
    if (now.password, now.totp, now.disabled_at) != (user.password, user.totp, user.disabled_at):
        raise Problem("revision_mismatch", "What you sign in with was changed meanwhile. Sign in again.")


async def everybody(reader: Reader) -> list[User]:
    """Oldest first."""
    rows = await reader.all("SELECT * FROM app_user ORDER BY created_at, id")
    return load_readable(reader, "app_user", rows, load)


async def add(tx: Transaction, user: User) -> None:
    """Raises `member_exists` where somebody has this address."""
    added = await tx.run(
        insert("app_user", (*COLUMNS, "address")) + " ON CONFLICT (address) DO NOTHING",
        **columns(user),
        address=user.address,
    )
    if not added:
        raise Problem("member_exists", "Somebody with this email address signs in here already.")


async def save_name(tx: Transaction, user_id: str, name: str) -> None:
    await tx.run("UPDATE app_user SET name = :name WHERE id = :id", id=user_id, name=name)


async def save_password(tx: Transaction, user_id: str, password: str | None, now: Instant) -> None:
    """`password` is a hash, None where a new one has to be chosen first."""
    await tx.run(
        "UPDATE app_user SET password = :password, password_at = :now WHERE id = :id",
        id=user_id,
        password=password,
        now=now,
    )


async def save_factor(tx: Transaction, user_id: str, totp: bytes | None, step: int) -> None:
    """`totp` is encrypted, None for no second factor; `step` is the last one that was used."""
    await tx.run(
        "UPDATE app_user SET totp = :totp, step = :step WHERE id = :id", id=user_id, totp=totp, step=step
    )


async def save_disabled(tx: Transaction, user_id: str, at: Instant | None) -> None:
    await tx.run("UPDATE app_user SET disabled_at = :at WHERE id = :id", id=user_id, at=at)


async def save_seen(tx: Transaction, user_id: str, now: Instant) -> None:
    await tx.run("UPDATE app_user SET seen_at = :now WHERE id = :id", id=user_id, now=now)


async def use_step(tx: Transaction, user_id: str, step: int) -> bool:
    """Whether a step of the second factor was still unused; from now on it and those before are used.

    A last use that lies hours ahead was noted while the clock was wrong: it must not lock its owner out until then.
    """
    return bool(
        await tx.run(
            "UPDATE app_user SET step = :step WHERE id = :id AND (step < :step OR step > :wrong)",
            id=user_id,
            step=step,
            wrong=step + STEPS_AHEAD,
        )
    )


async def replace_recovery(tx: Transaction, user_id: str, codes: list[bytes]) -> None:
    """These macs instead of those before."""
    await tx.run("DELETE FROM recovery_code WHERE user_id = :id", id=user_id)
    for code in codes:
        await tx.run(insert("recovery_code", ("user_id", "code")), user_id=user_id, code=code)


async def use_recovery(tx: Transaction, user_id: str, code: bytes) -> bool:
    """Whether there was such a code, which is used now."""
    return bool(
        await tx.run("DELETE FROM recovery_code WHERE user_id = :id AND code = :code", id=user_id, code=code)
    )


async def count_recovery(reader: Reader, user_id: str) -> int:
    row = await reader.one("SELECT count(*) AS n FROM recovery_code WHERE user_id = :id", id=user_id)
    return int(row["n"]) if row else 0


def columns(user: User) -> dict[str, Any]:
    return {name: getattr(user, name) for name in COLUMNS}


def load(row: Row) -> User:
    return User(**{name: row[name] for name in COLUMNS})
