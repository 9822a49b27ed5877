"""The members of an organisation."""

from esign.core.errors import NO_MEMBER, Problem
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import insert
from esign.store.engine.unreadable_rows import load_readable

COLUMNS = tuple(Member.__slots__)


async def get_own(reader: Reader, organisation_id: str, member_id: str) -> Member:
    """Return the member of this organisation; raise `not_found` for any other id (I5)."""
    row = await reader.one(
        "SELECT * FROM member WHERE id = :id AND organisation_id = :organisation_id",
        id=member_id,
        organisation_id=organisation_id,
    )
    if row is None:
        raise Problem("not_found", NO_MEMBER)
    return load(row)


async def find(
    reader: Reader, organisation_id: str, limit: int, after: PageStart | None = None
) -> list[Member]:
    """Return up to `limit` members, newest first."""
    rows = await reader.all(
        """
        SELECT * FROM member
        WHERE organisation_id = :organisation_id AND (created_at, id) < (:created_at, :id)
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=organisation_id,
        created_at=after.at if after else 2**62,
        id=after.id if after else "",
        limit=limit,
    )
    return load_readable(reader, "member", rows, load)


async def get(reader: Reader, member_id: str) -> Member | None:
    """Return the member that an invitation names, or None if they were removed."""
    row = await reader.one("SELECT * FROM member WHERE id = :id", id=member_id)
    return load(row) if row else None


async def find_by_user(reader: Reader, user_id: str) -> list[Member]:
    """Return a user's members in all organisations, the one that joined first before the others."""
    rows = await reader.all(
        "SELECT * FROM member WHERE user_id = :user_id ORDER BY created_at, id", user_id=user_id
    )
    return load_readable(reader, "member", rows, load)


async def has_owner(reader: Reader) -> bool:
    """Return whether a user who signs in owns an organisation."""
    return bool(await reader.all("SELECT 1 FROM member WHERE role = 'owner' AND user_id IS NOT NULL LIMIT 1"))


async def count_owners(reader: Reader, like: Member) -> int:
    """Return the number of owners of an organisation.

    If `like` has joined, only owners who have joined and are not disabled count.
    """
    row = await reader.one(
        """
        SELECT count(*) AS owners FROM member m LEFT JOIN app_user u ON u.id = m.user_id
        WHERE m.organisation_id = :organisation_id AND m.role = 'owner'
        AND (:joined = 0 OR u.id IS NOT NULL AND u.disabled_at IS NULL)
        """,
        organisation_id=like.organisation_id,
        joined=int(like.user_id is not None),
    )
    return int(row["owners"]) if row else 0


async def is_active(reader: Reader, organisation_id: str, address: str) -> bool:
    """Return whether the address belongs to a member who has joined, ignoring case."""
    return bool(
        await reader.all(
            """
            SELECT 1 FROM member
            WHERE organisation_id = :organisation_id AND address = :address AND status = 'active'
            """,
            organisation_id=organisation_id,
            address=address.casefold(),
        )
    )


async def find_administrators(reader: Reader, organisation_id: str) -> list[Member]:
    """Return the owners and admins of the organisation, the longest members first."""
    rows = await reader.all(
        """
        SELECT * FROM member WHERE organisation_id = :organisation_id AND role IN ('owner', 'admin')
        ORDER BY created_at, id
        """,
        organisation_id=organisation_id,
    )
    return load_readable(reader, "member", rows, load)


async def find_owner(reader: Reader, organisation_id: str) -> Member | None:
    """Return the owner who has been in the organisation the longest, has joined and is not disabled, or None."""
    row = await reader.one(
        """
        SELECT m.* FROM member m LEFT JOIN app_user u ON u.id = m.user_id
        WHERE m.organisation_id = :organisation_id AND m.role = 'owner' AND m.status = 'active'
        AND u.disabled_at IS NULL
        ORDER BY m.created_at, m.id LIMIT 1
        """,
        organisation_id=organisation_id,
    )
    return load(row) if row else None


async def add(tx: Transaction, member: Member) -> None:
    """Add a member. Raises `member_exists` if the organisation has one with this address."""
    added = await tx.run(
        insert("member", (*COLUMNS, "address")) + " ON CONFLICT (organisation_id, address) DO NOTHING",
        **{name: getattr(member, name) for name in COLUMNS},
        address=member.address,
    )
    if not added:
        raise Problem("member_exists")


async def join(tx: Transaction, member: Member) -> None:
    """Add a member who signs in, or turn an invited member of the same address into one, under the old id."""
    changed = await tx.run(
        """
        UPDATE member SET name = :name, role = :role, status = :status, user_id = :user_id
        WHERE organisation_id = :organisation_id AND address = :address AND user_id IS NULL
        """,
        organisation_id=member.organisation_id,
        address=member.address,
        name=member.name,
        role=member.role.value,
        status=member.status.value,
        user_id=member.user_id,
    )
    if not changed:
        await add(tx, member)


async def rename(tx: Transaction, user_id: str, name: str) -> None:
    """Rename a user in every organisation."""
    await tx.run("UPDATE member SET name = :name WHERE user_id = :user_id", user_id=user_id, name=name)


async def save(tx: Transaction, member: Member) -> None:
    """Save what may change of a member: the email address stays."""
    await tx.run(
        "UPDATE member SET name = :name, role = :role, status = :status, user_id = :user_id WHERE id = :id",
        id=member.id,
        name=member.name,
        role=member.role.value,
        status=member.status.value,
        user_id=member.user_id,
    )


async def delete(tx: Transaction, member_id: str) -> None:
    """Delete a member."""
    await tx.run("DELETE FROM member WHERE id = :id", id=member_id)


def load(row: Row) -> Member:
    """Return the member of one row."""
    members = {name: row[name] for name in COLUMNS}
    return Member(**members | {"role": MemberRole(row["role"]), "status": MemberStatus(row["status"])})
