"""Organisations and their API keys."""

import json

from esign.core.account import Organisation
from esign.core.apikey import ApiKey, Scope
from esign.core.document import Mode
from esign.core.instant import Instant
from esign.store.database import Reader, Row, Transaction

KEY = """
    SELECT k.id, k.organisation_id, k.mode, k.name, k.hint, k.scopes, k.created_at, k.expires_at,
        k.last_used_at, k.last_used_ip, k.revoked_at, o.plan
    FROM api_key k JOIN organisation o ON o.id = k.organisation_id
"""


async def get_organisation(reader: Reader, organisation_id: str) -> Organisation:
    row = await reader.one("SELECT * FROM organisation WHERE id = :id", id=organisation_id)
    assert row is not None, "every row that names an organisation refers to one"
    return load_organisation(row)


async def first_organisation(reader: Reader) -> Organisation | None:
    """The organisation that was made first; None before the first use."""
    row = await reader.one("SELECT * FROM organisation ORDER BY created_at, id LIMIT 1")
    return load_organisation(row) if row else None


async def add_organisation(tx: Transaction, organisation: Organisation) -> None:
    await tx.run(
        """
        INSERT INTO organisation (id, name, locale, time_zone, plan, colour, reply_to, created_at)
        VALUES (:id, :name, :locale, :time_zone, :plan, :colour, :reply_to, :created_at)
        """,
        **{name: getattr(organisation, name) for name in organisation.__slots__},
    )


def load_organisation(row: Row) -> Organisation:
    return Organisation(**{name: row[name] for name in Organisation.__slots__})


async def key_by_hash(reader: Reader, key_hash: bytes) -> ApiKey | None:
    row = await reader.one(f"{KEY} WHERE k.hash = :hash", hash=key_hash)
    return load_key(row) if row else None


async def keys_of(reader: Reader, organisation_id: str) -> list[ApiKey]:
    """All keys, oldest first, revoked ones included."""
    rows = await reader.all(
        f"{KEY} WHERE k.organisation_id = :organisation_id ORDER BY k.created_at, k.id",
        organisation_id=organisation_id,
    )
    return [load_key(row) for row in rows]


async def count_active_keys(reader: Reader, organisation_id: str, now: Instant) -> int:
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


async def add_key(tx: Transaction, key: ApiKey, key_hash: bytes) -> None:
    await tx.run(
        """
        INSERT INTO api_key (id, organisation_id, mode, name, hash, hint, scopes, created_at, expires_at)
        VALUES (:id, :organisation_id, :mode, :name, :hash, :hint, :scopes, :created_at, :expires_at)
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
    )


async def revoke_key(tx: Transaction, key_id: str, now: Instant) -> bool:
    """Whether such a key exists; revoking twice keeps the first date."""
    return bool(
        await tx.run(
            "UPDATE api_key SET revoked_at = COALESCE(revoked_at, :now) WHERE id = :id", id=key_id, now=now
        )
    )


async def touch_key(tx: Transaction, key_id: str, now: Instant, ip: str | None) -> None:
    await tx.run(
        "UPDATE api_key SET last_used_at = :now, last_used_ip = :ip WHERE id = :id", id=key_id, now=now, ip=ip
    )


def load_key(row: Row) -> ApiKey:
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
    )
