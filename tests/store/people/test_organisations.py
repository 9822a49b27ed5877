import pytest

from esign.store.engine.database import Database
from esign.store.people import organisations
from tests.factories import NOW, an_organisation, store_organisation


@pytest.mark.parametrize("changes", [{}, {"plan": "free", "colour": "#123456", "reply_to": "a@example.com"}])
async def test_an_organisation_comes_back_as_it_was_added(db: Database, changes: dict[str, str]) -> None:
    made = await store_organisation(db, an_organisation(**changes))
    assert await organisations.get(db, made.id) == made


async def test_the_first_organisation_is_the_oldest(db: Database) -> None:
    assert await organisations.find_first(db) is None
    await store_organisation(db, an_organisation(id="org_b", created_at=NOW + 1))
    oldest = await store_organisation(db, an_organisation(id="org_z"))
    assert await organisations.find_first(db) == oldest
