"""The users who sign in, as they and the command line manage them."""

from dataclasses import dataclass

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import UserCaller
from esign.actions.mail import notices
from esign.actions.mail.notices import AccountChange
from esign.actions.people import members as inviting
from esign.actions.people.one_time_links import issue_token
from esign.core.actor import COMMAND, NOWHERE
from esign.core.errors import Problem
from esign.core.language import Tag
from esign.core.people.member import Member, MemberRole, MemberStatus, require_owner_left
from esign.core.people.user import Errand, User
from esign.core.sentence import say
from esign.runtime import Installation, Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.people import members, organisations, sessions, tickets, users
from esign.system.entropy import make_id
from esign.system.passwords import build_known_lane


@dataclass(frozen=True, slots=True)
class UserWithMembers:
    """A user with their membership of each organisation."""

    user: User
    members: tuple[Member, ...]


async def create_invitation(
    installation: Installation, organisation_id: str | None, email: str, name: str, role: MemberRole
) -> str:
    """Invite a member on the command line, and return the token of the link.

    An `organisation_id` of None means the first organisation. Raises `member_exists` and `not_found`.
    """
    vault, now = installation.vault, installation.now

    async def write(tx: Transaction) -> str:
        found = await organisations.find_all(tx)
        organisation = next((one for one in found if organisation_id in (None, one.id)), None)
        if organisation is None:
            raise Problem(
                "not_found", say("There is no organisation {id}; see esign orgs list.", id=organisation_id)
            )
        member = Member(make_id("mem", now), organisation.id, email, name, role, MemberStatus.INVITED, now)
        if role is MemberRole.OWNER:
            await notices.tell_owners_of_owner(tx, vault, member, COMMAND, now)
        await members.add(tx, member)
        await audit_log.add_entry(
            tx, vault, organisation.id, COMMAND, inviting.make_invitation_entry(member, now, link_shown=True)
        )
        return await issue_token(tx, Errand.INVITATION, member.id, now)

    return await installation.db.write(write)


async def rename(runtime: Runtime, caller: UserCaller, name: str) -> None:
    """Rename the user, in every organisation that they belong to."""
    user = caller.user

    async def write(tx: Transaction) -> None:
        before = await users.get(tx, user.id)
        if before.name == name:
            return
        await users.save_name(tx, user.id, name)
        await members.rename(tx, user.id, name)
        names = {"name": {"from": before.name, "to": name}, "email": user.email}
        entry = AdminAct("member.changed", runtime.clock.now(), {}, names)
        await audit_log.log_own_act(tx, runtime.vault, user, caller.origin, entry)

    await runtime.db.write(write)


async def choose_language(runtime: Runtime, caller: UserCaller, locale: Tag | None) -> None:
    """Set the language of the pages and notices of a user; None for that of their browser."""

    async def write(tx: Transaction) -> None:
        await users.save_locale(tx, caller.user.id, locale)

    await runtime.db.write(write)


async def change_password(runtime: Runtime, caller: UserCaller, password: str) -> None:
    """Set a new password. The other sessions end, and so does a mailed link for a new password."""
    user, origin, now = caller.user, caller.origin, runtime.clock.now()
    hashed = await runtime.passwords.hash(password, build_known_lane(user.id))

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_password(tx, user.id, hashed, now)
        await tickets.drop(tx, Errand.RESET, user.id)
        await sessions.end_all(tx, user.id, caller.session_id)
        entry = AdminAct("member.password_changed", now, {"by": "member"})
        await audit_log.log_own_act(tx, runtime.vault, user, origin, entry)
        change = AccountChange("password_changed", origin, now)
        await notices.tell_user_by_first_organisation(tx, runtime.vault, user, change)

    await runtime.db.write(write)


async def list_users(db: Database) -> list[UserWithMembers]:
    """Return all users with their memberships, oldest first."""
    return [
        UserWithMembers(user, tuple(await members.find_by_user(db, user.id)))
        for user in await users.find_all(db)
    ]


async def reset_password(installation: Installation, email: str, *, without_factor: bool) -> str:
    """Delete the password and end all sessions. Return the token with which the user chooses a new password.

    `without_factor` also disables the second factor. Raises `not_found`.
    """
    vault, now = installation.vault, installation.now

    async def write(tx: Transaction) -> str:
        user = await get_by_email(tx, email)
        await users.save_password(tx, user.id, None, now)
        await audit_log.log_act_on_user(
            tx, vault, user, COMMAND, AdminAct("member.password_reset_requested", now, {})
        )
        if without_factor:
            await users.save_factor(tx, user.id, None, 0)
            await users.replace_recovery(tx, user.id, [])
            if user.totp is not None:
                await audit_log.log_act_on_user(
                    tx, vault, user, COMMAND, AdminAct("member.factor_disabled", now, {})
                )
                change = AccountChange("factor_off", NOWHERE, now)
                await notices.tell_user_by_first_organisation(tx, vault, user, change)
        await sessions.end_all(tx, user.id)
        return await issue_token(tx, Errand.RESET, user.id, now)

    return await installation.db.write(write)


async def disable(installation: Installation, email: str) -> None:
    """Sign the user out and keep them from signing in. Raises `not_found`, and `last_owner` for the only owner."""
    vault, now = installation.vault, installation.now

    async def write(tx: Transaction) -> None:
        user = await get_by_email(tx, email)
        for member in await members.find_by_user(tx, user.id):
            require_owner_left(member, None, await members.count_owners(tx, member))
        await users.save_disabled(tx, user.id, now)
        await audit_log.log_act_on_user(tx, vault, user, COMMAND, AdminAct("member.disabled", now, {}))
        await sessions.end_all(tx, user.id)

    await installation.db.write(write)


async def enable(installation: Installation, email: str) -> None:
    """Let the user sign in again. Raises `not_found`."""
    vault, now = installation.vault, installation.now

    async def write(tx: Transaction) -> None:
        user = await get_by_email(tx, email)
        await users.save_disabled(tx, user.id, None)
        await audit_log.log_act_on_user(tx, vault, user, COMMAND, AdminAct("member.enabled", now, {}))

    await installation.db.write(write)


async def get_by_email(tx: Transaction, email: str) -> User:
    """Return the user of this address. Raises `not_found`."""
    user = await users.find(tx, email)
    if user is None:
        raise Problem("not_found", say("Nobody signs in as {email}; see esign users list.", email=email))
    return user
