import pytest

from esign.core.instant import HOUR, Instant
from esign.store.engine.database import Database, Transaction
from esign.store.queue import idempotency
from esign.store.queue.idempotency import KeyTaken, StoredAnswer
from tests.factories import NOW
from tests.store.plans import walks

DAY_LONG = 24 * HOUR


async def add(
    tx: Transaction, body: bytes = b"first", at: Instant = NOW, key_id: str = "key_1", key: str = "k"
) -> None:
    await idempotency.add(tx, key_id, key, StoredAnswer(b"print", 201, body, at), at - DAY_LONG)


async def find_stored(db: Database, key_id: str = "key_1", key: str = "k") -> bytes | None:
    found = await idempotency.find(db, key_id, key)
    return found.body if found else None


async def test_what_a_request_did_is_found_again(db: Database) -> None:
    await db.write(add)
    assert await idempotency.find(db, "key_1", "k") == StoredAnswer(b"print", 201, b"first", NOW)
    assert await idempotency.find(db, "key_1", "K") is None
    assert await idempotency.find(db, "key_2", "k") is None


async def test_the_same_name_belongs_to_each_api_key_by_itself(db: Database) -> None:
    await db.write(add)
    await db.write(lambda tx: add(tx, b"other", key_id="key_2"))
    assert (await find_stored(db), await find_stored(db, "key_2")) == (b"first", b"other")


@pytest.mark.parametrize("later", [0, 1, DAY_LONG])
async def test_a_live_answer_is_not_replaced_and_takes_the_effect_back(db: Database, later: Instant) -> None:
    await db.write(add)

    async def effect(tx: Transaction) -> None:
        await tx.run("INSERT INTO usage (organisation_id, mode, day) VALUES ('org_1', 'live', 1)")
        await add(tx, b"second", NOW + later)

    await db.write(
        lambda tx: tx.run(
            "INSERT INTO organisation (id, name, locale, time_zone, colour, created_at)"
            " VALUES ('org_1', 'n', 'en', 'UTC', '#', 1)"
        )
    )
    with pytest.raises(KeyTaken):
        await db.write(effect)
    assert await find_stored(db) == b"first"
    assert await db.all("SELECT * FROM usage") == []


async def test_an_answer_that_is_too_old_gives_its_name_free(db: Database) -> None:
    await db.write(add)
    await db.write(lambda tx: add(tx, b"second", NOW + DAY_LONG + 1))
    assert await idempotency.find(db, "key_1", "k") == StoredAnswer(
        b"print", 201, b"second", NOW + DAY_LONG + 1
    )


async def test_of_two_first_requests_one_is_stored(db: Database) -> None:
    async def both(tx: Transaction) -> None:
        await add(tx, b"first")
        with pytest.raises(KeyTaken):
            await add(tx, b"second")

    await db.write(both)
    assert await find_stored(db) == b"first"


async def test_old_answers_are_forgotten_a_few_at_a_time(db: Database) -> None:
    for n in range(5):
        await db.write(lambda tx, n=n: add(tx, at=NOW + n, key=f"k{n}"))  # type: ignore[misc]
    assert await db.write(lambda tx: idempotency.prune(tx, NOW + 3, 2)) == 2
    assert await db.write(lambda tx: idempotency.prune(tx, NOW + 3, 2)) == 1
    assert await find_stored(db, key="k2") is None
    assert await find_stored(db, key="k3") == b"first"


async def test_answers_are_found_and_forgotten_along_an_index(db: Database) -> None:
    assert await walks(db, lambda tx: idempotency.find(tx, "key_1", "k")) == []
    assert await walks(db, lambda tx: idempotency.prune(tx, NOW, 9)) == []
