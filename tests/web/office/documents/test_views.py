"""Saved views of the list of documents: who sees them, who changes them, and when they go."""

import re
from urllib.parse import quote_plus

import pytest

from esign.core.document import saved_view
from esign.core.people.member import MemberRole
from esign.store.document import saved_views as stored
from esign.store.engine.database import Transaction
from tests.web.office.visitor import Office, Page, Visitor

LEASES = "/documents?view=draft&q=lease"
EDIT = re.compile(r'href="(/documents/views/view_\w+)/edit"')


async def save(visitor: Visitor, name: str, back: str = LEASES, **more: str) -> Page:
    page = await visitor.get(f"/documents/views/new?back={back.replace('&', '%26')}")
    assert page.title == "Save view"
    once = page.value("once")
    form = {"name": name, "back": page.value("back"), "once": once, **more}
    return await visitor.post("/documents/views/new", form)


async def list_views(visitor: Visitor) -> str:
    return (await visitor.get("/documents/views")).said


async def test_a_view_leads_back_to_its_list(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.create(title="lease")
    assert "No saved views yet" in await list_views(ada)
    there = (await save(ada, "My leases")).to
    assert there == f"{LEASES}&done=view-saved"
    page = await ada.get(LEASES)
    assert f'href="{LEASES.replace("&", "&amp;")}" aria-current="true"' in page.text
    assert "My leases Only you Edit" in await list_views(ada)
    page = await ada.get("/documents")
    assert "My leases" in page.said and 'aria-current="true"' not in page.text


async def test_a_shared_view_is_seen_by_all_and_changed_by_its_maker_and_administrators(
    office: Office,
) -> None:
    ada = await office.signed_in("Ada", MemberRole.MEMBER)
    bo = await office.signed_in("Bo", MemberRole.MEMBER)
    cy = await office.signed_in("Cy", MemberRole.ADMIN)
    await office.site.api.create(title="lease")
    await save(ada, "Mine")
    await save(ada, "Ours", shared="yes")
    page = await ada.get("/documents/views")
    mine, ours = EDIT.findall(page.text)
    assert "Ours Shared by you" in page.said
    for other in (bo, cy):
        said = await list_views(other)
        assert "Ours Shared with everyone" in said and "Mine" not in said
        assert (await other.get(f"{mine}/edit")).status == 404
    assert (await bo.get(f"{ours}/edit")).status == 404
    await bo.get("/documents")
    assert (await bo.post(f"{ours}/delete")).status == 404
    await cy.get(f"{ours}/edit")
    assert (await cy.post(f"{ours}/edit", name="All of ours", shared="yes")).to.startswith("/documents/views")
    assert "All of ours" in await list_views(bo)
    await cy.get(f"{ours}/edit")
    assert (await cy.post(f"{ours}/delete")).to == "/documents/views?done=view-deleted"
    assert "All of ours" not in await list_views(ada)


async def test_a_viewer_saves_but_shares_nothing(office: Office) -> None:
    ada = await office.signed_in("Ada")
    vi = await office.signed_in("Vi", MemberRole.VIEWER)
    assert "Share with everyone" not in (await vi.get(f"/documents/views/new?back={LEASES}")).said
    await save(vi, "Looked at", shared="yes")
    assert "Looked at Only you" in await list_views(vi)
    assert "Looked at" not in await list_views(ada)


async def test_only_filters_that_are_understood_are_saved(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.get("/documents/views/new?back=/documents")).to == "/documents"
    wrong = "/documents?createdFrom=soon"
    assert (await ada.get(f"/documents/views/new?back={wrong}")).to == wrong
    assert (await ada.get("/documents/views/new?back=//evil.example")).to == "/documents"
    page = await save(ada, "  ")
    assert page.status == 422 and "name" in page.wrong()
    page = await save(ada, "<b>x</b>", back="/documents?q=%3Cb%3E")
    assert "<b>x</b>" not in (await ada.get("/documents/views")).text


async def test_a_member_has_only_so_many(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esign.actions.document.saved_views.MOST", 2)
    ada = await office.signed_in("Ada")
    await save(ada, "one")
    await save(ada, "two")
    page = await save(ada, "three")
    assert page.status == 400 and f"You have {saved_view.MOST} views." in page.said


async def test_a_form_sent_twice_saves_one_view(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get(f"/documents/views/new?back={LEASES.replace('&', '%26')}")
    form = {"name": "Leases", "back": page.value("back"), "once": page.value("once")}
    assert {(await ada.post("/documents/views/new", form)).status for _ in range(2)} == {303}
    assert (await list_views(ada)).count("Leases Only you") == 1


async def test_private_views_go_with_their_member_and_shared_ones_stay(office: Office) -> None:
    cy = await office.signed_in("Cy")
    ada = await office.signed_in("Ada", MemberRole.MEMBER)
    await save(ada, "Mine")
    await save(ada, "Ours", shared="yes")
    ids = {one["name"]: one["id"] for one in (await office.site.api.ok("GET", "/members"))["data"]}
    await office.site.api.ok("DELETE", f"/members/{ids['Ada']}")
    rows = await office.runtime.db.all("SELECT name, member_id FROM saved_view")
    assert [(row["name"], row["member_id"]) for row in rows] == [("Ours", None)]
    assert "Ours Shared with everyone" in await list_views(cy)


async def test_a_damaged_view_is_left_out(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await save(ada, "good")
    await save(ada, "bad")

    async def damage(tx: Transaction) -> None:
        await tx.run("UPDATE saved_view SET mode = mode, query = CAST(x'ff' AS TEXT) WHERE name = 'bad'")

    await office.runtime.db.write(damage)
    assert "good Only you" in await list_views(ada)


async def test_a_view_that_names_an_erased_person_goes(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await save(ada, "theirs", back="/documents?recipientEmail=Jo%252Bx%40example.com")
    await save(ada, "leases")
    [view] = await office.runtime.db.all("SELECT organisation_id FROM saved_view WHERE name = 'theirs'")

    async def erase(tx: Transaction) -> None:
        await stored.delete_mentioning(tx, view["organisation_id"], quote_plus("jo+x@example.com"))

    await office.runtime.db.write(erase)
    said = await list_views(ada)
    assert "leases" in said and "theirs" not in said
