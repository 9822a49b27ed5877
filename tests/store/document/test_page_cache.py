"""What is kept of pages for their readers: so much of each document and no more."""

from esign.core.people.account import Organisation
from esign.store.document import page_cache
from esign.store.engine.database import Database
from esign.system.vault import Vault
from tests.factories import NOW, a_document, store


async def test_a_document_takes_only_so_much_room(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, two = [(await store(db, vault, a_document())).id for _ in range(2)]

    async def keep(document_id: str, name: str, content: bytes) -> bytes | None:
        await db.write(lambda tx: page_cache.keep(tx, document_id, name, content, NOW))
        return await page_cache.find(db, document_id, name)

    assert await keep(one, "1.2", b"a") == b"a"
    assert await keep(one, "2.2", bytes(page_cache.MOST)) is not None
    assert await keep(one, "3.2", b"c") is None
    assert await keep(two, "1.2", b"d") == b"d"
