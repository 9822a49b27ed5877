"""API keys, each read with the role that its maker has now."""

import json
from dataclasses import asdict

from esign.core.actor import COMMAND_LINE, Actor, Mode, Owner
from esign.core.errors import NO_API_KEY, Problem
from esign.core.instant import Instant
from esign.core.people.api_key import ApiKey, Scope
from esign.core.people.member import Member, MemberRole
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import load_readable

# The maker's role is read together with the key, so that each request uses the present role.
KEY = """
    SELECT k.id, k.organisation_id, k.mode, k.name, k.hint, k.scopes, k.created_at, k.expires_at,
        k.last_used_at, k.last_used_ip, k.revoked_at, k.created_by, k.expiry_notice, k.unused_notices,
        k.unused_noticed_at, o.plan,
        CASE WHEN m.status = 'active' AND u.id IS NOT NULL AND u.disabled_at IS NULL THEN m.role END AS maker_role
    FROM api_key k JOIN organisation o ON o.id = k.organisation_id
    LEFT JOIN member m ON m.id = k.maker_id AND m.organisation_id = k.organisation_id
    LEFT JOIN app_user u ON u.id = m.user_id
"""


async def find_by_hash(reader: Reader, key_hash: bytes) -> ApiKey | None:
    """Return the key of this hash, or None."""
    row = await reader.one(f"{KEY} WHERE k.hash = :hash", hash=key_hash)
    return load(row) if row else None


async def find_all(reader: Reader, organisation_id: str) -> list[ApiKey]:
    """Return all keys of an organisation, oldest first, revoked ones included."""
    rows = await reader.all(
        f"{KEY} WHERE k.organisation_id = :organisation_id ORDER BY k.created_at, k.id",
        organisation_id=organisation_id,
    )
    return load_readable(reader, "api_key", rows, load)


