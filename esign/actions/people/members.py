"""Adds, changes and removes members of an organisation, which always keeps an owner (contract 3.5).

A member is `invited`, and gets a link by e-mail, until they have joined. Only an owner changes owners. The role
of the caller is read in the transaction of the change: if two owners demote each other at once, the second is
no owner any more.
"""

from dataclasses import dataclass, replace

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.mail import embedded_outbox, notices
from esign.actions.people import one_time_links
from esign.core.actor import Owner
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people.api_key import ApiKey
from esign.core.people.member import (
    BY_KEY,
    Member,
    MemberRole,
    MemberStatus,
    require_may_change,
    require_owner_left,
)
from esign.core.people.permission import Permission as Permission
from esign.core.people.permission import has_permission, is_raised
from esign.core.people.user import Errand
from esign.runtime import Runtime
from esign.store.document import saved_views
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart, cut_page
from esign.store.people import api_keys, members, tickets
from esign.store.queue import sent_mail
from esign.system.entropy import make_id


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: PageStart | None
) -> tuple[list[Member], PageStart | None]:
    """Return a page of members, newest first, and the place where the next page begins, or None."""
    found = await members.find(runtime.db, owner.organisation_id, limit + 1, after)
    return cut_page(found, limit)


async def find_role(tx: Transaction, caller: Caller) -> MemberRole:
    """Return the role with which the caller changes members. Raises `insufficient_scope` for a caller who may not.

    An API key counts as `BY_KEY`, the command line and the program as an owner.
    """
    actor = caller.author.actor
    if actor.kind != "member":
        return BY_KEY if actor.kind == "api_key" else MemberRole.OWNER
    asking = await members.get(tx, actor.id or "")
    if asking is None or asking.organisation_id != caller.owner.organisation_id:
        raise Problem("insufficient_scope", "You’re no longer a member of this organisation.")
    if not has_permission(asking.role, Permission.SETTLE):
        raise Problem("insufficient_scope", "Your role doesn’t allow this.")
    return asking.role


async def invite(runtime: Runtime, caller: Caller, email: str, name: str, role: MemberRole) -> Member:
    """Invite a new member, and return it. The owners are notified of a new owner. Raises `member_exists`."""
    owner, now = caller.owner, runtime.clock.now()
    member = Member(
        id=make_id("mem", now),
        organisation_id=owner.organisation_id,
        email=email,
        name=name,
        role=role,
        status=MemberStatus.INVITED,
        created_at=now,
    )

    async def write(tx: Transaction) -> None:
        require_may_change(await find_role(tx, caller), None, role)
        if role is MemberRole.OWNER:
            await notices.tell_owners_of_owner(tx, runtime.vault, member, caller.author, now)
        await members.add(tx, member)
        await one_time_links.invite(runtime, tx, member, now)
        entry = make_invitation_entry(member, now)
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, member)

    await runtime.db.write(write)
    return member


def make_invitation_entry(
    member: Member, now: Instant, *, again: bool = False, link_shown: bool = False
) -> AdminAct:
    """Return the log entry of an invitation, with whether the caller was shown its link."""
    data = {"memberId": member.id, "role": member.role.value, "again": again, "linkShown": link_shown}
    return AdminAct("member.invited", now, data, {"name": member.name, "email": member.email})


async def invite_again(runtime: Runtime, caller: Caller, member_id: str) -> Member:
    """Send a new link by e-mail, which replaces the earlier one, and return the member. Raises `not_found` if
    they have joined.

    The reader of a link joins as that member, so only an owner may renew the link of an owner.
    """
    owner, now = caller.owner, runtime.clock.now()

    async def write(tx: Transaction) -> Member:
        member = await members.get_own(tx, owner.organisation_id, member_id)
        if member.status is not MemberStatus.INVITED:
            raise Problem("not_found")
        require_may_change(await find_role(tx, caller), member.role, member.role)
        await one_time_links.invite(runtime, tx, member, now)
        entry = make_invitation_entry(member, now, again=True)
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        return member

    invited = await runtime.db.write(write)
    return invited


async def issue_link(runtime: Runtime, caller: Caller, member_id: str) -> tuple[Member, str]:
    """Return the member and their invitation link, for the caller to hand over. An earlier link ends.

    Raises `not_found` if they have joined, and what `require_may_change` raises.
    """
    owner, now = caller.owner, runtime.clock.now()

    async def write(tx: Transaction) -> tuple[Member, str]:
        member = await members.get_own(tx, owner.organisation_id, member_id)
        require_may_change(await find_role(tx, caller), member.role, None)
        if member.status is not MemberStatus.INVITED:
            raise Problem("not_found")
        entry = make_invitation_entry(member, now, again=True, link_shown=True)
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        return member, await one_time_links.hand_over_link(runtime, tx, member, now)

    issued = await runtime.db.write(write)
    return issued


