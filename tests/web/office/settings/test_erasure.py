"""Erasing one person's data in the browser: for owners alone, looked at first, with the password, told as it goes."""

import pytest

from esign.actions.people import erase_person
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH
from esign.jobs import erase
from tests.web.office.visitor import PASSWORD, Office

PATH, BEGIN = "/settings/erasure", "/settings/erasure/begin"
ADA, BOB = "ada@example.test", "bob@example.test"
BOTH = {
    "recipients": [{"name": "Ada Lovelace", "email": ADA}, {"name": "Bob Noyce", "email": BOB}],
}


async def cancel_document(office: Office, **changes: object) -> str:
    document = await office.site.api.send_document(**changes)
    await office.site.api.ok("POST", f"/documents/{document}/cancel")
    return document


async def is_gone(office: Office, document: str) -> bool:
    return (await office.site.api.call("GET", f"/documents/{document}")).status == 404


async def test_an_owner_looks_then_erases_and_sees_how_far_it_has_come(office: Office) -> None:
    alone, both = await cancel_document(office), await cancel_document(office, **BOTH)
    maren = await office.signed_in("Maren")
    assert "Recent erasures" not in (await maren.get(PATH)).said
    found = await maren.post(PATH, email=f" {ADA.upper()} ")
    assert (found.status, found.title) == (200, "Erase this person’s data?")
    assert "1 document No other recipients, so erased." in found.said
    assert "1 document With other recipients. You choose below." in found.said
    assert 'value="keep" checked' in found.text, "without a choice others keep theirs"
    assert not await is_gone(office, alone), "looking changes nothing"
    assert (await maren.post(BEGIN, email=found.value("email"), others="keep")).to == f"{PATH}?done=erasure"
    page = await maren.get(PATH)
    assert "0 documents erased so far In progress" in page.said and "erasure.js" in page.text
    assert ADA.upper() in page.said, "while it goes on it is told whose data it is"
    assert await erase.tick(office.runtime) == 1
    page = await maren.get(PATH)
    assert "1 document erased Done 1 document kept · 1 with other recipients" in page.said
    assert "Requested by Maren" in page.said and "erasure.js" not in page.text
    assert ADA not in page.text.lower(), "whose it was is forgotten"
    assert (await is_gone(office, alone), await is_gone(office, both)) == (True, False)
    await maren.post(BEGIN, email=ADA, others="erase")
    assert await erase.tick(office.runtime) == 1 and await is_gone(office, both)


async def test_a_form_that_is_sent_twice_begins_it_once(office: Office) -> None:
    await cancel_document(office)
    maren = await office.signed_in("Maren")
    await maren.get(PATH)
    page = await maren.post(PATH, email=ADA)
    for _ in range(2):
        assert (await maren.post(BEGIN, email=ADA, once=page.value("once"))).to == f"{PATH}?done=erasure"
    assert (await maren.get(PATH)).text.count("Requested by") == 1


async def test_what_stays_is_told_with_the_reason(office: Office) -> None:
    await office.site.complete_document()
    await office.site.api.send_document()
    await office.site.api.ok("PATCH", "/settings", {"retainCompletedDays": 400})
    maren = await office.signed_in("Maren")
    await maren.get(PATH)
    page = await maren.post(PATH, email=ADA)
    assert page.title == "Nothing can be erased now"
    assert "Still open, so kept." in page.said and "kept until 400 days after the seal" in page.said
    assert "Erase for good" not in page.said


async def test_of_very_many_documents_the_numbers_are_those_of_the_oldest(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase_person, "MOST", 2)
    for _ in range(3):
        await cancel_document(office)
    maren = await office.signed_in("Maren")
    await maren.get(PATH)
    page = await maren.post(PATH, email=ADA)
    assert "a recipient of more than 2 documents ," in page.said
    assert "The numbers below are for the oldest 2 documents only." in page.said
    await maren.post(BEGIN, email=ADA)
    assert await erase.tick(office.runtime) == 3


async def test_templates_that_name_the_address_and_accounts_are_pointed_at(office: Office) -> None:
    body = {"message": f"Send questions to {ADA.title()}.", "title": "Lease <of> a room"}
    draft = await office.site.api.create(**body)
    await office.site.api.ok("POST", "/templates", {"fromDocumentId": draft, "title": body["title"]})
    maren = await office.signed_in("Maren")
    await maren.get(PATH)
    page = await maren.post(PATH, email=ADA)
    assert "1 template also contains this address" in page.said and "Lease &lt;of&gt; a room" in page.text
    assert "is a member of your organisation" not in page.said
    page = await maren.post(PATH, email="Maren@example.test")
    assert "is a member of your organisation" in page.said and page.title == "No documents with this address"


@pytest.mark.parametrize("email", ["", "nobody", "a@b.example\r\nBcc: c@d.example", '"><script>@x.example'])
async def test_what_is_no_address_is_said_at_its_field(office: Office, email: str) -> None:
    maren = await office.signed_in("Maren")
    for path in (PATH, BEGIN):
        await maren.get(PATH)
        page = await maren.post(path, email=email)
        assert page.status == 422 and page.wrong().keys() == {"email"}
        assert "<script>@" not in page.text
    assert "Recent erasures" not in (await maren.get(PATH)).said


async def test_the_password_comes_before_it_begins(office: Office) -> None:
    document = await cancel_document(office)
    maren = await office.signed_in("Maren")
    await maren.get(PATH)
    office.clock.advance(milliseconds=FRESH)
    asked = await maren.post(BEGIN, email=ADA, others="erase")
    assert (asked.title, asked.value("email"), asked.value("others")) == ("Confirm it’s you", ADA, "erase")
    assert await erase.tick(office.runtime) == 0 and not await is_gone(office, document)
    fields = {"email": ADA, "others": "erase", "password-again": PASSWORD}
    assert (await maren.post(BEGIN, fields)).to == f"{PATH}?done=erasure"
    assert await erase.tick(office.runtime) == 1 and await is_gone(office, document)


async def test_administrators_are_told_that_owners_can(office: Office) -> None:
    cy = await office.signed_in("Cy", MemberRole.ADMIN)
    assert "Owners can erase a person’s data." in (await cy.get("/settings/defaults")).said
    assert (await cy.post(BEGIN, email=ADA)).status == 403
    maren = await office.signed_in("Maren")
    assert f'href="{PATH}"' in (await maren.get("/settings/defaults")).text
