"""A form whose session had ended, or that belongs elsewhere: what was typed is kept, and can be sent after all."""

import re
from html import unescape

import pyotp
import pytest

from esign.actions.base.caller import UserCaller
from esign.actions.people import second_factor
from esign.core.actor import Origin
from esign.core.people.user import IDLE
from tests.web.office.visitor import PASSWORD, Office, Page, Visitor

NOTES = {
    "externalId": 'P-"1" <b>',
    "metadata": "room = Zoë & Co\nfloor = 4",
    "seen-externalId": "",
    "seen-metadata": "",
}


def fields(page: Page) -> dict[str, str]:
    """The hidden fields of the form on the page."""
    main = page.text.partition("<main")[2].partition("</main>")[0]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', main)
    return {unescape(name): unescape(text) for name, text in found}


async def send(visitor: Visitor, page: Page, **more: str) -> Page:
    """The form of that page, as it stands there."""
    action = re.search(r'<form[^>]* action="([^"]+)"', page.text.partition("<main")[2])
    assert action
    return await visitor.post(unescape(action[1]), {**fields(page), **more})


async def test_what_was_typed_before_the_session_ended_is_sent_after_signing_in(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.create()
    here = f"/documents/{id}/reference"
    place = fields(await ada.get(here))["place"]
    office.clock.advance(milliseconds=IDLE)
    page = await ada.post(here, {**NOTES, "place": place})
    assert (page.status, page.title) == (403, "Sign in") and "Your entries are kept" in page.said
    wrong = await send(ada, page, email="ada@example.test", password="wrong")
    assert wrong.status == 422 and fields(wrong)["held"] == fields(page)["held"]
    page = await send(ada, wrong, email="ada@example.test", password=PASSWORD)
    assert (page.status, page.title) == (200, "You’re signed in again")
    assert (await office.site.api.get(id))["externalId"] is None, "nothing is sent before somebody says so"
    assert (await send(ada, page)).to == f"/documents/{id}?done=reference"
    document = await office.site.api.get(id)
    assert document["externalId"] == 'P-"1" <b>'
    assert document["metadata"] == {"room": "Zoë & Co", "floor": "4"}


async def test_it_waits_for_the_second_factor_as_well(office: Office) -> None:
    ada = await office.signed_in("Ada")
    user = await office.user_of("ada@example.test")
    totp = pyotp.TOTP(secret := second_factor.new_secret())
    await second_factor.enable(
        office.runtime, UserCaller(user, Origin()), secret, totp.at(office.clock.now() // 1000)
    )
    office.clock.advance(seconds=30)
    page = await ada.post("/account/name", name="Ada Augusta")
    page = await send(ada, page, email="ada@example.test", password=PASSWORD)
    assert page.title == "Enter your code"
    page = await send(ada, page, code="000000")
    assert page.status == 422
    page = await send(ada, page, code=totp.at(office.clock.now() // 1000))
    assert page.title == "You’re signed in again"
    assert (await send(ada, page)).to == "/account?done=name"
    assert (await office.user_of("ada@example.test")).name == "Ada Augusta"


async def test_a_long_form_is_kept_and_a_password_in_it_is_not(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.create()
    office.clock.advance(milliseconds=IDLE)
    rows = {f"name-new{n:012}": f"Person {n} " + "ä" * 150 for n in range(150)}
    page = await ada.post(f"/documents/{id}/edit", {"title": "Long", **rows})
    page = await send(ada, page, email="ada@example.test", password=PASSWORD)
    assert rows.items() <= fields(page).items()
    office.clock.advance(milliseconds=IDLE)
    page = await ada.post("/account/password", current=PASSWORD, password="another one to keep", name="x")
    assert page.title == "Sign in" and PASSWORD not in page.text and "another one" not in page.text


async def test_a_button_and_a_file_are_told_that_nothing_was_done(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.create()
    csrf = ada.csrf
    office.clock.advance(milliseconds=IDLE)
    assert "nothing was done" in (await ada.get((await ada.post(f"/documents/{id}/duplicate")).to)).said
    ada.csrf = csrf
    page = await ada.upload("/documents/new", "files", ("a.pdf", b"%PDF"), once="o" * 16)
    assert "choose it again" in (await ada.get(page.to)).said


async def test_what_a_script_saves_is_led_to_the_sign_in_as_before(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.create()
    office.clock.advance(milliseconds=IDLE)
    page = await ada.post(f"/documents/{id}/edit", {"title": "x"}, headers={"Accept": "application/json"})
    assert page.to.startswith("/sign-in")


async def test_a_form_of_the_session_before_is_offered_again(office: Office) -> None:
    ada = await office.signed_in("Ada")
    before = ada.csrf
    await ada.sign_in("ada@example.test")
    page = await ada.post("/account/name", {"name": "Ada B.", "csrf": before})
    assert (page.status, page.title) == (
        400,
        "Send the form again",
    ) and "open for a long time" in page.said
    assert (await office.user_of("ada@example.test")).name == "Ada"
    assert (await send(ada, page)).to == "/account?done=name"


async def test_a_form_of_another_place_is_offered_until_one_is_back(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.create()
    here = f"/documents/{id}/reference"
    place = fields(await ada.get(here))["place"]
    await ada.post("/mode", mode="test")
    page = await ada.post(here, {**NOTES, "place": place})
    assert page.status == 400 and "Switch back" in page.said
    await ada.post("/mode", {"mode": "live", "csrf": ada.csrf})
    assert (await send(ada, page)).to == f"/documents/{id}?done=reference"


@pytest.mark.parametrize(
    "held",
    [
        "",
        "{",
        "[]",
        '{"to": "/account/name"}',
        '{"to": "//evil.example", "form": {}}',
        '{"to": 1, "form": {}}',
    ],
)
async def test_what_no_page_of_ours_holds_is_refused(office: Office, held: str) -> None:
    await office.user("Ada")
    visitor = office.visitor()
    page = await visitor.post("/sign-in/again", email="ada@example.test", password=PASSWORD, held=held)
    assert page.status == 400 and "evil" not in page.text
