"""What people look after themselves."""

import pyotp

from esign.actions.people import sessions
from esign.actions.people.sessions import SignInRequest
from esign.core.actor import Origin
from esign.core.people.member import MemberRole
from esign.core.people.user import Stage
from esign.store.people import organisations
from esign.store.people import sessions as store
from esign.web.office.settings.account import SHOWN
from tests.web.office.visitor import PASSWORD, Office, Visitor

NEW = "seven violet tractors hum"


async def test_a_new_name_is_that_of_the_member_as_well(office: Office) -> None:
    visitor = await office.signed_in("Ada", MemberRole.VIEWER)
    assert (await visitor.post("/account/name", name=" Ada Lovelace ")).to == "/account?done=name"
    assert "Ada Lovelace" in (await visitor.get("/account")).said
    assert (await office.site.api.ok("GET", "/members"))["data"][0]["name"] == "Ada Lovelace"
    assert (await visitor.post("/account/name", name="")).wrong() == {"name": "Please fill this in."}


async def test_a_new_password_asks_for_the_old_and_signs_out_the_others(office: Office) -> None:
    visitor, other = await office.signed_in("Ada"), office.visitor()
    await other.sign_in("ada@example.test")
    wrong = await visitor.post("/account/password", current="guess", password=NEW)
    assert wrong.wrong() == {"current": "That isn’t your password."}
    weak = await visitor.post("/account/password", current=PASSWORD, password="password1234")
    assert "easy to guess" in weak.wrong()["password"]
    assert PASSWORD not in weak.text and "password1234" not in weak.text
    await other.get("/account")
    before = visitor.token
    answer = await visitor.post("/account/password", current=PASSWORD, password=NEW)
    assert answer.to == "/account?done=password-changed" and visitor.token != before
    assert (await visitor.get("/account")).status == 200
    assert (await other.get("/account")).to.startswith("/sign-in")
    assert (await other.sign_in("ada@example.test")).status == 422
    assert (await other.sign_in("ada@example.test", NEW)).to == "/"


