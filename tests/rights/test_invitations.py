"""Whoever holds the link of an invitation joins as that member: what a link opens never becomes more than it was."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.permission import MAY
from esign.store.people import members
from tests.web.office.visitor import PASSWORD, Office, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROLES = [*MemberRole]
LINK = re.compile(r"/invitation/[\w-]{43}")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        await office.user("Ada")
        yield office


@pytest.mark.parametrize("entrance", ["office", "api"])
@pytest.mark.parametrize("after", ROLES)
@pytest.mark.parametrize("before", ROLES)
async def test_a_link_that_was_handed_out_ends_when_the_role_behind_it_is_raised(
    office: Office, before: MemberRole, after: MemberRole, entrance: str
) -> None:
    """An administrator who handed out the link of a member must not join with it once an owner made them an owner."""
    if entrance == "api" and MemberRole.OWNER in (before, after):
        return  # no key does that
    email = f"{before}-{after}-{entrance}@example.test"
    owner = await office.signed_in(f"by-{before}-{after}-{entrance}")
    await owner.get("/members")
    assert (await owner.post("/members", email=email, name="New", role=before)).status == 303
    [id] = [one.id for one in await everybody(office) if one.email == email]
    handed = LINK.search((await owner.post(f"/members/{id}/link")).text)
    assert handed
    office.clock.advance(seconds=1)
    if entrance == "office":
        assert (await owner.post(f"/members/{id}/role", role=after)).status == 303
    else:
        await office.site.api.ok("PATCH", f"/members/{id}", {"role": after})
    raised = not MAY[after] <= MAY[before]
    joined = await office.visitor().post(handed[0], name="New", password=PASSWORD)
    assert joined.status == (404 if raised else 303)
    if raised:
        assert (await members.get(office.runtime.db, id)).status is MemberStatus.INVITED  # type: ignore[union-attr]
        newest = (await office.site.api.ok("GET", "/audit?type=member.invited&limit=1"))["data"][0]
        assert newest["data"] == {"memberId": id, "role": after, "again": True, "linkShown": False}
        mailed = await office.link(email)
        assert (await office.visitor().post(mailed, name="New", password=PASSWORD)).status == 303
    found = await members.get(office.runtime.db, id)
    assert found is not None and (found.role, found.status) == (after, MemberStatus.ACTIVE)


async def everybody(office: Office) -> list[Member]:
    organisation = (await office.site.api.ok("GET", "/account"))["organisation"]["id"]
    return await members.find(office.runtime.db, organisation, 1000)
