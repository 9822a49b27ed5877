"""The people who sign in, as they and the command line look after them."""

from dataclasses import dataclass

from esign.actions.joining import issue
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.member import Member, MemberRole, MemberStatus, require_owner_left
from esign.core.user import Errand, User
from esign.entropy import new_id
from esign.runtime import Runtime
from esign.store import accounts, members, sessions, tickets, users
from esign.store.database import Database, Transaction


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with what they are in each organisation."""

    user: User
    members: tuple[Member, ...]


async def create(
    db: Database, organisation_id: str | None, email: str, name: str, role: MemberRole, now: Instant
) -> str:
    """The token of an invitation; None for the organisation made first. Raises `member_exists`, `not_found`."""

    async def write(tx: Transaction) -> str:
        found = await accounts.organisations(tx)
        organisation = next((one for one in found if organisation_id in (None, one.id)), None)
        if organisation is None:
            raise Problem("not_found", f"There is no organisation {organisation_id}; see esign orgs list.")
        member = Member(new_id("mem", now), organisation.id, email, name, role, MemberStatus.INVITED, now)
        await members.add(tx, member)
        return await issue(tx, Errand.INVITATION, member.id, now)

    return await db.write(write)


async def rename(runtime: Runtime, user: User, name: str) -> None:
    """In every organisation that they are of."""

    async def write(tx: Transaction) -> None:
        await users.save_name(tx, user.id, name)
        await members.rename(tx, user.id, name)

    await runtime.db.write(write)


async def change_password(runtime: Runtime, user: User, password: str, keep: str) -> None:
    """What was open with the old one ends, but for the session `keep`; so does a mailed link for a new one."""
    now, hashed = runtime.clock.now(), await runtime.passwords.hash(password)

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_password(tx, user.id, hashed, now)
        await tickets.drop(tx, Errand.RESET, user.id)
        await sessions.end_all(tx, user.id, keep)

    await runtime.db.write(write)


async def everybody(db: Database) -> list[Person]:
    """Oldest first."""
    return [Person(user, tuple(await members.of_user(db, user.id))) for user in await users.everybody(db)]


async def reset_password(db: Database, email: str, now: Instant, *, without_factor: bool) -> str:
    """The token with which a new password is chosen; everything that was open ends. Raises `not_found`."""

    async def write(tx: Transaction) -> str:
        user = await known(tx, email)
        await users.save_password(tx, user.id, None, now)
        if without_factor:
            await users.save_factor(tx, user.id, None, 0)
            await users.replace_recovery(tx, user.id, [])
        await sessions.end_all(tx, user.id)
        return await issue(tx, Errand.RESET, user.id, now)

    return await db.write(write)


async def disable(db: Database, email: str, now: Instant) -> None:
    """They are signed out and cannot sign in; raises `not_found`, and `last_owner` where nobody else owns."""

    async def write(tx: Transaction) -> None:
        user = await known(tx, email)
        for member in await members.of_user(tx, user.id):
            require_owner_left(member, None, await members.count_owners(tx, member))
        await users.save_disabled(tx, user.id, now)
        await sessions.end_all(tx, user.id)

    await db.write(write)


async def enable(db: Database, email: str) -> None:
    """They may sign in again; raises `not_found`."""

    async def write(tx: Transaction) -> None:
        user = await known(tx, email)
        await users.save_disabled(tx, user.id, None)

    await db.write(write)


async def known(tx: Transaction, email: str) -> User:
    user = await users.find(tx, email)
    if user is None:
        raise Problem("not_found", f"Nobody signs in as {email}; see esign users list.")
    return user