async def find_mailed(runtime: Runtime, invited: list[Member]) -> dict[str, bool]:
    """Return for each invited member whether a mail server accepted their newest invitation.

    Members whose e-mail is still waiting, or is gone, are left out.
    """
    newest = {member.id: await sent_mail.find_invitation(runtime.db, member.id) for member in invited}
    return {
        id: mail.state == "done" and mail.reply not in (None, embedded_outbox.KEPT)
        for id, mail in newest.items()
        if mail is not None and mail.state != "pending"
    }


async def change(
    runtime: Runtime, caller: Caller, member_id: str, name: str | None, role: MemberRole | None
) -> Member:
    """Change name or role of a member, and return it. None keeps a value. Raises `last_owner`.

    The owners are notified of a new owner. An invited member who gets a higher role is mailed a new link, and
    the earlier one ends: it may have been handed to another person, and its reader joins as that member.
    """
    owner = caller.owner

    async def write(tx: Transaction) -> Member:
        before = await members.get_own(tx, owner.organisation_id, member_id)
        after = replace(before, name=name or before.name, role=role or before.role)
        require_may_change(await find_role(tx, caller), before.role, after.role)
        require_owner_left(before, after.role, await members.count_owners(tx, before))
        now = runtime.clock.now()
        if after.role is MemberRole.OWNER and before.role is not MemberRole.OWNER:
            await notices.tell_owners_of_owner(tx, runtime.vault, after, caller.author, now)
        await members.save(tx, after)
        if after != before:
            await audit_log.add_entry(
                tx, runtime.vault, owner.organisation_id, caller.author, make_change_entry(before, after, now)
            )
        if after.status is MemberStatus.INVITED and is_raised(before.role, after.role):
            await one_time_links.invite(runtime, tx, after, now)
            entry = make_invitation_entry(after, now, again=True)
            await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, after)
        return after

    changed = await runtime.db.write(write)
    return changed


def make_change_entry(before: Member, after: Member, now: Instant) -> AdminAct:
    """Return the log entry of a changed role or name."""
    data: dict[str, object] = {"memberId": after.id}
    detail: dict[str, object] = {"name": after.name, "email": after.email}
    if before.role is not after.role:
        data["role"] = {"from": before.role.value, "to": after.role.value}
    if before.name != after.name:
        detail["name"] = {"from": before.name, "to": after.name}
    return AdminAct("member.changed", now, data, detail)


@dataclass(frozen=True, slots=True)
class Removal:
    """The id of a removed member, and the keys that they created, which have no effect from now on."""

    id: str
    keys: tuple[ApiKey, ...]


async def find_keys(runtime: Runtime, owner: Owner, member_id: str) -> list[ApiKey]:
    """Return the active keys of both modes that the member created. Raises `not_found`."""
    member = await members.get_own(runtime.db, owner.organisation_id, member_id)
    return await api_keys.find_active_of(runtime.db, member, runtime.clock.now())


async def remove(runtime: Runtime, caller: Caller, member_id: str, *, revoke_keys: bool = True) -> Removal:
    """Remove the member. Their documents stay, and their invitation link ends. Raises `last_owner`.

    The keys that they created are suspended, since a key acts with the role of its creator. With `revoke_keys`
    they are revoked.
    """
    owner, now = caller.owner, runtime.clock.now()

    async def write(tx: Transaction) -> Removal:
        member = await members.get_own(tx, owner.organisation_id, member_id)
        require_may_change(await find_role(tx, caller), member.role, None)
        require_owner_left(member, None, await members.count_owners(tx, member))
        keys = await api_keys.find_active_of(tx, member, now)
        for key in keys if revoke_keys else ():
            await api_keys.revoke(tx, key.id, now)
            revoked = audit_log.make_revocation_entry(key, now, "member removed")
            await audit_log.log_act(tx, runtime.vault, caller, revoked)
        await saved_views.delete_private(tx, member_id)
        await members.delete(tx, member_id)
        await tickets.drop(tx, Errand.INVITATION, member_id)
        removal = Removal(member_id, tuple(keys))
        data = {
            "memberId": member_id,
            "role": member.role.value,
            "revokedApiKeys": [key.id for key in keys if revoke_keys],
        }
        entry = AdminAct("member.removed", now, data, {"name": member.name, "email": member.email})
        await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, removal)
        return removal

    removal = await runtime.db.write(write)
    return removal
