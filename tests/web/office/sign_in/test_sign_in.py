"""Signing in and out: what is told to whom, how often it may be tried, and how long it lasts."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyotp
import pytest
from starlette.responses import Response

from esign.actions.base.caller import UserCaller
from esign.actions.people import known_browsers, second_factor, sessions, users
from esign.actions.people.sessions import SignInRequest
from esign.config import Config
from esign.core.actor import Origin
from esign.core.errors import Problem
from esign.core.instant import MINUTE
from esign.core.people.member import MemberRole
from esign.core.people.user import ABSOLUTE, IDLE, SEEN, Stage, User
from esign.demo import contract
from esign.store.engine.database import Database, Row, Transaction
from esign.store.people import members
from esign.web.office.session import cookies
from tests.factories import an_organisation, store_organisation
from tests.web.office.visitor import PASSWORD, Office, Visitor, an_office

WIDE = {ord("0") + n: ord("０") + n for n in range(10)}  # as Japanese keyboards write them


async def with_factor(office: Office, name: str) -> tuple[pyotp.TOTP, list[str]]:
    user = await office.user(name)
    secret = second_factor.new_secret()
    totp = pyotp.TOTP(secret)
    codes = await second_factor.enable(
        office.runtime, UserCaller(user, Origin()), secret, totp.at(office.clock.now() // 1000)
    )
    assert codes
    office.clock.advance(seconds=30)
    return totp, codes


async def test_whoever_is_signed_in_is_led_to_the_office_and_others_see_what_this_is(office: Office) -> None:
    await office.user("Maren")
    assert "Sign in" in (await office.visitor().get("/")).said
    assert (await (await office.signed_in("Ada")).get("/")).to == "/documents"
    assert (await (await office.signed_in("Vi", MemberRole.VIEWER)).get("/")).to == "/documents"
    assert (await (await office.signed_in("Di")).get("/sign-in")).to == "/documents"


async def test_signing_in_gives_a_cookie_that_no_script_reads(office: Office) -> None:
    await office.user("Ada")
    visitor = office.visitor()
    answer = await visitor.sign_in(" ADA@example.test ")
    cookie = answer.cookies["esign"]
    assert answer.to == "/" and cookie["httponly"] and cookie["samesite"] == "lax" and cookie["path"] == "/"
    assert not cookie["secure"] and len(cookie.value) == 43  # plain http: see the cookies of signing pages
    assert (await visitor.get("/account")).status == 200


async def test_what_does_not_match_is_told_in_one_sentence_and_the_address_stays(office: Office) -> None:
    await office.user("Ada")
    said = set()
    for email, password in (("ada@example.test", "wrong"), ("nobody@example.test", PASSWORD)):
        visitor = office.visitor()
        page = await visitor.sign_in(email, password)
        assert (page.status, visitor.token, page.value("email")) == (422, None, email)
        assert password not in page.text.replace(email, "")
        said.add(page.said.replace(office.site.base, ""))
    assert len(said) == 1 and "That email address and password don’t match." in said.pop()
    empty = await office.visitor().sign_in("", "")
    assert empty.wrong() == {"email": "Please fill this in.", "password": "Please fill this in."}


async def test_a_session_that_somebody_else_knew_is_not_the_one_that_is_signed_in(office: Office) -> None:
    await office.user("Ada")
    victim = office.visitor()
    victim.token = planted = "p" * 43
    await victim.sign_in("ada@example.test")
    assert victim.token != planted
    first = victim.token
    await victim.sign_in("ada@example.test")
    assert victim.token != first
    thief = office.visitor()
    for token in (planted, first):
        thief.token = token
        assert (await thief.get("/account")).to.startswith("/sign-in")


async def test_signing_out_ends_the_session_and_clears_the_browser(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    kept = visitor.token
    answer = await visitor.post("/sign-out")
    assert answer.to == "/sign-in?done=signed-out" and visitor.token is None
    assert answer.headers["Clear-Site-Data"] == '"cache", "storage"'
    visitor.token = kept
    assert (await visitor.get("/account")).to.startswith("/sign-in")


async def test_a_session_ends_when_nobody_uses_it_and_at_the_latest_after_half_a_day(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    office.clock.advance(milliseconds=IDLE - 1)
    assert (await visitor.get("/account")).status == 200
    office.clock.advance(milliseconds=IDLE)
    assert (await visitor.get("/account")).to.startswith("/sign-in")
    await visitor.sign_in("ada@example.test")
    for _ in range(ABSOLUTE // (IDLE - MINUTE)):
        office.clock.advance(milliseconds=IDLE - MINUTE)
        assert (await visitor.get("/account")).status == 200
    office.clock.advance(milliseconds=IDLE - MINUTE)
    assert (await visitor.get("/account")).to.startswith("/sign-in")


async def test_the_last_use_is_written_once_a_minute(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    assert visitor.token
    began = office.clock.now()
    for step, seen in ((SEEN - 1, began), (1, began + SEEN)):
        office.clock.advance(milliseconds=step)
        await visitor.get("/account")
        session = await sessions.find_session(office.runtime, visitor.token)
        assert session and session.seen_at == seen


async def test_wrong_passwords_keep_nobody_out(office: Office) -> None:
    inside = await office.signed_in("Ada")
    for _ in range(12):
        assert (await office.visitor().sign_in("ada@example.test", "wrong")).status == 422
    assert (await inside.get("/account")).status == 200
    assert (await office.visitor().sign_in("ADA@example.test", PASSWORD)).to == "/"


async def test_300_wrong_tries_with_invented_accounts_lock_nobody_out(tmp_path: Path) -> None:
    server = {"trusted_proxies": ["127.0.0.0/8"]}
    async with an_office(tmp_path / "data", server=server) as office:
        await office.user("Ada")

        async def make_wrong_code(n: int) -> int:
            own = {"X-Forwarded-For": f"198.51.{n // 250}.{n % 250 + 1}"}
            given = {"email": f"nobody{n}@example.test", "password": "wrong"}
            return (await office.visitor().post("/sign-in", given, headers=own)).status

        for start in range(0, 310, 31):
            assert set(await asyncio.gather(*(make_wrong_code(start + n) for n in range(31)))) == {422}
        assert (await office.visitor().sign_in("ada@example.test")).to == "/"


async def test_a_browser_is_known_to_the_account_that_signed_in_with_it(office: Office) -> None:
    await office.user("Ada")
    await office.user("Bo")
    visitor = office.visitor()
    assert (await visitor.sign_in("ada@example.test", "wrong")).status == 422
    assert visitor.known_as is None
    answer = await visitor.sign_in("ada@example.test")
    cookie = answer.cookies["esign-browser"]
    assert cookie["httponly"] and cookie["samesite"] == "lax" and int(cookie["max-age"]) == 400 * 24 * 3600
    assert await knows(office, visitor, "ADA@example.test")
    assert not await knows(office, visitor, "bo@example.test")
    await visitor.post("/sign-out")
    await visitor.sign_in("bo@example.test")
    assert await knows(office, visitor, "ada@example.test") and await knows(
        office, visitor, "bo@example.test"
    )
    token = visitor.known_as
    assert token is not None
    for forged in (token[::-1], token[:-1], token + "A", "x" * 5000, "."):
        visitor.known_as = forged
        for email in ("ada@example.test", "bo@example.test"):
            assert not await knows(office, visitor, email)
    visitor.known_as = token
    office.clock.advance(days=400)
    assert not await knows(office, visitor, "ada@example.test")


async def knows(office: Office, visitor: Visitor, email: str) -> bool:
    return (await known_browsers.recognise(office.runtime, visitor.known_as, email)).is_known


async def test_one_cookie_decides_the_pace_of_tries_and_the_mail_about_a_sign_in(office: Office) -> None:
    """No browser is known to the one and unknown to the other."""
    await office.user("Ada")
    visitor = office.visitor()
    given = set((await visitor.sign_in("ada@example.test")).cookies)
    assert given == {"esign", "esign-browser"}
    for is_known in (True, False):
        if not is_known:
            visitor.known_as = None
        await office.site.work("mail")
        told = len(await office.mails())
        assert await knows(office, visitor, "ada@example.test") is is_known
        await visitor.sign_in("ada@example.test")
        await office.site.work("mail")
        assert (len(await office.mails()) == told) is is_known


async def test_only_the_whole_sign_in_makes_a_browser_known(office: Office) -> None:
    totp, _ = await with_factor(office, "Ada")
    visitor = office.visitor()
    await visitor.get((await visitor.sign_in("ada@example.test")).to)
    assert visitor.known_as is None
    await visitor.post("/sign-in/code", code=totp.at(office.clock.now() // 1000))
    assert await knows(office, visitor, "ada@example.test")


async def test_codes_tried_elsewhere_do_not_keep_a_known_browser_out(office: Office) -> None:
    _, codes = await with_factor(office, "Ada")
    known = office.visitor()
    await known.get((await known.sign_in("ada@example.test")).to)
    await known.post("/sign-in/code", code=codes[0])
    for status in [422] * 10 + [429]:
        thief = office.visitor()
        await thief.get((await thief.sign_in("ada@example.test")).to)
        assert (await thief.post("/sign-in/code", code="000000")).status == status
    known.token = None
    await known.get((await known.sign_in("ada@example.test")).to)
    assert (await known.post("/sign-in/code", code=codes[1])).to == "/"


async def test_whoever_is_disabled_or_removed_is_out_at_once(office: Office) -> None:
    await office.signed_in("Ada")
    disabled, removed = await office.signed_in("Bo"), await office.signed_in("Cy", MemberRole.MEMBER)
    await users.disable(office.runtime.installation, "bo@example.test")
    cy = await office.user_of("cy@example.test")
    [member] = await members.find_by_user(office.runtime.db, cy.id)

    async def write(tx: Transaction) -> None:
        await members.delete(tx, member.id)

    await office.runtime.db.write(write)
    for visitor, email in ((disabled, "bo@example.test"), (removed, "cy@example.test")):
        assert (await visitor.get("/account")).to.startswith("/sign-in")
        assert (await visitor.sign_in(email)).status == 422


# ---------- the second factor ----------


async def test_with_a_second_factor_the_password_alone_opens_nothing(office: Office) -> None:
    totp, _ = await with_factor(office, "Ada")
    visitor = office.visitor()
    answer = await visitor.post(
        "/sign-in", email="ada@example.test", password=PASSWORD, next="/account/second-factor"
    )
    assert answer.to == "/sign-in/code?next=%2Faccount%2Fsecond-factor"
    half = visitor.token
    assert (await visitor.get("/account")).to.startswith("/sign-in")
    page = await visitor.get(answer.to)
    then = page.value("next")
    for given in ("000000", "٠٠٠٠٠٠", "é"):
        wrong = await visitor.post("/sign-in/code", code=given, next=then)
        assert wrong.status == 422 and "That code isn’t right" in wrong.wrong()["code"]
        assert wrong.value("next") == then
    code = totp.at(office.clock.now() // 1000).translate(WIDE)
    assert (await visitor.post("/sign-in/code", code=f" {code[:3]} {code[3:]}", next=then)).to == then
    assert visitor.token != half and (await visitor.get("/account")).status == 200
    visitor.token = half
    assert (await visitor.get("/sign-in/code")).to == "/sign-in"


async def test_a_code_signs_in_once_and_so_does_a_recovery_code(office: Office) -> None:
    totp, codes = await with_factor(office, "Ada")
    for code in (totp.at(office.clock.now() // 1000), codes[0], codes[1].upper().replace("-", " ")):
        for status in (303, 422):
            visitor = office.visitor()
            await visitor.get((await visitor.sign_in("ada@example.test")).to)
            assert (await visitor.post("/sign-in/code", code=code)).status == status


async def test_codes_cannot_be_guessed(office: Office) -> None:
    totp, _ = await with_factor(office, "Ada")
    code = totp.at(office.clock.now() // 1000)
    answers = []
    for given in ["000000"] * 8 + ["１２３４５６", "é"] + [code]:
        visitor = office.visitor()
        await visitor.get((await visitor.sign_in("ada@example.test")).to)
        answers.append((await visitor.post("/sign-in/code", code=given)).status)
    assert answers == [422] * 10 + [429]


# ---------- where a session is ----------


async def test_the_mode_is_chosen_and_seen_on_every_page(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    assert "no legal effect" not in (await visitor.get("/account")).said
    assert (await visitor.post("/mode", mode="test", next="/account")).to == "/account?done=mode-test"
    for path in ("/account", "/members", "/account/second-factor"):
        assert "Nothing here has legal effect" in (await visitor.get(path)).said
    assert (await visitor.post("/mode", mode="other")).status == 400
    await visitor.post("/mode", mode="live")
    assert "Nothing here has legal effect" not in (await visitor.get("/account")).said


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("/documents", "/documents?"),
        ("/documents/doc_1/recipients/rcp_1", "/documents?"),
        ("/documents?view=draft", "/documents?view=draft&"),
        ("/settings/webhooks/whk_1/edit", "/settings/webhooks?"),
        ("/settings/webhooks/new", "/settings/webhooks/new?"),
        ("/nowhere", "/?"),
        ("//evil.example/documents", "/?"),
    ],
)
async def test_the_other_mode_begins_where_there_is_something(office: Office, here: str, there: str) -> None:
    visitor = await office.signed_in("Ada")
    assert (await visitor.post("/mode", mode="test", next=here)).to == f"{there}done=mode-test"


async def test_somebody_of_two_organisations_goes_from_one_to_the_other_and_to_no_third(
    office: Office,
) -> None:
    visitor = await office.signed_in("Ada")
    second = await store_organisation(office.runtime.db, an_organisation(id="org_two", name="Second Ltd"))
    await store_organisation(office.runtime.db, an_organisation(id="org_three", name="Third Ltd"))
    await office.user("Ada", MemberRole.VIEWER, second.id)
    assert "Second Ltd" in (await visitor.get("/account")).said
    assert (await visitor.post("/organisation", id="org_three")).status == 404
    assert (await visitor.post("/organisation", id=second.id)).to == "/?done=organisation"
    page = await visitor.get("/account")
    assert "Viewer" in page.said and (await visitor.get("/members")).status == 403


class Counting:
    """The database, and how often it was read."""

    def __init__(self, db: Database) -> None:
        self.db, self.times = db, 0

    async def all(self, sql: str, **values: Any) -> list[Row]:
        self.times += 1
        return await self.db.all(sql, **values)

    async def one(self, sql: str, **values: Any) -> Row | None:
        self.times += 1
        return await self.db.one(sql, **values)


async def test_who_somebody_is_costs_as_many_readings_however_many_organisations_they_are_of(
    office: Office,
) -> None:
    visitor, times = await office.signed_in("Ada"), []
    names = {f"org_{n}": f"No {n}" for n in range(3)}
    for more in ([], list(names)):
        for id in more:
            made = await store_organisation(office.runtime.db, an_organisation(id=id, name=names[id]))
            office.clock.advance(milliseconds=1)
            await office.user("Ada", MemberRole.VIEWER, made.id)
        counting = Counting(office.runtime.db)
        runtime = replace(office.runtime, db=cast(Database, counting))
        session = await sessions.find_session(runtime, visitor.token or "")
        signed = session and await sessions.find_signed_in(runtime, session)
        assert signed and [one.name for one in signed.elsewhere] == [names[id] for id in more]
        times.append(counting.times)
    assert times[0] == times[1] > 0


async def test_a_form_of_another_tab_changes_nothing_where_the_session_has_gone_since(office: Office) -> None:
    visitor = await office.signed_in("Ada")
    second = await store_organisation(office.runtime.db, an_organisation(id="org_two", name="Second Ltd"))
    await office.user("Ada", MemberRole.OWNER, second.id)
    page, upload = await visitor.get("/settings/organisation"), await visitor.get("/documents/new")
    form = {name: page.value(name) for name in ("csrf", "place")} | {"organisationName": "First Ltd"}
    await visitor.post("/organisation", id=second.id)
    answer = await visitor.post("/settings/organisation", form)
    assert answer.status == 400 and "switched organisation or mode" in answer.said
    assert (await visitor.get("/settings/organisation")).value("organisationName") == "Second Ltd"
    there = {"id": first_of(form["place"]), "place": form["place"]}
    assert (await visitor.post("/organisation", there)).to == "/?done=organisation"
    await visitor.post("/mode", mode="test")
    once, place = upload.value("once"), upload.value("place")
    answer = await visitor.upload(
        "/documents/new", "files", ("a.pdf", contract.read_pdf()), once=once, place=place
    )
    assert answer.status == 400 and "switched organisation or mode" in answer.said
    await visitor.post("/mode", mode="live")
    answer = await visitor.upload(
        "/documents/new", "files", ("a.pdf", contract.read_pdf()), once=once, place=place
    )
    assert answer.to.endswith("/edit")


def first_of(place: str) -> str:
    return place.partition(".")[0]


def test_over_https_the_cookie_is_bound_to_the_host_and_goes_as_it_came() -> None:
    config, answer = Config.model_validate({"server": {"base_url": "https://sign.example.com"}}), Response()
    cookies.give_session(answer, config, "t" * 43)
    cookies.delete_session(answer, config)
    given, taken = answer.headers.getlist("set-cookie")
    assert given == f"__Host-esign={'t' * 43}; HttpOnly; Max-Age=43200; Path=/; SameSite=lax; Secure"
    assert taken.startswith('__Host-esign=""') and "Max-Age=0; Path=/" in taken and "Secure" in taken


# ---------- what changes while a password is compared ----------


async def test_whoever_was_let_in_by_what_has_changed_meanwhile_gets_no_session(office: Office) -> None:
    db, now = office.runtime.db, office.clock.now()
    await office.user("Ada")

    async def reset(user: User) -> None:
        await users.reset_password(office.runtime.installation, user.email, without_factor=False)

    async def enable_code(user: User) -> None:
        secret = second_factor.new_secret()
        assert await second_factor.enable(
            office.runtime, UserCaller(user, Origin()), secret, pyotp.TOTP(secret).at(now // 1000)
        )

    async def disable_code(user: User) -> None:
        await users.disable(office.runtime.installation, user.email)

    for name, change in (("Bo", reset), ("Cy", enable_code), ("Di", disable_code)):
        before = await office.user(name)
        [own] = await members.find_by_user(db, before.id)
        await change(before)
        with pytest.raises(Problem, match="revision_mismatch"):
            await sessions.begin_session(
                office.runtime, before, own.organisation_id, Stage.WHOLE, SignInRequest(Origin())
            )
        with pytest.raises(Problem, match="revision_mismatch"):
            await users.change_password(
                office.runtime, UserCaller(before, Origin()), "seven violet tractors hum"
            )
        with pytest.raises(Problem, match="revision_mismatch"):
            await second_factor.disable(office.runtime, UserCaller(before, Origin()))


async def test_a_password_given_again_wakes_no_session_that_has_ended_and_leaves_one_where_it_is(
    office: Office,
) -> None:
    visitor = await office.signed_in("Ada")
    assert visitor.token
    session = await sessions.find_session(office.runtime, visitor.token)
    signed = session and await sessions.find_signed_in(office.runtime, session)
    assert signed
    await visitor.post("/mode", mode="test")
    visitor.token = await sessions.confirm(office.runtime, signed, Origin(), password=PASSWORD)
    assert visitor.token and "Nothing here has legal effect" in (await visitor.get("/account")).said
    await sessions.end_session(office.runtime, signed.user.id, signed.session.id, Origin())
    with pytest.raises(sessions.WrongProof):
        await sessions.confirm(office.runtime, signed, Origin(), password=PASSWORD)
    assert (await visitor.get("/account")).to.startswith("/sign-in")
