"""What is left to say of a sealed document to whoever knows its id; how a whole one is told stands in test_verify."""

from esign.core.document.state import lifecycle
from esign.core.people.account import Organisation
from esign.store.document import public_records
from esign.store.document.erase_document import erase
from esign.store.engine.database import Database
from esign.system.vault import Vault
from tests.factories import AUTHOR, NOW, a_document, store
from tests.store.plans import walks


async def test_a_document_that_was_never_sealed_leaves_no_record(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    draft = await store(db, vault, a_document())
    assert await public_records.find(db, draft.id) is None
    outcome = lifecycle.delete(draft, AUTHOR, NOW)
    await db.write(lambda tx: erase(tx, outcome, draft, vault, NOW))
    assert await public_records.find(db, draft.id) is None
    assert await public_records.find(db, "doc_nobody") is None


async def test_a_record_is_found_along_an_index(db: Database) -> None:
    assert await walks(db, lambda tx: public_records.find(tx, "doc_1")) == []
