"""Members of an organisation: added, changed, removed; never left without an owner (contract 3.5).

A member is `invited` until they have signed in, which nobody can yet: accounts for people come with the web app.
"""

from dataclasses import replace

from esign.actions.documents import Owner
from esign.actions.transition import Keep
from esign.core.member import Member, MemberRole, MemberStatus, require_owner_left
from esign.entropy import new_id
from esign.runtime import Runtime
from esign.store import members
from esign.store.database import Transaction
from esign.store.documents import Place


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: Place | None
) -> tuple[list[Member], Place | None]:
    """A page of members, newest first, and where the next begins."""
    found = await members.find(runtime.db, owner.organisation_id, limit + 1, after)
    page = found[:limit]
    return page, Place(page[-1].created_at, page[-1].id) if len(found) > limit else None


async def invite(
    runtime: Runtime, owner: Owner, email: str, name: str, role: MemberRole, keep: Keep | None = None
) -> Member:
    """A new member; raises `member_exists`."""
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
        if keep is not None:
            await keep(tx, member)

    await runtime.db.write(write)
    return member


async def change(
    runtime: Runtime,
    owner: Owner,
    member_id: str,
    name: str | None,
    role: MemberRole | None,
    keep: Keep | None = None,
) -> Member:
    """Another name or role, None leaving it; raises `last_owner`."""

    async def write(tx: Transaction) -> Member:
        before = await members.get_own(tx, owner.organisation_id, member_id)
        after = replace(before, name=name or before.name, role=role or before.role)
        require_owner_left(before, after.role, await members.count_owners(tx, owner.organisation_id))
        await members.save(tx, after)
        if keep is not None:
            await keep(tx, after)
        return after

    return await runtime.db.write(write)


async def remove(runtime: Runtime, owner: Owner, member_id: str, keep: Keep | None = None) -> str:
    """What they made stays; raises `last_owner`."""

    async def write(tx: Transaction) -> None:
        member = await members.get_own(tx, owner.organisation_id, member_id)
        require_owner_left(member, None, await members.count_owners(tx, owner.organisation_id))
        await members.delete(tx, member_id)
        if keep is not None:
            await keep(tx, member_id)

    await runtime.db.write(write)
    return member_id
