"""Those who look after the members of an organisation."""

import asyncio
import re
from typing import Any

import pytest

from esign.core.people.member import MemberRole
from esign.store.people import members
from tests.web.office.visitor import PASSWORD, Office


async def list_members(office: Office) -> dict[str, Any]:
    return {m["name"]: m for m in (await office.site.api.ok("GET", "/members"))["data"]}


async def test_a_member_is_invited_changed_and_removed(office: Office) -> None:
    ada = await office.signed_in("Ada")
    given = {"email": "bo@example.test", "name": "Bo", "role": "member"}
    assert (await ada.post("/members", given | {"csrf": ada.csrf})).to == "/members?done=invited"
    page = await ada.get("/members?done=invited")
    assert "Member invited, but not emailed." in page.said and "Invited 2" in page.said
    bo = (await list_members(office))["Bo"]["id"]
    assert (await ada.post(f"/members/{bo}/role", role="admin")).to == "/members?done=role"
    assert (await list_members(office))["Bo"]["role"] == "admin"
    asked = await ada.get(f"/members/{bo}/remove")
    assert asked.title == "Remove Bo?" and "bo@example.test" in asked.said
    assert (await ada.post(f"/members/{bo}/remove")).to == "/members?done=removed"
    assert "Bo" not in await list_members(office)


async def test_what_is_wrong_with_an_invitation_stands_at_its_field(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.post("/members", {"email": "bo", "name": "", "role": "king", "csrf": ada.csrf})
    assert page.status == 422 and page.wrong().keys() == {"email", "name", "role"}
    given = {"email": "ADA@example.test", "name": "A", "role": "viewer", "csrf": ada.csrf}
    page = await ada.post("/members", given)
    assert page.wrong() == {"email": "A member with this email address already exists."}
    assert page.value("name") == "A"


async def test_the_last_owner_stays_one(office: Office) -> None:
    ada = await office.signed_in("Ada")
    member = (await list_members(office))["Ada"]["id"]
    for path, form in ((f"/members/{member}/role", {"role": "member"}), (f"/members/{member}/remove", {})):
        page = await ada.post(path, form | {"csrf": ada.csrf})
        assert page.status == 422 and "needs at least one owner" in page.said
    await ada.post("/members", {"email": "bo@example.test", "name": "Bo", "role": "owner", "csrf": ada.csrf})
    page = await ada.post(f"/members/{member}/remove")
    assert page.status == 422, "an owner who has not joined cannot do what an owner does"
    await office.user("Cy", MemberRole.OWNER)
    assert (await ada.post(f"/members/{member}/role", role="member")).to == "/members?done=role"
    assert (await ada.get("/members")).status == 403


async def test_of_two_owners_who_leave_at_once_one_stays(office: Office) -> None:
    pair = [await office.signed_in(name) for name in ("Ada", "Bo")]
    ids = [(await list_members(office))[name]["id"] for name in ("Ada", "Bo")]
    pages = await asyncio.gather(
        *(one.post(f"/members/{id}/remove") for one, id in zip(pair, ids, strict=True))
    )
    assert sorted(page.status for page in pages) == [303, 422]


@pytest.mark.parametrize(
    ("what", "form"),
    [
        ("/members", {"email": "x@example.test", "name": "X", "role": "owner"}),
        ("/members/{owner}/role", {"role": "viewer"}),
        ("/members/{member}/role", {"role": "owner"}),
        ("/members/{owner}/remove", {}),
    ],
)
async def test_an_administrator_neither_makes_nor_changes_owners(
    office: Office, what: str, form: dict[str, str]
) -> None:
    await office.user("Ada")
    await office.user("Cy", MemberRole.MEMBER)
    bo = await office.signed_in("Bo", MemberRole.ADMIN)
    before = await list_members(office)
    page = await bo.get("/members")
    assert "Make owner" not in page.said and before["Ada"]["id"] not in page.text
    path = what.format(owner=before["Ada"]["id"], member=before["Cy"]["id"])
    answer = await bo.post(path, form | {"csrf": bo.csrf})
    assert (answer.status, "Only an owner" in answer.said) == (403, True)
    assert await list_members(office) == before
    assert (await bo.post(f"/members/{before['Cy']['id']}/role", role="viewer")).status == 303


async def test_a_member_who_has_joined_is_not_invited_again(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.user("Bo", MemberRole.MEMBER)
    assert (await ada.post(f"/members/{(await list_members(office))['Bo']['id']}/again")).status == 404
    assert (await office.visitor().sign_in("bo@example.test", PASSWORD)).to == "/"


async def test_when_a_member_was_last_seen_outlives_their_session(office: Office) -> None:
    bo = await office.signed_in("Bo", MemberRole.MEMBER)
    office.clock.advance(minutes=20)
    await bo.get("/account")
    await bo.post("/sign-out")
    office.clock.advance(minutes=15)
    ada = await office.signed_in("Ada")
    await ada.post("/members", email="cy@example.test", name="Cy", role="viewer")
    page = await ada.get("/members")
    seen = dict(
        re.findall(
            r'<span class="strong any" dir="auto">(\w+)</span>.*?data-l="Last seen">(.*?)</td>',
            page.text,
            re.S,
        )
    )
    assert {name: re.sub("<[^>]+>", "", text) for name, text in seen.items()} == {
        "Ada": "now",
        "Bo": "15 minutes ago",
        "Cy": "Never",
    }


async def test_more_members_than_fit_on_a_page_stand_on_the_next(office: Office) -> None:
    ada = await office.signed_in("Ada")
    for n in range(60):
        office.clock.advance(milliseconds=1)
        body = {"email": f"m{n}@example.test", "name": f"M {n}", "role": "member"}
        await office.site.api.ok("POST", "/members", body)
    page = await ada.get("/members")
    assert page.text.count("@example.test</bdi></span>") == 50
    more = re.search(r'href="(/members\?after=[^"]+)"', page.text)
    assert more
    older = await ada.get(more[1])
    assert older.text.count("@example.test</bdi></span>") == 11 and "Newest" in older.said
    [own] = await members.find_by_user(office.runtime.db, (await office.user_of("ada@example.test")).id)
    refused = await ada.post(f"/members/{own.id}/role", role="viewer")
    again = re.search(r'href="(/members\?after=[^"]+)"', refused.text)
    assert refused.status == 422 and again and (await ada.get(again[1])).status == 200
