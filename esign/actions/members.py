"""Members of an organisation: added, changed, removed; never left without an owner (contract 3.5).

A member is `invited`, and mailed a link, until they have joined. `by` is the role of whoever asks: a key does what an
owner does.
"""

from dataclasses import replace

from esign.actions import joining
from esign.actions.documents import Owner
from esign.actions.transition import Keep
from esign.core.errors import Problem
from esign.core.member import Member, MemberRole, MemberStatus, require_may_change, require_owner_left
from esign.core.user import Errand
from esign.entropy import new_id
from esign.runtime import Runtime
from esign.store import members, tickets
from esign.store.database import Transaction
from esign.store.documents import Place, page_of


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: Place | None
) -> tuple[list[Member], Place | None]:
    """A page of members, newest first, and where the next begins."""
    found = await members.find(runtime.db, owner.organisation_id, limit + 1, after)
    return page_of(found, limit)


async def invite(
    runtime: Runtime,
    owner: Owner,
    email: str,
    name: str,
    role: MemberRole,
    keep: Keep | None = None,
    by: MemberRole = MemberRole.OWNER,
) -> Member:
    """A new member; raises `member_exists`."""
    require_may_change(by, None, role)
    now = runtime.clock.now()
    member = Member(
        id=new_id("mem", now),
        organisation_id=owner.organisation_id,
        email=email,
        name=name,
        role=role,
        status=MemberStatus.INVITED,
        created_at=now,
    )

    async def write(tx: Transaction) -> None:
        await members.add(tx, member)
        await joining.invite(runtime, tx, member, now)
        if keep is not None:
            await keep(tx, member)

    await runtime.db.write(write)
    runtime.bell.ring()
    return member


async def invite_again(runtime: Runtime, owner: Owner, member_id: str) -> Member:
    """A new link in place of the one that was mailed; raises `not_found` where they have joined."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> Member:
        member = await members.get_own(tx, owner.organisation_id, member_id)
        if member.status is not MemberStatus.INVITED:
            raise Problem("not_found")
        await joining.invite(runtime, tx, member, now)
        return member

    invited = await runtime.db.write(write)
    runtime.bell.ring()
    return invited


async def change(
    runtime: Runtime,
    owner: Owner,
    member_id: str,
    name: str | None,
    role: MemberRole | None,
    keep: Keep | None = None,
    by: MemberRole = MemberRole.OWNER,
) -> Member:
    """Another name or role, None leaving it; raises `last_owner`."""

    async def write(tx: Transaction) -> Member:
        before = await members.get_own(tx, owner.organisation_id, member_id)
        after = replace(before, name=name or before.name, role=role or before.role)
        require_may_change(by, before.role, after.role)
        require_owner_left(before, after.role, await members.count_owners(tx, before))
        await members.save(tx, after)
        if keep is not None:
            await keep(tx, after)
        return after

    return await runtime.db.write(write)


async def remove(
    runtime: Runtime,
    owner: Owner,
    member_id: str,
    keep: Keep | None = None,
    by: MemberRole = MemberRole.OWNER,
) -> str:
    """What they made stays, a mailed invitation ends; raises `last_owner`."""

    async def write(tx: Transaction) -> None:
        member = await members.get_own(tx, owner.organisation_id, member_id)
        require_may_change(by, member.role, None)
        require_owner_left(member, None, await members.count_owners(tx, member))
        await members.delete(tx, member_id)
        await tickets.drop(tx, Errand.INVITATION, member_id)
        if keep is not None:
            await keep(tx, member_id)

    await runtime.db.write(write)
    return member_id
