import sqlite3

import pytest

from esign.core.document import audit
from esign.core.document.state.outcome import Event
from esign.store.document import outcomes
from esign.store.engine.database import Database
from esign.store.queue import audit_entries
from esign.system.vault import Vault
from tests.factories import NOW, ORIGIN, SENDER, is_intact
from tests.store.plans import walks

FACTS = tuple(
    Event(
        f"recipient.{n}",
        NOW + n,
        SENDER,
        None,
        ORIGIN,
        {"n": n, "ü": ["x"]},
        {"reason": "Gründe"} if n % 2 else None,
    )
    for n in range(5)
)


VAULT = Vault(bytes(range(32)))


async def record(db: Database, document_id: str, *facts: Event) -> None:
    await db.write(lambda tx: outcomes.record(tx, document_id, facts, VAULT))


async def run(db: Database, sql: str) -> int:
    return await db.write(lambda tx: tx.run(sql))


async def test_the_trail_comes_back_as_it_was_written_and_verifies(db: Database) -> None:
    for fact in FACTS:
        await record(db, "doc_1", fact)
    trail = await audit_entries.find_entries(db, "doc_1")
    assert [(line.seq, line.type, line.at, line.data) for line in trail] == [
        (n, fact.type, fact.at, fact.data) for n, fact in enumerate(FACTS, 1)
    ]
    assert [line.personal and line.personal["detail"] for line in trail] == [fact.detail for fact in FACTS]
    assert is_intact(trail)
    assert await audit_entries.get_head(db, "doc_1") == (5, trail[-1].hash)


async def test_each_document_has_a_chain_of_its_own(db: Database) -> None:
    await record(db, "doc_1", *FACTS)
    await record(db, "doc_2", *FACTS[:2])
    assert is_intact(await audit_entries.find_entries(db, "doc_2"))
    assert len(await audit_entries.find_entries(db, "doc_2")) == 2
    assert await audit_entries.get_head(db, "doc_3") == (0, audit.START)


async def test_every_entry_has_a_salt_of_its_own(db: Database) -> None:
    await record(db, "doc_1", *[FACTS[0]] * 20)
    salts = {line.salt for line in await audit_entries.find_entries(db, "doc_1")}
    assert len(salts) == 20
    assert {len(salt) for salt in salts if salt} == {16}


async def test_a_trail_is_read_page_by_page_oldest_first(db: Database) -> None:
    await record(db, "doc_1", *FACTS)
    assert [line.seq for line in await audit_entries.find_entries(db, "doc_1", limit=2)] == [1, 2]
    assert [line.seq for line in await audit_entries.find_entries(db, "doc_1", after=2, limit=2)] == [3, 4]
    assert [line.seq for line in await audit_entries.find_entries(db, "doc_1", after=4, limit=2)] == [5]
    assert await audit_entries.find_entries(db, "doc_1", after=5) == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM audit WHERE seq = 5",
        "DELETE FROM audit",
        "UPDATE audit SET document_id = 'doc_2'",
        "UPDATE audit SET seq = seq + 10",
        "UPDATE audit SET at = at + 1",
        "UPDATE audit SET type = 'x'",
        "UPDATE audit SET actor_kind = 'member'",
        "UPDATE audit SET actor_id = 'key_2'",
        "UPDATE audit SET actor_id = NULL, personal = NULL, salt = NULL",
        "UPDATE audit SET recipient_id = 'rcp_1', personal = NULL, salt = NULL",
        "UPDATE audit SET data = '{}', personal = NULL, salt = NULL",
        "UPDATE audit SET personal = '{}'",
        "UPDATE audit SET personal = NULL",
        "UPDATE audit SET salt = NULL",
        "UPDATE audit SET personal_hash = x'00', personal = NULL, salt = NULL",
        "UPDATE audit SET prev_hash = x'00'",
        "UPDATE audit SET hash = x'00'",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE seq = 1",
    ],
)
async def test_the_database_itself_keeps_the_trail_from_being_changed(db: Database, change: str) -> None:
    await record(db, "doc_1", *FACTS)
    before = await audit_entries.find_entries(db, "doc_1")
    with pytest.raises(sqlite3.IntegrityError, match="only grows"):
        await run(db, change)
    assert await audit_entries.find_entries(db, "doc_1") == before


async def test_the_database_lets_what_is_personal_be_erased_and_the_trail_still_verifies(
    db: Database,
) -> None:
    await record(db, "doc_1", *FACTS)
    assert await run(db, "UPDATE audit SET personal = NULL, salt = NULL WHERE seq < 4") == 3
    trail = await audit_entries.find_entries(db, "doc_1")
    assert [line.personal is None and line.salt is None for line in trail] == [True] * 3 + [False] * 2
    assert is_intact(trail)


async def test_entries_are_counted_by_document_and_type(db: Database) -> None:
    await record(db, "doc_1", *FACTS, FACTS[0])
    await record(db, "doc_2", FACTS[1])
    wanted = ("recipient.0", "recipient.1", "recipient.9")
    assert await db.write(lambda tx: audit_entries.count(tx, "doc_1", wanted)) == 3
    assert await db.write(lambda tx: audit_entries.count(tx, "doc_2", wanted)) == 1
    assert await db.write(lambda tx: audit_entries.count(tx, "doc_3", wanted)) == 0


async def test_a_trail_is_read_along_an_index(db: Database) -> None:
    assert await walks(db, lambda tx: audit_entries.find_entries(tx, "doc_1", 3, 25)) == []
    assert await walks(db, lambda tx: audit_entries.get_head(tx, "doc_1")) == []
    assert await walks(db, lambda tx: audit_entries.count(tx, "doc_1", ("document.sent",))) == []
