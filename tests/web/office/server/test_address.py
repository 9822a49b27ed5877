"""The address of the server: set in the browser, offered as the browser found it, fixed where the file sets it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from esign.core.people.member import MemberRole
from tests.factories import an_organisation, store_organisation
from tests.web.office.sign_in.test_emailed_links import OWNER, setup_link
from tests.web.office.visitor import Office, an_office

HERE = "/server/address"
NEW = "https://sign.example.com"


async def test_an_owner_sets_the_address_and_everything_goes_by_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    before = office.site.base
    page = await ada.get(HERE)
    assert "Only this machine can open" in page.said and "everyone has to sign in again" in page.said
    page = await ada.post(HERE, address="sign.example.com/")
    assert page.status == 200 and page.title == "Address saved"
    assert f'href="{NEW}/server/address"' in page.text and f'href="{before}/server/address"' in page.text
    assert office.runtime.config.server.base_url == NEW
    body = {"email": "bo@example.test", "name": "Bo", "role": "member"}
    await office.site.api.ok("POST", "/members", body)
    assert f"{NEW}/invitation/" in await office.letter("bo@example.test")
    [entry] = (await office.site.api.ok("GET", "/audit?type=server.changed"))["data"]
    assert entry["data"] == {"changes": {"address": {"from": before, "to": NEW}}}
    assert entry["actor"]["email"] == "ada@example.test"


async def test_the_session_goes_on_where_the_name_of_its_cookie_changes(office: Office) -> None:
    """Otherwise a wrong address could not be corrected from where it was typed."""
    ada = await office.signed_in("Ada")
    page = await ada.post(HERE, address=NEW)
    secure = page.cookies["__Host-esign"]
    assert secure["secure"] and secure.value == ada.token
    again = await office.visitor().get(HERE, headers={"Cookie": f"__Host-esign={ada.token}"})
    assert again.status == 200 and f"still answers at its previous address, {office.site.base}" in again.said


async def test_another_port_of_the_same_name_asks_nobody_to_sign_in(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.post(HERE, address="http://127.0.0.1:9")).to == f"{HERE}?done=address"
    assert (await ada.get(HERE)).status == 200


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Please fill this in."),
        ("https://sign.example.com/esign", "Enter an address without a path"),
        ("https://user:word@sign.example.com", "Enter an address without a path"),
        ("ftp://sign.example.com", "Enter an address without a path"),
        ("https://exa mple.com", "Enter an address without a path"),
        ("http://sign.example.com", "Use https://."),
        ("http://192.168.1.5:8080", "Use https://."),
    ],
)
async def test_an_address_that_cannot_be_used_is_explained(office: Office, typed: str, sentence: str) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.post(HERE, address=typed)
    assert page.status == 422 and page.wrong()["address"].startswith(sentence)
    assert page.value("address") == typed and office.runtime.settings.is_address_unset


async def test_the_address_of_the_browser_is_offered_when_it_differs(office: Office) -> None:
    ada = await office.signed_in("Ada")
    other = office.site.base.replace("127.0.0.1", "localhost")
    page = await ada.get(HERE, headers={"Referer": f"{other}/settings?x=y"})
    assert f"You opened this page at {other}" in page.said and page.value("address") == other
    page = await ada.get(HERE, headers={"Referer": f"{office.site.base}/settings"})
    assert "You opened this page" not in page.said
    page = await ada.get(HERE, headers={"Host": "localhost"})
    assert "You opened" not in page.said, "it may be the request of a proxy"
    page = await ada.get(HERE, headers={"Referer": "http://elsewhere.example/"})
    assert "Use http://elsewhere.example" not in page.said, "nobody could save it"
    await ada.post(HERE, address=NEW)
    there = {"Cookie": f"__Host-esign={ada.token}", "Host": "sign.example.com"}
    assert "This address works in your browser." in (await office.visitor().get(HERE, headers=there)).said


async def test_only_owners_of_the_first_organisation_change_it(office: Office) -> None:
    await office.signed_in("Ada")
    later = an_organisation(id="org_two", name="Second", created_at=office.clock.now() + 1)
    other = await store_organisation(office.runtime.db, later)
    stranger = await office.signed_in("Stranger", MemberRole.OWNER, other.id)
    page = await stranger.get(HERE)
    assert "Only owners of the first organisation" in page.said and f'action="{HERE}"' not in page.text
    assert (await stranger.post(HERE, address=NEW)).status == 403
    assert office.runtime.settings.is_address_unset


async def test_changing_it_asks_for_the_password_again(office: Office) -> None:
    ada = await office.signed_in("Ada")
    office.clock.advance(minutes=11)
    page = await ada.post(HERE, address=NEW)
    assert page.title == "Confirm it’s you" and page.value("address") == NEW
    assert office.runtime.settings.is_address_unset


@pytest.fixture
async def fixed(tmp_path: Path) -> AsyncIterator[Office]:
    server = {"base_url": "https://fixed.example.com"}
    async with an_office(tmp_path / "data", server=server) as office:
        yield office


async def test_an_address_of_the_file_is_shown_as_fixed_and_stays(fixed: Office) -> None:
    ada = fixed.visitor()
    await fixed.user("Ada")
    token = (await ada.sign_in("ada@example.test")).cookies["__Host-esign"].value
    cookie = {"Cookie": f"__Host-esign={token}"}
    page = await ada.get(HERE, headers=cookie)
    assert "https://fixed.example.com Set in esign.toml" in page.said
    assert "restart esign" in page.said and f'action="{HERE}"' not in page.text
    refused = await ada.post(HERE, {"address": NEW}, headers=cookie)
    assert refused.status == 403 and "can’t be changed here" in refused.said
    assert fixed.runtime.config.server.base_url == "https://fixed.example.com"


# ---------- before the first owner ----------

PROXY = {"Host": "sign.example.com", "Origin": NEW, "Referer": f"{NEW}/"}


async def test_a_set_up_link_that_is_opened_behind_a_proxy_makes_its_address_known(office: Office) -> None:
    path, visitor = await setup_link(office), office.visitor()
    shown = await visitor.get(path, headers={"Host": "sign.example.com"})
    assert shown.status == 200 and f"will start with {NEW}" in shown.said
    sheet = shown.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert (await visitor.get(sheet, headers={"Host": "sign.example.com"})).status == 200
    for other in ("/", "/sign-in", "/api/v1/account", "/documents"):
        assert (await visitor.get(other, headers={"Host": "sign.example.com"})).status == 400
    page = await visitor.post(path, OWNER, headers=PROXY)
    assert page.to == HERE and "__Host-esign" in page.cookies
    assert office.runtime.config.server.base_url == NEW
    cookie = {"Cookie": f"__Host-esign={page.cookies['__Host-esign'].value}", "Host": "sign.example.com"}
    assert "This address works in your browser." in (await visitor.get(HERE, headers=cookie)).said


async def test_a_proxy_that_replaces_the_host_is_told_by_the_origin(office: Office) -> None:
    path, visitor = await setup_link(office), office.visitor()
    await visitor.get(path)
    assert (await visitor.post(path, OWNER, headers={"Origin": NEW})).to == HERE
    assert office.runtime.config.server.base_url == NEW


async def test_nobody_sets_a_password_over_a_line_that_anybody_can_read(office: Office) -> None:
    path, visitor = await setup_link(office), office.visitor()
    plain = {"Host": "sign.example.com", "Origin": "http://sign.example.com"}
    page = await visitor.post(path, OWNER, headers=plain)
    assert page.status == 422 and "Open this link by https" in page.said
    assert office.runtime.settings.is_address_unset


async def test_where_the_file_sets_the_address_the_link_opens_there_alone(fixed: Office) -> None:
    path, visitor = await setup_link(fixed), fixed.visitor()
    assert (await visitor.get(path, headers={"Host": "sign.example.com"})).status == 400
    page = await visitor.post(path, OWNER, headers={"Origin": NEW})
    assert page.status == 400
