import hashlib
from pathlib import Path

import pytest

from esign.core.document.document import Document
from esign.core.instant import HOUR
from esign.core.people.account import Organisation
from esign.store.document import documents, signing_links
from esign.store.document.signing_links import SigningLink
from esign.store.engine.database import Database
from esign.system.entropy import make_token
from tests.factories import NOW, a_document
from tests.store.files import stored_bytes
from tests.store.plans import walks


@pytest.fixture
async def document(db: Database, organisation: Organisation) -> Document:
    made = a_document()
    await db.write(lambda tx: documents.add(tx, made))
    return made


async def issue(db: Database, document: Document, expires_at: int | None = None) -> tuple[str, SigningLink]:
    token, link = make_token(), SigningLink(document.recipients[0].id, document.id, "recipient")
    await db.write(lambda tx: signing_links.add(tx, token, link, NOW, expires_at))
    return token, link


async def test_a_token_leads_to_its_recipient_and_no_other_token_does(
    db: Database, document: Document
) -> None:
    token, link = await issue(db, document)
    assert await signing_links.find(db, token, NOW) == link
    for other in (make_token(), token[:-1], token.swapcase(), "", hashlib.sha256(token.encode()).hexdigest()):
        assert await signing_links.find(db, other, NOW) is None


async def test_earlier_links_stay_valid(db: Database, document: Document) -> None:
    tokens = [(await issue(db, document))[0] for _ in range(3)]
    for token in tokens:
        assert await signing_links.find(db, token, NOW + 999 * HOUR) is not None


async def test_a_token_stands_nowhere_in_the_files(db: Database, document: Document, tmp_path: Path) -> None:
    token, _ = await issue(db, document)
    files = stored_bytes(tmp_path)
    assert hashlib.sha256(token.encode()).digest() in files
    assert token.encode() not in files


@pytest.mark.parametrize(("at", "live"), [(NOW, True), (NOW + HOUR - 1, True), (NOW + HOUR, False)])
async def test_a_link_with_an_end_is_dead_from_that_instant(
    db: Database, document: Document, at: int, live: bool
) -> None:
    token, link = await issue(db, document, NOW + HOUR)
    assert await signing_links.find(db, token, at) == (link if live else None)


async def test_a_revoked_link_is_dead(db: Database, document: Document) -> None:
    token, _ = await issue(db, document)
    await db.write(lambda tx: tx.run("UPDATE link SET revoked_at = :now", now=NOW))
    assert await signing_links.find(db, token, NOW) is None


async def test_links_are_found_by_their_hash_and_not_by_searching(db: Database) -> None:
    assert await walks(db, lambda tx: signing_links.find(tx, "token", NOW)) == []
