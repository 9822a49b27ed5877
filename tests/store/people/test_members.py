from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.store.engine.database import Database
from esign.store.engine.paging import PageStart
from esign.store.people import members
from tests.factories import NOW, ORGANISATION
from tests.store.plans import steps

MEMBER = Member(
    "mem_1", ORGANISATION, "a@example.test", "A", MemberRole.OWNER, MemberStatus.ACTIVE, NOW, "usr_1"
)


async def test_members_and_owners_are_found_along_indexes_without_sorting(db: Database) -> None:
    plan = await steps(db, lambda tx: members.find(tx, ORGANISATION, 25, PageStart(NOW, "mem_1")))
    plan += await steps(db, lambda tx: members.count_owners(tx, MEMBER))
    plan += await steps(db, lambda tx: members.find_owner(tx, ORGANISATION))
    assert all(step.startswith(("SEARCH m", "SEARCH u")) for step in plan), plan


async def test_administrators_are_found_along_an_index_of_the_organisation(db: Database) -> None:
    plan = await steps(db, lambda tx: members.find_administrators(tx, ORGANISATION))
    assert plan == ["SEARCH member USING INDEX member_newest (organisation_id=?)"], plan
