"""The users who sign in, as they and the command line manage them."""

from dataclasses import dataclass

from esign.actions.base import audit_log
from esign.actions.base.audit_log import Act
from esign.actions.mail import notices
from esign.actions.people import members as inviting
from esign.actions.people.invitations import issue
from esign.core.actor import NOWHERE, Origin
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people.caller import COMMAND
from esign.core.people.member import Member, MemberRole, MemberStatus, require_owner_left
from esign.core.people.user import Errand, User
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.people import accounts, members, sessions, tickets, users
from esign.system.entropy import new_id
from esign.system.passwords import lane_of_known
from esign.system.vault import Vault


@dataclass(frozen=True, slots=True)
class Person:
    """A user with their membership of each organisation."""

    user: User
    members: tuple[Member, ...]


async def create(
    db: Database,
    vault: Vault,
    organisation_id: str | None,
    email: str,
    name: str,
    role: MemberRole,
    now: Instant,
) -> str:
    """Invite a member on the command line, and return the token of the link.

    An `organisation_id` of None means the first organisation. Raises `member_exists` and `not_found`.
    """

    async def write(tx: Transaction) -> str:
        found = await accounts.organisations(tx)
        organisation = next((one for one in found if organisation_id in (None, one.id)), None)
        if organisation is None:
            raise Problem("not_found", f"There is no organisation {organisation_id}; see esign orgs list.")
        member = Member(new_id("mem", now), organisation.id, email, name, role, MemberStatus.INVITED, now)
        if role is MemberRole.OWNER:
            await notices.tell_owners_of_owner(tx, vault, member, COMMAND, now)
        await members.add(tx, member)
        await audit_log.log(
            tx, vault, organisation.id, COMMAND, now, inviting.invitation(member, link_shown=True)
        )
        return await issue(tx, Errand.INVITATION, member.id, now)

    return await db.write(write)


async def rename(runtime: Runtime, user: User, name: str, *, origin: Origin) -> None:
    """Rename the user, in every organisation that they belong to."""

    async def write(tx: Transaction) -> None:
        before = await users.get(tx, user.id)
        if before.name == name:
            return
        await users.save_name(tx, user.id, name)
        await members.rename(tx, user.id, name)
        names = {"name": {"from": before.name, "to": name}, "email": user.email}
        entry, now = Act("member.changed", {}, names), runtime.clock.now()
        await audit_log.log_of_user(tx, runtime.vault, user, origin, now, entry)

    await runtime.db.write(write)


async def change_password(runtime: Runtime, user: User, password: str, keep: str, *, origin: Origin) -> None:
    """Set a new password. Every session but `keep` ends, and so does a mailed link for a new password."""
    now = runtime.clock.now()
    hashed = await runtime.passwords.hash(password, lane_of_known(user.id))

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_password(tx, user.id, hashed, now)
        await tickets.drop(tx, Errand.RESET, user.id)
        await sessions.end_all(tx, user.id, keep)
        entry = Act("member.password_changed", {"by": "member"})
        await audit_log.log_of_user(tx, runtime.vault, user, origin, now, entry)
        await notices.tell_user_at_home(tx, runtime.vault, user, "password_changed", origin, now)

    await runtime.db.write(write)


async def everybody(db: Database) -> list[Person]:
    """Return all users with their memberships, oldest first."""
    return [Person(user, tuple(await members.of_user(db, user.id))) for user in await users.everybody(db)]


async def reset_password(
    db: Database, vault: Vault, email: str, now: Instant, *, without_factor: bool
) -> str:
    """Delete the password and end all sessions. Return the token with which the user chooses a new password.

    `without_factor` also disables the second factor. Raises `not_found`.
    """

    async def write(tx: Transaction) -> str:
        user = await known(tx, email)
        await users.save_password(tx, user.id, None, now)
        await enter(tx, vault, user, Act("member.password_reset_requested", {}), now)
        if without_factor:
            await users.save_factor(tx, user.id, None, 0)
            await users.replace_recovery(tx, user.id, [])
            if user.totp is not None:
                await enter(tx, vault, user, Act("member.factor_disabled", {}), now)
                await notices.tell_user_at_home(tx, vault, user, "factor_off", NOWHERE, now)
        await sessions.end_all(tx, user.id)
        return await issue(tx, Errand.RESET, user.id, now)

    return await db.write(write)


async def enter(tx: Transaction, vault: Vault, user: User, act: Act, now: Instant) -> None:
    """Enter an act of the command line on an account in the administrative audit log."""
    await audit_log.log_of_user(tx, vault, user, NOWHERE, now, act, by=COMMAND.actor)


async def disable(db: Database, vault: Vault, email: str, now: Instant) -> None:
    """Sign the user out and keep them from signing in. Raises `not_found`, and `last_owner` for the only owner."""

    async def write(tx: Transaction) -> None:
        user = await known(tx, email)
        for member in await members.of_user(tx, user.id):
            require_owner_left(member, None, await members.count_owners(tx, member))
        await users.save_disabled(tx, user.id, now)
        await enter(tx, vault, user, Act("member.disabled", {}), now)
        await sessions.end_all(tx, user.id)

    await db.write(write)


async def enable(db: Database, vault: Vault, email: str, now: Instant) -> None:
    """Let the user sign in again. Raises `not_found`."""

    async def write(tx: Transaction) -> None:
        user = await known(tx, email)
        await users.save_disabled(tx, user.id, None)
        await enter(tx, vault, user, Act("member.enabled", {}), now)

    await db.write(write)


async def known(tx: Transaction, email: str) -> User:
    """Return the user of this address. Raises `not_found`."""
    user = await users.find(tx, email)
    if user is None:
        raise Problem("not_found", f"Nobody signs in as {email}; see esign users list.")
    return user
