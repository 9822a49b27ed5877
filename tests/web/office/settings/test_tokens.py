"""Those who make tokens for programs, and take them away again."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.instant import DAY, rfc3339, to_datetime
from esign.core.people.api_key import Scope
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH
from tests.journeys.api import Api
from tests.web.office.visitor import Office, Page, Visitor

NEW = "/settings/tokens/new"
USUAL = {"name": "Practice portal", "mode": "live", "access": "all", "expires": "365"}
HOSTILE = "<script>alert(1)</script> \u202eevil " + "w" * 60


def find_token(page: Page) -> str:
    """The token that stands on the page."""
    found = re.findall(r"<code id=\"token\">(esk_\w+)</code>", page.text)
    assert len(found) == 1, page.said
    return str(found[0])


async def make(visitor: Visitor, **changes: str) -> Page:
    await visitor.get(NEW)
    return await visitor.post(NEW, USUAL | changes)


def program(office: Office, token: str) -> Api:
    return Api(office.site.session, office.site.base, token)


async def read_stored(office: Office, token: str) -> dict[str, Any]:
    """What the API says of the token."""
    found: dict[str, Any] = (await program(office, token).ok("GET", "/account"))["key"]
    return found


async def test_a_token_is_made_shown_once_used_renamed_and_revoked(office: Office) -> None:
    ada = await office.signed_in("Ada")
    made = await make(ada)
    assert made.status == 200 and made.headers["Cache-Control"] == "no-store"
    token = find_token(made)
    assert f'curl -H "Authorization: Bearer $ESIGN_KEY" {office.site.base}/api/v1/account' in made.said
    account = await program(office, token).ok("GET", "/account")
    key = account["key"]
    assert (key["name"], key["mode"], key["scopes"]) == ("Practice portal", "live", ["*"])
    assert key["createdBy"]["kind"] == "member" and key["createdBy"]["name"] == "Ada"
    listed = await ada.get("/settings/tokens")
    assert token not in listed.text and key["hint"] in listed.said and "from 127.0.0.1" in listed.said
    at = f"/settings/tokens/{key['id']}"
    assert (await ada.get(f"{at}/name")).value("name") == "Practice portal"
    assert (await ada.post(f"{at}/name", name="Portal 2")).to == "/settings/tokens?done=token-named"
    assert (await read_stored(office, token))["name"] == "Portal 2"
    asked = await ada.get(f"{at}/revoke")
    assert asked.title == "Revoke Portal 2?" and "Last used now" in asked.said
    assert (await ada.post(f"{at}/revoke")).to == "/settings/tokens?done=token-revoked"
    refused = await program(office, token).call("GET", "/account")
    assert (refused.status, refused.body["error"]["code"]) == (401, "api_key_revoked")
    listed = await ada.get("/settings/tokens")
    assert "Revoked 2" in listed.said and f"{at}/revoke" not in listed.text


@pytest.mark.parametrize(
    ("form", "scopes"),
    [
        ({"access": "read"}, {Scope.DOCUMENTS_READ, Scope.TEMPLATES_READ}),
        (
            {"access": "send"},
            {Scope.DOCUMENTS_READ, Scope.DOCUMENTS_WRITE, Scope.DOCUMENTS_SEND, Scope.TEMPLATES_READ},
        ),
        ({"access": "some", "scope-webhooks:read": "on"}, {Scope.WEBHOOKS_READ}),
        *(({"access": "some", f"scope-{scope}": "on"}, {scope}) for scope in Scope if scope is not Scope.ALL),
    ],
)
async def test_a_token_may_do_what_was_chosen(
    office: Office, form: Mapping[str, str], scopes: set[Scope]
) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(NEW)
    token = find_token(await ada.post(NEW, {**USUAL, **form}))
    assert set((await read_stored(office, token))["scopes"]) == {scope.value for scope in scopes}


async def test_a_test_token_never_gets_what_belongs_to_the_organisation(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(NEW)
    admin = {**USUAL, "access": "some", "scope-account:admin": "on", "scope-documents:read": "on"}
    page = await ada.post(NEW, {**admin, "mode": "test"})
    assert page.status == 422 and "A test key can’t change" in page.wrong()["access"]
    assert (await ada.post(NEW, {**admin, "mode": "live"})).status == 200


async def test_a_token_ends_when_it_was_chosen_to(office: Office) -> None:
    ada, now = await office.signed_in("Ada"), office.clock.now()
    for days in (30, 90, 365):
        token = find_token(await make(ada, expires=str(days)))
        assert (await read_stored(office, token))["expiresAt"] == rfc3339(now + days * DAY)
    token = find_token(await make(ada, expires="never"))
    assert (await read_stored(office, token))["expiresAt"] is None
    day = to_datetime(now).date() + timedelta(days=3)
    token = find_token(await make(ada, expires="date", until=day.isoformat()))
    assert (await read_stored(office, token))["expiresAt"] == f"{day + timedelta(days=1)}T00:00:00.000Z"


async def test_no_token_outlives_what_the_organisation_allows(office: Office) -> None:
    await office.site.api.ok("PATCH", "/settings", {"maxKeyLifetimeDays": 40})
    ada, now = await office.signed_in("Ada"), office.clock.now()
    page = await ada.get(NEW)
    assert "After 40 days, the longest" in page.said and "Never" not in page.said and "90" not in page.said
    for form in ({"expires": "never"}, {"expires": "90"}, {"expires": "41"}):
        assert (await make(ada, **form)).wrong().keys() == {"expires"}
    late = to_datetime(now).date() + timedelta(days=41)
    assert (
        "limits API keys to 40 days"
        in (await make(ada, expires="date", until=late.isoformat())).wrong()["until"]
    )
    token = find_token(await make(ada, expires="40"))
    assert (await read_stored(office, token))["expiresAt"] == rfc3339(now + 40 * DAY)


async def test_what_is_wrong_stands_at_its_field_and_what_was_entered_stays(office: Office) -> None:
    ada = await office.signed_in("Ada")
    wrong = {"name": " ", "mode": "dream", "access": "some", "expires": "date", "until": "31.12."}
    page = await make(ada, **wrong)
    assert page.status == 422 and page.wrong().keys() == {"name", "mode", "access", "until"}
    assert page.value("until") == "31.12."
    assert (await make(ada, expires="date", until="2020-01-01")).wrong() == {
        "until": "Choose a day in the future."
    }
    assert (await make(ada, expires="date", until="9999-12-31")).wrong().keys() == {"until"}
    assert (await make(ada, name="n" * 101)).wrong().keys() == {"name"}
    page = await make(ada, name="", access="some", **{"scope-account:read": "on"})
    assert re.search(r'name="scope-account:read" value="on" checked', page.text)
    assert not re.search(r'name="scope-account:admin" value="on" checked', page.text)


async def test_a_token_of_test_mode_stands_in_the_list_of_test_mode(office: Office) -> None:
    ada = await office.signed_in("Ada")
    token = find_token(await make(ada, mode="test", name="Builder"))
    assert token.startswith("esk_test_")
    assert "Builder" not in (await ada.get("/settings/tokens")).said
    await ada.post("/mode", mode="test")
    listed = await ada.get("/settings/tokens")
    assert "Builder" in listed.said and "journeys" not in listed.said
    account = await program(office, token).ok("GET", "/account")
    assert account["mode"] == Mode.TEST.value
    live = (await office.site.api.ok("GET", "/account"))["key"]["id"]
    for way in ("name", "revoke"):
        assert (await ada.get(f"/settings/tokens/{live}/{way}")).status == 404
        assert (await ada.post(f"/settings/tokens/{live}/{way}", name="x")).status == 404


async def test_hostile_names_are_only_text(office: Office) -> None:
    ada = await office.signed_in("Ada")
    made = await make(ada, name=HOSTILE)
    token = find_token(made)
    key = await read_stored(office, token)
    for page in (made, *[await ada.get(f"/settings/tokens{end}") for end in ("", f"/{key['id']}/revoke")]):
        assert "<script>alert" not in page.text and "alert(1)" in page.said


async def test_the_limit_and_the_plan_are_told_on_the_page(office: Office) -> None:
    ada = await office.signed_in("Ada")
    limit = office.runtime.config.limits.api_keys
    while (await ada.get("/settings/tokens")).said.count(f"{limit} of {limit}") == 0:
        await office.site.key()
    page = await make(ada)
    assert page.status == 422 and "revoke one first" in page.said
    assert page.value("name") == "Practice portal"
    more = re.search(r'href="(/settings/tokens\?after=[^"]+)"', (await ada.get("/settings/tokens")).text)
    assert more is None, "as many as there may be stand on one page"


async def test_older_tokens_stand_on_the_next_page(office: Office) -> None:
    ada = await office.signed_in("Ada")
    for n in range(54):
        made = await office.site.key()
        office.clock.advance(seconds=1)
        if n < 10:
            await made.ok("DELETE", "/api-keys/current")
    page = await ada.get("/settings/tokens")
    assert page.text.count("<tr") == 51
    more = re.search(r'href="(/settings/tokens\?after=[^"]+)"', page.text)
    assert more
    older = await ada.get(more[1])
    assert older.text.count("<tr") == 6 and "Newest" in older.said
    assert (await ada.get("/settings/tokens?after=damaged")).status == 400


async def test_a_token_is_made_and_revoked_only_with_the_password_at_hand(office: Office) -> None:
    ada = await office.signed_in("Ada")
    office.clock.advance(milliseconds=FRESH)
    assert (await ada.get(NEW)).to.startswith("/confirm?next=")
    before = (await office.site.api.ok("GET", "/api-keys"))["data"]
    asked = await ada.post(NEW, USUAL)
    assert asked.title == "Confirm it’s you" and asked.value("expires") == "365"
    for way in ("name", "revoke"):
        assert (
            await ada.post(f"/settings/tokens/{before[0]['id']}/{way}", name="x")
        ).title == "Confirm it’s you"
    [after] = (await office.site.api.ok("GET", "/api-keys"))["data"]
    assert after == before[0] | {"lastUsedAt": after["lastUsedAt"]}


@pytest.mark.parametrize("role", [MemberRole.MEMBER, MemberRole.VIEWER])
async def test_tokens_are_for_those_who_look_after_the_organisation(office: Office, role: MemberRole) -> None:
    await office.user("Ada")
    bo = await office.signed_in("Bo", role)
    assert "/settings/tokens" not in (await bo.get("/account")).text
    assert (await bo.get("/settings/tokens")).status == 403
    assert (await bo.post(NEW, USUAL)).status == 403


async def test_a_form_of_long_ago_makes_no_second_token_and_breaks_nothing(office: Office) -> None:
    """The tab stayed open; what it made is not remembered any more, so it is not shown again either."""
    form = {"once": "a-name-of-long-ago"}
    made = find_token(await make(await office.signed_in("Ada"), **form))
    office.clock.advance(hours=25)
    ada = office.visitor()
    await ada.sign_in("ada@example.test")
    again = await make(ada, **form)
    assert again.status == 409 and made not in again.text and "Reload the page" in again.said


async def test_a_test_token_says_nothing_of_a_live_one(office: Office) -> None:
    """Even where both come of one form, sent in one mode and then in the other."""
    ada = await office.signed_in("Ada")
    form = {"once": "the-same-name", "access": "all"}
    test = find_token(await make(ada, **form, mode="test"))
    await ada.get("/documents")
    await ada.post("/mode", mode="test")
    live = find_token(await make(ada, **form, mode="live"))
    assert test.removeprefix("esk_test_")[:30] != live.removeprefix("esk_live_")[:30]
