import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from esign.core.actor import COMMAND_LINE, Actor, Mode, Owner
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people import api_key
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey, Scope
from esign.store.engine.database import Database
from esign.store.engine.paging import PageStart
from esign.store.people import api_keys
from esign.system.entropy import make_key_secret
from tests.factories import NOW, an_api_key, an_organisation, store_organisation
from tests.store.files import stored_bytes
from tests.store.plans import steps, walks


async def add(db: Database, key: ApiKey) -> bytes:
    """Keep a key; its hash here is that of its id."""
    digest = hashlib.sha256(key.id.encode()).digest()
    await db.write(lambda tx: api_keys.add(tx, key, digest))
    return digest


@pytest.mark.parametrize(
    "key",
    [
        an_api_key(),
        an_api_key(mode=Mode.TEST, scopes=frozenset(), expires_at=NOW + DAY),
        an_api_key(scopes=frozenset({Scope.DOCUMENTS_READ, Scope.WEBHOOKS_WRITE}), name="Ünï"),
        an_api_key(created_by=Actor("member", "mem_1", "Mira Okafor", "mira@example.com")),
    ],
)
async def test_a_key_is_found_by_its_hash_with_the_plan_of_its_organisation(
    db: Database, key: ApiKey
) -> None:
    await store_organisation(db, an_organisation(plan="team"))
    digest = await add(db, key)
    assert await api_keys.find_by_hash(db, digest) == replace(key, plan="team")
    assert await api_keys.find_by_hash(db, bytes(32)) is None


async def test_a_key_stands_nowhere_in_the_files(
    db: Database, organisation: Organisation, tmp_path: Path
) -> None:
    secret = api_key.compose_key(Mode.LIVE, make_key_secret())
    key = an_api_key(hint=api_key.make_hint(secret))
    await db.write(lambda tx: api_keys.add(tx, key, api_key.hash_key(secret)))
    files = stored_bytes(tmp_path)
    assert api_key.hash_key(secret) in files
    assert secret.encode() not in files
    assert secret.encode()[9:39] not in files


async def test_no_two_keys_have_the_same_hash(db: Database, organisation: Organisation) -> None:
    key = an_api_key()
    digest = await add(db, key)
    with pytest.raises(Problem) as error:
        await db.write(lambda tx: api_keys.add(tx, replace(key, id="key_other"), digest))
    assert error.value.code == "revision_mismatch"
    assert await api_keys.find_by_hash(db, digest) == key


