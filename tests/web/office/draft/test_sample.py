"""The sample: one POST makes a draft that lacks nothing, and whoever tries it signs it from its page."""

import asyncio
import re
from typing import Any

import pytest

from esign.core.people.member import MemberRole
from tests.web.office.visitor import Office, Visitor


async def make_sample(visitor: Visitor) -> str:
    """The path of the new draft."""
    page = await visitor.get("/documents")
    made = await visitor.post("/documents/sample", once=page.value("once"))
    return made.to.removesuffix("/review")


async def send(visitor: Visitor, path: str) -> None:
    review = await visitor.get(f"{path}/review")
    assert (await visitor.post(f"{path}/send", revision=review.value("revision"))).to == f"{path}?done=sent"


@pytest.mark.parametrize("mode", ["live", "test"])
async def test_an_empty_list_offers_a_sample_that_can_be_sent_at_once(office: Office, mode: str) -> None:
    ada = await office.signed_in("Ada")
    await ada.post("/mode", mode=mode)
    assert "Try it with a sample" in (await ada.get("/documents")).said
    path = await make_sample(ada)
    page = await ada.get(f"{path}/review")
    assert page.title == "Review Sample agreement"
    assert "This is a sample, and you’re the recipient" in page.said
    assert "5 fields · 4 to fill in" in page.said and "Before you can send" not in page.said
    assert "ada@example.test" in page.said and "Page 1 5 fields" in page.said
    assert "Try it with a sample" not in (await ada.get("/documents")).said
    await send(ada, path)
    assert "Your turn to sign" in (await ada.get(path)).said


async def test_a_form_that_is_sent_twice_makes_one_sample(office: Office) -> None:
    ada = await office.signed_in("Ada")
    once = (await ada.get("/documents")).value("once")
    pages = await asyncio.gather(*(ada.post("/documents/sample", once=once) for _ in range(3)))
    assert len({page.to for page in pages}) == 1
    assert len((await office.site.api.ok("GET", "/documents"))["data"]) == 1


async def test_other_documents_are_no_samples(office: Office) -> None:
    ada = await office.signed_in("Ada")
    document = await office.site.api.create()
    assert "This is a sample" not in (await ada.get(f"/documents/{document}/review")).said


async def test_who_may_only_read_is_offered_none(office: Office) -> None:
    vera = await office.signed_in("Vera", MemberRole.VIEWER)
    assert "Try it with a sample" not in (await vera.get("/documents")).said
    assert (await vera.post("/documents/sample")).status == 403


# ---------- signing it oneself ----------


async def complete(office: Office, link: str, document: dict[str, Any]) -> int:
    """Fill in and finish, as the signing page does."""
    url = f"{office.site.base}{link}"
    async with office.browser.get(url) as answer:
        consent = re.search(r'data-consent="([0-9a-f]{64})"', await answer.text())
    assert consent
    given = {"first": "A lease", "understood": True, "name": "Ada"}
    answers = {
        field["id"]: given.get(field["key"], {"kind": "typed", "text": "Ada", "hand": "a"})
        for field in document["recipients"][0]["fields"]
        if field["type"] != "date"
    }
    async with office.browser.post(
        f"{url}/complete", json={"answers": answers, "consent": consent[1]}
    ) as answer:
        return answer.status


async def test_a_member_signs_their_own_document_without_any_mail(office: Office) -> None:
    ada = await office.signed_in("Ada")
    path = await make_sample(ada)
    await send(ada, path)
    page = await ada.get(path)
    assert f'action="{path}/sign" target="_blank" data-stays' in page.text
    link = (await ada.post(f"{path}/sign")).to
    assert re.fullmatch(r"/s/[\w-]{43}", link)
    document = await office.site.api.get(path.removeprefix("/documents/"))
    assert await complete(office, link, document) == 200
    await office.site.work("seal")
    sealed = await office.site.api.get(document["id"])
    assert sealed["status"] == "completed"
    said = (await ada.get(path)).said
    assert "Completed and sealed" in said and "Your turn to sign" not in said
    trail = await office.site.api.ok("GET", f"{path}/audit")
    assert "link.issued" in [one["type"] for one in trail["data"]]
    again = await ada.post(f"{path}/sign")
    assert again.status == 409 and "It isn’t your turn to sign this document." in again.said


async def test_only_whose_turn_it_is_is_led_to_a_signing_page(office: Office) -> None:
    people = [
        {"name": "Bo", "email": "bo@example.test"},
        {"name": "Ada", "email": "ADA@example.test", "order": 2},
        {"name": "Cy", "email": "cy@example.test"},
    ]
    document = await office.site.api.send_document(recipients=people)
    path = f"/documents/{document}"
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo", MemberRole.MEMBER)
    said = (await ada.get(path)).said
    assert "Your turn" not in said and "Sign now" not in said
    assert (await ada.post(f"{path}/sign")).status == 409
    said = (await bo.get(path)).said
    assert "Your turn to sign" in said and re.search(r"(Waiting for|Not emailed to) Cy", said)
    assert (await bo.post(f"{path}/sign")).status == 303
    viewer = await office.signed_in("Cy", MemberRole.VIEWER)
    assert "Sign now" not in (await viewer.get(path)).said
    assert (await viewer.post(f"{path}/sign")).status == 403


async def test_an_approver_is_asked_to_approve(office: Office) -> None:
    people = [
        {"name": "Ada", "email": "ada@example.test", "role": "approver"},
        {"name": "Bo", "email": "bo@x.test", "order": 2},
    ]
    document = await office.site.api.send_document(recipients=people)
    ada = await office.signed_in("Ada")
    said = (await ada.get(f"/documents/{document}")).said
    assert "Your turn to approve" in said and "Approve now" in said
