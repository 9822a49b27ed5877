from esign.store import members
from esign.store.database import Database
from esign.store.documents import Place
from tests.factories import NOW, ORGANISATION
from tests.store.plans import steps


async def test_members_and_owners_are_found_along_indexes_without_sorting(db: Database) -> None:
    plan = await steps(db, lambda tx: members.find(tx, ORGANISATION, 25, Place(NOW, "mem_1")))
    plan += await steps(db, lambda tx: members.count_owners(tx, ORGANISATION))
    assert all(step.startswith("SEARCH member") for step in plan), plan