async def test_a_key_belongs_to_an_organisation_that_is_there(db: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        await add(db, an_api_key())


async def test_revoking_keeps_the_first_date(db: Database, organisation: Organisation) -> None:
    key = an_api_key()
    digest = await add(db, key)
    assert await db.write(lambda tx: api_keys.revoke(tx, key.id, NOW + 1))
    assert await db.write(lambda tx: api_keys.revoke(tx, key.id, NOW + 2))
    assert not await db.write(lambda tx: api_keys.revoke(tx, "key_other", NOW))
    assert await api_keys.find_by_hash(db, digest) == replace(key, revoked_at=NOW + 1)


async def test_the_last_use_is_noted(db: Database, organisation: Organisation) -> None:
    key, other = an_api_key(), an_api_key(created_at=NOW + 1)
    for each in (key, other):
        await add(db, each)
    await db.write(lambda tx: api_keys.touch(tx, key.id, NOW + 9, "203.0.113.7"))
    assert await api_keys.find_all(db, organisation.id) == [
        replace(key, last_used_at=NOW + 9, last_used_ip="203.0.113.7"),
        other,
    ]


async def test_keys_are_listed_oldest_first_and_only_those_of_the_organisation(
    db: Database, organisation: Organisation
) -> None:
    await store_organisation(db, an_organisation(id="org_other"))
    keys = [an_api_key(created_at=NOW + n) for n in (2, 1, 3)]
    for key in (*keys, an_api_key(organisation_id="org_other")):
        await add(db, key)
    assert await api_keys.find_all(db, organisation.id) == [keys[1], keys[0], keys[2]]


async def test_revoked_and_expired_keys_do_not_count_as_active(
    db: Database, organisation: Organisation
) -> None:
    keys = [an_api_key(), an_api_key(expires_at=NOW), an_api_key(expires_at=NOW + 1), an_api_key()]
    for key in keys:
        await add(db, key)
    await db.write(lambda tx: api_keys.revoke(tx, keys[3].id, NOW))
    assert await api_keys.count_active(db, organisation.id, NOW) == 2
    assert await api_keys.count_active(db, organisation.id, NOW - 1) == 3
    assert await api_keys.count_active(db, "org_other", NOW) == 0


async def test_a_key_made_before_its_maker_was_noted_is_the_command_line_s(
    db: Database, organisation: Organisation
) -> None:
    key = an_api_key(created_by=Actor("member", "mem_1", "Mira"))
    await add(db, key)
    await db.write(lambda tx: tx.run("UPDATE api_key SET created_by = NULL"))
    assert (await api_keys.get(db, key.id)).created_by == COMMAND_LINE
    with pytest.raises(Problem, match="not_found"):
        await api_keys.get(db, "key_other")


async def test_valid_keys_are_found_by_when_they_expire(db: Database, organisation: Organisation) -> None:
    keys = [an_api_key(expires_at=NOW + n if n else None) for n in (3, 1, 2, 4, 0, -1)]
    for key in keys:
        await add(db, key)
    await db.write(lambda tx: api_keys.revoke(tx, keys[2].id, NOW))
    await db.write(lambda tx: api_keys.note_expiry(tx, keys[0].id, 14))
    found = await api_keys.find_expiring(db, NOW, NOW + 3)
    assert found == [keys[1], replace(keys[0], expiry_notice=14)]


async def test_valid_keys_are_found_by_their_last_use_or_else_their_making(
    db: Database, organisation: Organisation
) -> None:
    used, made, newer, used_since, expired, revoked = (
        an_api_key(created_at=NOW - 9, name="used"),
        an_api_key(created_at=NOW),
        an_api_key(created_at=NOW + 1),
        an_api_key(created_at=NOW - 9),
        an_api_key(created_at=NOW - 9, expires_at=NOW + 5),
        an_api_key(created_at=NOW - 9),
    )
    for key in (used, made, newer, used_since, expired, revoked):
        await add(db, key)
    await db.write(lambda tx: api_keys.touch(tx, used.id, NOW - 1, None))
    await db.write(lambda tx: api_keys.touch(tx, used_since.id, NOW + 1, None))
    await db.write(lambda tx: api_keys.revoke(tx, revoked.id, NOW))
    await db.write(lambda tx: api_keys.note_unused(tx, made.id, 2, NOW + 3))
    found = {key.id: key for key in await api_keys.find_unused(db, NOW, NOW + 5)}
    assert found.keys() == {used.id, made.id}
    assert found[made.id] == replace(made, unused_notices=2, unused_noticed_at=NOW + 3)


async def test_keys_near_their_end_are_found_along_an_index(db: Database) -> None:
    expiring = await steps(db, lambda tx: api_keys.find_expiring(tx, NOW, NOW + DAY))
    unused = await steps(db, lambda tx: api_keys.find_unused(tx, NOW, NOW))
    assert any("api_key_expiring" in step for step in expiring), expiring
    assert any("api_key_unused" in step for step in unused), unused
    assert not any(step.startswith("SCAN") for step in [*expiring, *unused])


async def test_the_key_of_a_request_is_found_along_an_index(db: Database) -> None:
    assert await walks(db, lambda tx: api_keys.find_by_hash(tx, bytes(32))) == []
    assert await walks(db, lambda tx: api_keys.find_all(tx, "org_1")) == []


async def test_a_page_of_keys_is_read_along_an_index_without_sorting(db: Database) -> None:
    found = await steps(
        db, lambda tx: api_keys.find_page(tx, Owner("org_1", Mode.LIVE), 25, PageStart(NOW, "key_1"))
    )
    assert not any("SCAN" in step or "TEMP B-TREE" in step for step in found), found
