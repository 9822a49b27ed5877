"""What is kept of codes, and which browser has shown one."""

from esign.core.document.challenge import Challenge
from esign.core.instant import HOUR, Instant
from esign.core.people.account import Organisation
from esign.store.document import challenges
from esign.store.engine.database import Database, Transaction
from esign.system.vault import Vault
from tests.factories import NOW, a_document, store
from tests.store.plans import walks


async def a_recipient_id(db: Database, vault: Vault) -> str:
    return (await store(db, vault, a_document())).recipients[0].id


async def prove(db: Database, recipient_id: str, session: str, before: str | None = None) -> None:
    async def write(tx: Transaction) -> None:
        await challenges.prove(tx, before, session, recipient_id, NOW + HOUR)

    await db.write(write)


async def is_shown(db: Database, recipient_id: str, session: str | None, now: Instant = NOW) -> bool:
    return await challenges.is_proven(db, session, recipient_id, now)


async def test_nothing_is_known_until_something_is_kept_and_then_all_of_it(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    recipient_id = await a_recipient_id(db, vault)
    assert await challenges.get(db, recipient_id) == Challenge(recipient_id)
    for kept in (
        Challenge(recipient_id, b"mac", NOW, 20_000, 3, 2, NOW - 1, 7),
        Challenge(recipient_id, None, NOW + 1, 20_001, 1, 0, None, 8),
    ):

        async def write(tx: Transaction, kept: Challenge = kept) -> None:
            await challenges.save(tx, kept)

        await db.write(write)
        assert await challenges.get(db, recipient_id) == kept


async def test_a_proof_counts_for_one_recipient_one_session_and_a_time(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, other = await a_recipient_id(db, vault), await a_recipient_id(db, vault)
    await prove(db, one, "session")
    assert await is_shown(db, one, "session")
    assert not await is_shown(db, other, "session")
    assert not await is_shown(db, one, "another")
    assert not await is_shown(db, one, None)
    assert not await is_shown(db, one, "session", NOW + HOUR)


async def test_a_new_session_takes_over_what_the_one_before_has_shown(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, other = await a_recipient_id(db, vault), await a_recipient_id(db, vault)
    await prove(db, one, "first")
    await prove(db, other, "second", before="first")
    assert await is_shown(db, one, "second") and await is_shown(db, other, "second")
    assert not await is_shown(db, one, "first")


async def test_a_session_is_kept_as_its_hash_alone(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    await prove(db, await a_recipient_id(db, vault), "a-session")
    (row,) = await db.all("SELECT * FROM proof")
    assert b"a-session" not in row["session"] and len(row["session"]) == 32


async def test_what_ends_is_the_code_and_every_proof_and_all_tries_still_count(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    recipient_id = await a_recipient_id(db, vault)
    await prove(db, recipient_id, "session")

    async def write(tx: Transaction) -> None:
        await challenges.save(
            tx, Challenge(recipient_id, b"mac", sent_on=1, sent=9, tries=5, tries_since=NOW, tries_in_all=20)
        )
        await challenges.end_proofs(tx, recipient_id)

    await db.write(write)
    assert await challenges.get(db, recipient_id) == Challenge(
        recipient_id, sent_on=1, sent=9, tries_in_all=20
    )
    assert not await is_shown(db, recipient_id, "session")


async def test_proofs_go_when_their_time_is_over_a_few_at_a_time(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    recipient_id = await a_recipient_id(db, vault)
    for number in range(3):
        await prove(db, recipient_id, f"session {number}")

    async def prune(tx: Transaction, now: Instant = NOW + HOUR) -> int:
        return await challenges.prune(tx, now, 2)

    async def too_early(tx: Transaction) -> int:
        return await prune(tx, NOW + HOUR - 1)

    assert await db.write(too_early) == 0
    assert [await db.write(prune) for _ in range(3)] == [2, 1, 0]


async def test_no_query_walks_through_a_table(db: Database) -> None:
    async def all_of_them(tx: Transaction) -> None:
        await challenges.get(tx, "rcp_1")
        await challenges.is_proven(tx, "session", "rcp_1", NOW)
        await challenges.prove(tx, "before", "session", "rcp_1", NOW)
        await challenges.end_proofs(tx, "rcp_1")
        await challenges.prune(tx, NOW, 10)

    assert await walks(db, all_of_them) == []
