import hashlib
import os

import pytest

from esign.core.document.document import Document
from esign.core.people.account import Organisation
from esign.store.document import blobs, documents
from esign.store.document.blobs import CHUNK, MissingBlob
from esign.store.engine.database import Database, Transaction
from tests.factories import NOW, a_document


async def add(db: Database, content: bytes, at: int = NOW) -> str:
    return await db.write(lambda tx: blobs.add(tx, content, at))


async def chunks(db: Database) -> list[int]:
    return [
        row["n"]
        for row in await db.all("SELECT length(content) AS n FROM blob_chunk ORDER BY sha256, number")
    ]


@pytest.fixture
async def document(db: Database, organisation: Organisation) -> Document:
    made = a_document()
    await db.write(lambda tx: documents.add(tx, made))
    return made


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
async def test_content_comes_back_in_pieces_of_one_mebibyte_put_together(db: Database, size: int) -> None:
    content = os.urandom(size)
    name = await add(db, content)
    assert name == hashlib.sha256(content).hexdigest()
    assert await blobs.get(db, name) == content
    assert await blobs.get_size(db, name) == size
    stored = await blobs.open_content(db, name)
    assert (stored.size, b"".join([piece async for piece in stored.pieces])) == (size, content)
    assert await chunks(db) == [CHUNK] * (size // CHUNK) + ([size % CHUNK] if size % CHUNK else [])


async def test_the_same_content_is_kept_once(db: Database) -> None:
    content = b"x" * (CHUNK + 1)
    assert await add(db, content) == await add(db, content, NOW + 1)
    assert await chunks(db) == [CHUNK, 1]


async def test_content_is_written_with_the_transaction_that_needs_it(db: Database) -> None:
    async def write(tx: Transaction) -> None:
        await blobs.add(tx, b"content", NOW)
        raise RuntimeError("and then it failed")

    with pytest.raises(RuntimeError):
        await db.write(write)
    with pytest.raises(MissingBlob):
        await blobs.get_size(db, hashlib.sha256(b"content").hexdigest())


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blob_chunk SET content = zeroblob(length(content)) WHERE number = 1",
        "UPDATE blob_chunk SET content = CAST(content || x'00' AS BLOB) WHERE number = 2",
        "DELETE FROM blob_chunk WHERE number = 0",
        "DELETE FROM blob_chunk",
        "UPDATE blob_chunk SET number = 9 WHERE number = 0",
    ],
)
async def test_damaged_content_is_never_handed_out(db: Database, damage: str) -> None:
    name = await add(db, os.urandom(2 * CHUNK + 5))
    assert await db.write(lambda tx: tx.run(damage))
    for read in (blobs.get, blobs.open_content):
        with pytest.raises(MissingBlob, match=name):
            await read(db, name)


async def test_content_that_was_never_there_is_missing(db: Database) -> None:
    for look in (blobs.get, blobs.get_size, blobs.open_content):
        with pytest.raises(MissingBlob):
            await look(db, "00" * 32)


async def test_only_content_that_no_document_refers_to_goes_and_only_after_a_while(
    db: Database, document: Document
) -> None:
    kept = await add(db, b"kept", NOW - 2)
    old = await add(db, b"old" * CHUNK, NOW - 1)
    young = await add(db, b"young", NOW)
    await db.write(lambda tx: blobs.attach(tx, document.id, kept, kept))

    assert await db.write(lambda tx: blobs.prune(tx, NOW, 16)) == 1
    assert await blobs.get(db, kept) == b"kept"
    assert await blobs.get(db, young) == b"young"
    with pytest.raises(MissingBlob):
        await blobs.get_size(db, old)
    assert await chunks(db) == sorted([4, 5], key=lambda n: kept < young if n == 5 else young < kept)


async def test_pruning_takes_no_more_than_asked(db: Database) -> None:
    for n in range(5):
        await add(db, bytes([n]), NOW - 1)
    assert await db.write(lambda tx: blobs.prune(tx, NOW, 3)) == 3
    assert await db.write(lambda tx: blobs.prune(tx, NOW, 3)) == 2


async def test_content_goes_when_the_document_that_kept_it_is_gone(db: Database, document: Document) -> None:
    name = await add(db, b"kept", NOW - 1)
    await db.write(lambda tx: blobs.attach(tx, document.id, name))
    await db.write(lambda tx: blobs.attach(tx, document.id, name))
    assert await db.write(lambda tx: blobs.prune(tx, NOW, 9)) == 0
    await db.write(lambda tx: tx.run("DELETE FROM document"))
    assert await db.write(lambda tx: blobs.prune(tx, NOW, 9)) == 1


async def test_content_that_a_document_refers_to_cannot_be_removed(db: Database, document: Document) -> None:
    name = await add(db, b"kept")
    await db.write(lambda tx: blobs.attach(tx, document.id, name))
    with pytest.raises(Exception, match="FOREIGN KEY"):
        await db.write(lambda tx: tx.run("DELETE FROM blob"))
    assert await blobs.get(db, name) == b"kept"
