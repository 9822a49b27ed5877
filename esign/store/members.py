"""The members of an organisation."""

from typing import Any, Protocol

from esign.core.errors import Problem
from esign.core.member import Member, MemberRole, MemberStatus
from esign.store.database import Row, Transaction
from esign.store.documents import Place
from esign.store.sql import insert

COLUMNS = tuple(Member.__slots__)


class Reader(Protocol):
    async def all(self, sql: str, **values: Any) -> list[Row]: ...

    async def one(self, sql: str, **values: Any) -> Row | None: ...


async def get_own(reader: Reader, organisation_id: str, member_id: str) -> Member:
    """The member of this organisation; any other id is `not_found` (I5)."""
    row = await reader.one(
        "SELECT * FROM member WHERE id = :id AND organisation_id = :organisation_id",
        id=member_id,
        organisation_id=organisation_id,
    )
    if row is None:
        raise Problem("not_found")
    return load(row)


async def find(reader: Reader, organisation_id: str, limit: int, after: Place | None = None) -> list[Member]:
    """Up to `limit` members, newest first."""
    rows = await reader.all(
        """
        SELECT * FROM member
        WHERE organisation_id = :organisation_id AND (created_at, id) < (:created_at, :id)
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,
        organisation_id=organisation_id,
        created_at=after.created_at if after else 2**62,
        id=after.id if after else "",
        limit=limit,
    )
    return [load(row) for row in rows]


async def count_owners(reader: Reader, organisation_id: str) -> int:
    row = await reader.one(
        "SELECT count(*) AS owners FROM member WHERE organisation_id = :organisation_id AND role = 'owner'",
        organisation_id=organisation_id,
    )
    return int(row["owners"]) if row else 0


async def add(tx: Transaction, member: Member) -> None:
    """Raises `member_exists` where the organisation has one with this address."""
    added = await tx.run(
        insert("member", (*COLUMNS, "address")) + " ON CONFLICT (organisation_id, address) DO NOTHING",
        **{name: getattr(member, name) for name in COLUMNS},
        address=member.address,
    )
    if not added:
        raise Problem("member_exists")


async def save(tx: Transaction, member: Member) -> None:
    """A new name or role; the address of a member stays."""
    await tx.run(
        "UPDATE member SET name = :name, role = :role WHERE id = :id",
        id=member.id,
        name=member.name,
        role=member.role.value,
    )


async def delete(tx: Transaction, member_id: str) -> None:
    await tx.run("DELETE FROM member WHERE id = :id", id=member_id)


def load(row: Row) -> Member:
    members = {name: row[name] for name in COLUMNS}
    return Member(**members | {"role": MemberRole(row["role"]), "status": MemberStatus(row["status"])})
