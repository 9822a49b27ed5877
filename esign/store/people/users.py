"""The users who sign in, and the recovery codes for their second factor."""

from collections.abc import Sequence

from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.language import Tag
from esign.core.people.user import User
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.sql import insert, list_parameters
from esign.store.engine.unreadable_rows import load_readable

COLUMNS = tuple(User.__slots__)
STEPS_AHEAD = 240  # of 30 seconds: two hours


async def get(reader: Reader, user_id: str) -> User:
    """Return the user. Raises `not_found`."""
    row = await reader.one("SELECT * FROM app_user WHERE id = :id", id=user_id)
    if row is None:
        raise Problem("not_found")
    return load(row)


async def get_many(reader: Reader, ids: Sequence[str]) -> dict[str, User]:
    """Return those of these users that exist, by id."""
    names, given = list_parameters("id", ids)
    rows = await reader.all(f"SELECT * FROM app_user WHERE id IN {names}", **given)
    return {each.id: each for each in load_readable(reader, "app_user", rows, load)}


async def has_users(reader: Reader) -> bool:
    """Return whether anybody signs in to this installation."""
    return bool(await reader.all("SELECT 1 FROM app_user LIMIT 1"))


async def find(reader: Reader, email: str) -> User | None:
    """Return the user of an email address, ignoring case, or None."""
    row = await reader.one("SELECT * FROM app_user WHERE address = :address", address=email.casefold())
    return load(row) if row else None


async def require_same(tx: Transaction, user: User) -> None:
    """Raise `revision_mismatch` if the user's password, second factor or status changed since it was read."""
    now = await get(tx, user.id)
    if (now.password, now.totp, now.disabled_at) != (user.password, user.totp, user.disabled_at):
        raise Problem("revision_mismatch", "Your sign-in details changed in the meantime. Sign in again.")


async def find_all(reader: Reader) -> list[User]:
    """Return all users, oldest first."""
    rows = await reader.all("SELECT * FROM app_user ORDER BY created_at, id")
    return load_readable(reader, "app_user", rows, load)


async def add(tx: Transaction, user: User) -> None:
    """Add a user. Raises `member_exists` if another user has this address."""
    added = await tx.run(
        insert("app_user", (*COLUMNS, "address")) + " ON CONFLICT (address) DO NOTHING",
        **dump(user),
        address=user.address,
    )
    if not added:
        raise Problem("member_exists", "Someone already signs in here with this email address.")


async def save_name(tx: Transaction, user_id: str, name: str) -> None:
    """Save the name of a user."""
    await tx.run("UPDATE app_user SET name = :name WHERE id = :id", id=user_id, name=name)


async def save_locale(tx: Transaction, user_id: str, locale: Tag | None) -> None:
    """Save the language that a user chose, or None for that of their browser."""
    await tx.run("UPDATE app_user SET locale = :locale WHERE id = :id", id=user_id, locale=locale)


async def save_password(tx: Transaction, user_id: str, password: str | None, now: Instant) -> None:
    """Save the hash of a password, or None if the user has to choose a new one first."""
    await tx.run(
        "UPDATE app_user SET password = :password, password_at = :now WHERE id = :id",
        id=user_id,
        password=password,
        now=now,
    )


async def save_factor(tx: Transaction, user_id: str, totp: bytes | None, step: int) -> None:
    """Save the second factor.

    `totp` is encrypted, None for no second factor. `step` is the time step of the code used last.
    """
    await tx.run(
        "UPDATE app_user SET totp = :totp, step = :step WHERE id = :id", id=user_id, totp=totp, step=step
    )


async def save_disabled(tx: Transaction, user_id: str, at: Instant | None) -> None:
    """Save since when the user is disabled, or None to enable them."""
    await tx.run("UPDATE app_user SET disabled_at = :at WHERE id = :id", id=user_id, at=at)


async def save_seen(tx: Transaction, user_id: str, now: Instant) -> None:
    """Save when the user last used a browser."""
    await tx.run("UPDATE app_user SET seen_at = :now WHERE id = :id", id=user_id, now=now)


async def use_step(tx: Transaction, user_id: str, step: int) -> bool:
    """Use a time step of the second factor; return whether it was unused.

    Earlier steps count as used too. A last use that lies hours ahead was saved while the clock was wrong: it
    must not lock its owner out until then.
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
    """Replace the recovery codes; `codes` are macs."""
    await tx.run("DELETE FROM recovery_code WHERE user_id = :id", id=user_id)
    for code in codes:
        await tx.run(insert("recovery_code", ("user_id", "code")), user_id=user_id, code=code)


async def list_recovery(reader: Reader, user_id: str) -> list[bytes]:
    """Return what is stored of the unused recovery codes."""
    rows = await reader.all("SELECT code FROM recovery_code WHERE user_id = :id", id=user_id)
    return [row["code"] for row in rows]


async def use_recovery(tx: Transaction, user_id: str, code: bytes) -> bool:
    """Use up a recovery code, by what is stored of it; return whether it existed."""
    return bool(
        await tx.run("DELETE FROM recovery_code WHERE user_id = :id AND code = :code", id=user_id, code=code)
    )


async def count_recovery(reader: Reader, user_id: str) -> int:
    """Return the number of unused recovery codes."""
    row = await reader.one("SELECT count(*) AS n FROM recovery_code WHERE user_id = :id", id=user_id)
    return int(row["n"]) if row else 0


def dump(user: User) -> dict[str, object]:
    """Return the columns of a user."""
    return {name: getattr(user, name) for name in COLUMNS}


def load(row: Row) -> User:
    """Return the user of one row."""
    return User(**{name: row[name] for name in COLUMNS})