async def get_own(reader: Reader, owner: Owner, key_id: str) -> ApiKey:
    """Return the key of this owner; raise `not_found` for any other id (I5)."""
    row = await reader.one(
        f"{KEY} WHERE k.id = :id AND k.organisation_id = :organisation_id AND k.mode = :mode",
        id=key_id,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    if row is None:
        raise Problem("not_found", NO_API_KEY)
    return load(row)


async def find_page(reader: Reader, owner: Owner, limit: int, after: PageStart | None = None) -> list[ApiKey]:
    """Return up to `limit` keys of one mode, newest first, revoked ones included."""
    rows = await reader.all(
        f"""
        {KEY} WHERE k.organisation_id = :organisation_id AND k.mode = :mode
        AND (k.created_at, k.id) < (:created_at, :id)
        ORDER BY k.created_at DESC, k.id DESC LIMIT :limit
        """,
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
        created_at=after.at if after else 2**62,
        id=after.id if after else "",
        limit=limit,
    )
    return load_readable(reader, "api_key", rows, load)


async def get(reader: Reader, key_id: str) -> ApiKey:
    """Return the key of any organisation, for callers that look after all keys; raise `not_found` if there is
    none.
    """
    row = await reader.one(f"{KEY} WHERE k.id = :id", id=key_id)
    if row is None:
        raise Problem("not_found")
    return load(row)


async def find_expiring(reader: Reader, now: Instant, until: Instant) -> list[ApiKey]:
    """Return the valid keys of all organisations that expire by `until`, the first to expire first."""
    rows = await reader.all(
        f"""
        {KEY} WHERE k.revoked_at IS NULL AND k.expires_at > :now AND k.expires_at <= :until
        ORDER BY k.expires_at
        """,
        now=now,
        until=until,
    )
    return load_readable(reader, "api_key", rows, load)


async def find_unused(reader: Reader, used_before: Instant, now: Instant) -> list[ApiKey]:
    """Return the valid keys of all organisations that were last used, or made, by `used_before`."""
    rows = await reader.all(
        f"""
        {KEY} WHERE k.revoked_at IS NULL AND COALESCE(k.last_used_at, k.created_at) <= :used_before
        AND (k.expires_at IS NULL OR k.expires_at > :now)
        """,
        used_before=used_before,
        now=now,
    )
    return load_readable(reader, "api_key", rows, load)


async def note_expiry(tx: Transaction, key_id: str, days: int) -> None:
    """Save that the notice this many days before expiry was given."""
    await tx.run("UPDATE api_key SET expiry_notice = :days WHERE id = :id", id=key_id, days=days)


async def note_unused(tx: Transaction, key_id: str, count: int, now: Instant) -> None:
    """Save that the notice of this number about a lack of use was given."""
    await tx.run(
        "UPDATE api_key SET unused_notices = :count, unused_noticed_at = :now WHERE id = :id",
        id=key_id,
        count=count,
        now=now,
    )


async def rename(tx: Transaction, key_id: str, name: str) -> None:
    """Rename a key."""
    await tx.run("UPDATE api_key SET name = :name WHERE id = :id", id=key_id, name=name)


async def count_active(reader: Reader, organisation_id: str, now: Instant) -> int:
    """Return the number of keys that are neither revoked nor expired."""
    row = await reader.one(
        """
        SELECT count(*) AS active FROM api_key WHERE organisation_id = :organisation_id
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
        """,
        organisation_id=organisation_id,
        now=now,
    )
    assert row is not None
    return int(row["active"])


async def add(tx: Transaction, key: ApiKey, key_hash: bytes) -> None:
    """Add a key.

    Raises `revision_mismatch` if this secret made a key before: a form draws its secret beforehand, and was
    sent again.
    """
    added = await tx.run(
        """
        INSERT INTO api_key
            (id, organisation_id, mode, name, hash, hint, scopes, created_at, expires_at, created_by, maker_id)
        VALUES (:id, :organisation_id, :mode, :name, :hash, :hint, :scopes, :created_at, :expires_at, :created_by,
            :maker_id) ON CONFLICT (hash) DO NOTHING
        """,
        id=key.id,
        organisation_id=key.organisation_id,
        mode=key.mode.value,
        name=key.name,
        hash=key_hash,
        hint=key.hint,
        scopes=json.dumps(sorted(scope.value for scope in key.scopes)),
        created_at=key.created_at,
        expires_at=key.expires_at,
        created_by=json.dumps(asdict(key.created_by)),
        maker_id=None if key.is_of_operator else key.created_by.id,
    )
    if not added:
        raise Problem(
            "revision_mismatch", "This form has already made an API key. Reload the page to make another."
        )


async def revoke(tx: Transaction, key_id: str, now: Instant) -> bool:
    """Revoke a key and return whether it exists; revoking again keeps the first date."""
    return bool(
        await tx.run(
            "UPDATE api_key SET revoked_at = COALESCE(revoked_at, :now) WHERE id = :id", id=key_id, now=now
        )
    )


async def find_active_of(reader: Reader, member: Member, now: Instant) -> list[ApiKey]:
    """Return the keys of both modes that a member made and that are neither revoked nor expired, oldest first."""
    rows = await reader.all(
        f"""
        {KEY} WHERE k.maker_id = :maker_id AND k.organisation_id = :organisation_id
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > :now)
        ORDER BY k.created_at, k.id
        """,
        maker_id=member.id,
        organisation_id=member.organisation_id,
        now=now,
    )
    return [load(row) for row in rows]


async def touch(tx: Transaction, key_id: str, now: Instant, ip: str | None) -> None:
    """Save the last use of a key."""
    await tx.run(
        "UPDATE api_key SET last_used_at = :now, last_used_ip = :ip WHERE id = :id", id=key_id, now=now, ip=ip
    )


def load(row: Row) -> ApiKey:
    """Return the key of one row."""
    return ApiKey(
        id=row["id"],
        organisation_id=row["organisation_id"],
        mode=Mode(row["mode"]),
        name=row["name"],
        hint=row["hint"],
        scopes=frozenset(Scope(scope) for scope in json.loads(row["scopes"])),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
        last_used_ip=row["last_used_ip"],
        revoked_at=row["revoked_at"],
        plan=row["plan"],
        created_by=Actor(**json.loads(row["created_by"])) if row["created_by"] else COMMAND_LINE,
        expiry_notice=row["expiry_notice"],
        unused_notices=row["unused_notices"],
        unused_noticed_at=row["unused_noticed_at"],
        maker_role=MemberRole(row["maker_role"]) if row["maker_role"] else None,
    )