async def test_whoever_sits_at_an_open_browser_cannot_guess_the_password(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    answers = [
        (await visitor.post("/account/password", current="guess", password=NEW)).status for _ in range(11)
    ]
    assert answers == [422] * 10 + [429]
    assert (await visitor.get("/account")).status == 200


async def test_browsers_are_listed_and_signed_out_one_by_one_or_all(office: Office) -> None:
    visitor, second, third = await office.signed_in("Ada"), office.visitor(), office.visitor()
    stranger = await office.signed_in("Bo")
    for one in (second, third):
        await one.sign_in("ada@example.test")
    page = await visitor.get("/account")
    ends = sorted({part.partition('"')[0] for part in page.text.split('action="/account/sessions/')[1:]})
    assert len(ends) == 3 and "end-others" in ends and "This browser" in page.said
    its = next(end for end in ends if end != "end-others")
    assert (await stranger.post(f"/account/sessions/{its}")).status == 404
    assert (await visitor.post(f"/account/sessions/{its}")).to == "/account?done=session-ended"
    open_ones = [(await one.get("/account")).status for one in (visitor, second, third)]
    assert sorted(open_ones) == [200, 200, 303]
    assert (await visitor.post("/account/sessions/end-others")).to == "/account?done=sessions-ended"
    open_ones = [(await one.get("/account")).status for one in (visitor, second, third)]
    assert open_ones == [200, 303, 303]
    assert (await stranger.get("/account")).status == 200


async def test_of_very_many_browsers_the_newest_are_listed_and_all_others_are_signed_out(
    office: Office,
) -> None:
    visitor = await office.signed_in("Ada")
    user = await office.user_of("ada@example.test")
    [own] = await organisations.find_by_user(office.runtime.db, user.id)
    for n in range(SHOWN + 1):
        office.clock.advance(milliseconds=1)
        origin = Origin(f"192.0.2.{n}", None)
        await sessions.begin_session(office.runtime, user, own.id, Stage.WHOLE, SignInRequest(origin))
    page = await visitor.get("/account")
    assert page.text.count('/end"') == SHOWN and "This browser" in page.said
    assert "192.0.2.50" in page.said and "192.0.2.0 " not in page.said
    assert f"Only the newest {SHOWN + 1} browsers are shown." in page.said
    assert (await visitor.post("/account/sessions/end-others")).status == 303
    now = office.clock.now()
    assert len(await store.find(office.runtime.db, user.id, now, 100)) == 1
    assert "Only the newest" not in (await visitor.get("/account")).said


# ---------- the second factor ----------


async def set_up(office: Office, visitor: Visitor) -> tuple[pyotp.TOTP, list[str]]:
    """An authenticator over its page, and the recovery codes that are shown."""
    page = await visitor.get("/account/second-factor")
    key = page.text.partition('<code id="key">')[2].partition("</code>")[0]
    totp = pyotp.TOTP(key.replace(" ", ""))
    code = totp.at(office.clock.now() // 1000)
    shown = await visitor.post("/account/second-factor", offer=page.value("offer"), code=code)
    assert (shown.status, shown.title) == (200, "Recovery codes")
    listed = shown.text.partition('id="codes">')[2].partition("</ul>")[0]
    return totp, [part.partition("</li>")[0] for part in listed.split("<li>")[1:]]


async def test_an_authenticator_is_set_up_used_and_taken_away(office: Office) -> None:
    visitor, other = await office.signed_in("Ada", MemberRole.MEMBER), office.visitor()
    await other.sign_in("ada@example.test")
    _, codes = await set_up(office, visitor)
    assert len(set(codes)) == 10
    assert (await other.get("/account")).to.startswith("/sign-in"), "it was signed in without a code"
    page = await visitor.get("/account/second-factor")
    assert "10 recovery codes left" in page.said and codes[0] not in page.text
    office.clock.advance(seconds=30)
    assert (await other.sign_in("ada@example.test")).to == "/sign-in/code"
    await other.get("/sign-in/code")
    assert (await other.post("/sign-in/code", code=codes[0])).to == "/"
    assert "9 recovery codes left" in (await other.get("/account/second-factor")).said
    assert (await visitor.post("/account/second-factor/codes")).title == "Confirm it’s you"
    again = await visitor.post("/account/second-factor/codes", {"code-again": codes[1]})
    assert codes[1] not in again.text and "Your earlier codes no longer work" in again.said
    new = again.text.partition('id="codes">')[2].partition("</li>")[0].rpartition("<li>")[2]
    off = await visitor.post("/account/second-factor/off", {"code-again": new})
    assert off.to == "/account?done=factor-off"
    assert (await other.get("/account")).to.startswith("/sign-in")
    assert (await other.sign_in("ada@example.test")).to == "/"


async def test_a_wrong_code_keeps_the_key_that_was_scanned(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    page = await visitor.get("/account/second-factor")
    again = await visitor.post("/account/second-factor", offer=page.value("offer"), code="000000")
    assert again.status == 422 and "That code isn’t right" in again.wrong()["code"]
    key = page.text.partition('<code id="key">')[2].partition("</code>")[0]
    assert key in again.text and key


async def test_a_key_that_somebody_else_was_shown_is_nobodys(office: Office) -> None:
    visitor, other = await office.signed_in("Ada"), await office.signed_in("Bo")
    page = await other.get("/account/second-factor")
    key = page.text.partition('<code id="key">')[2].partition("</code>")[0]
    code = pyotp.TOTP(key.replace(" ", "")).at(office.clock.now() // 1000)
    for offer in (page.value("offer"), "", "AAAA", "ä"):
        answer = await visitor.post("/account/second-factor", offer=offer, code=code)
        assert answer.status == 400
    assert "recovery codes" not in (await visitor.get("/account/second-factor")).said


async def test_with_a_second_factor_a_password_may_be_shorter(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    short = {"current": PASSWORD, "password": "vq7!Rk2#w"}
    assert (await visitor.post("/account/password", short | {"csrf": visitor.csrf})).status == 422
    _, codes = await set_up(office, visitor)
    await visitor.get("/account")
    answer = await visitor.post("/account/password", short | {"csrf": visitor.csrf, "code": codes[0]})
    assert answer.to == "/account?done=password-changed"


async def test_the_language_of_an_account_is_that_of_its_pages_in_every_browser(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    assert (await visitor.post("/language", locale="fr")).to == "/account?done=language"
    assert '<html lang="fr"' in (await visitor.get("/account", {"Accept-Language": "de"})).text
    other = office.visitor()
    await other.sign_in("ada@example.test")
    assert '<html lang="fr"' in (await other.get("/account")).text
    assert (await visitor.post("/language", locale="")).to == "/account?done=language"
    assert '<html lang="de"' in (await visitor.get("/account", {"Accept-Language": "de"})).text
    assert (await visitor.post("/language", locale="tlh")).status in (400, 422)
