"""Mailed and printed links: what they open, how often, and how long."""

import asyncio
from collections.abc import Sequence

import pyotp
import pytest

from esign.actions.base.caller import UserCaller
from esign.actions.people import one_time_links, second_factor
from esign.core.actor import Origin
from esign.core.instant import DAY, MINUTE
from esign.core.people.member import MemberRole
from esign.core.people.user import LASTS, Errand
from esign.store.people import members, usage
from esign.system.clock import SystemClock
from esign.web.office.session.login_throttle import ADDRESS
from tests.factories import an_organisation, store_organisation
from tests.journeys.api import until
from tests.web.office.visitor import PASSWORD, Office, Page

OWNER = {
    "organisation": "Alder & Finch",
    "timeZone": "Europe/London",
    "name": "Maren Holt",
    "email": "maren@example.test",
    "password": PASSWORD,
}


async def setup_link(office: Office) -> str:
    token = await one_time_links.issue_setup_token(office.runtime.db, office.clock.now())
    assert token
    return f"/set-up/{token}"


# ---------- the first owner ----------


async def test_the_printed_link_makes_the_owner_of_what_is_there(office: Office) -> None:
    before = (await office.site.api.ok("GET", "/account"))["organisation"]
    visitor, path = office.visitor(), await setup_link(office)
    for _ in range(2):
        assert (await visitor.get(path)).title == "Set up"
    assert (await visitor.post(path, OWNER)).status == 303
    page = await visitor.get("/account")
    assert "Maren Holt" in page.said and "Owner" in page.said and "Alder & Finch" in page.said
    after = (await office.site.api.ok("GET", "/account"))["organisation"]
    assert (after["id"], after["name"]) == (before["id"], "Alder & Finch")
    assert (await office.site.api.ok("GET", "/settings"))["timeZone"] == "Europe/London"
    gone = await office.visitor().get(path)
    assert (gone.status, gone.title) == (404, "This link no longer works")
    assert (await office.visitor().post(path, OWNER)).status == 404
    assert await one_time_links.issue_setup_token(office.runtime.db, office.clock.now()) is None


@pytest.mark.parametrize("path", ["/", "/sign-in", "/sign-in?next=/members", "/forgot", "/forgot?sent=yes"])
async def test_before_the_first_owner_pages_say_where_the_link_is_and_offer_nothing_else(
    office: Office, path: str
) -> None:
    link = await setup_link(office)
    page = await office.visitor().get(path)
    assert (page.status, page.title) == (200, "Not set up yet")
    for words in ("esign serve", "setup-link", "30 minutes", "Restart esign"):
        assert words in page.said
    assert "Sign in" not in page.said and "Forgot" not in page.said
    assert page.text.count("<form") == page.text.count('action="/language"') == 1
    folder = str(office.runtime.config.storage.data_dir)
    assert link.rpartition("/")[2] not in page.text and folder not in page.text
    await office.visitor().post(link, OWNER)
    assert (await office.visitor().get(path)).title != "Not set up yet"


async def test_where_nobody_has_an_account_nobody_signs_in(office: Office) -> None:
    visitor = office.visitor()
    assert (await visitor.get("/documents")).to.startswith("/sign-in")
    page = await visitor.post("/sign-in", email="maren@example.test", password=PASSWORD)
    assert page.status == 422 and page.title.endswith("Not set up yet")
    page = await visitor.post("/forgot", email="maren@example.test")
    assert (await visitor.get(page.to)).title == "Not set up yet"


async def test_the_printed_link_ends_after_half_an_hour_and_with_the_next_start(office: Office) -> None:
    first, second = await setup_link(office), await setup_link(office)
    visitor = office.visitor()
    assert [(await visitor.get(path)).status for path in (first, second)] == [404, 200]
    office.clock.advance(milliseconds=LASTS[Errand.SETUP] - 1)
    assert (await visitor.get(second)).status == 200
    office.clock.advance(milliseconds=1)
    assert (await visitor.get(second)).status == 404
    assert (await visitor.post(second, OWNER)).status == 404


async def test_of_two_who_set_up_at_once_one_becomes_the_owner(office: Office) -> None:
    path = await setup_link(office)
    token = path.rpartition("/")[2]
    other = OWNER | {"email": "alder@example.test"}
    pages = await asyncio.gather(*(office.visitor().post(path, given) for given in (OWNER, other)))
    assert one_of(pages).to == "/server/address"
    assert len((await office.site.api.ok("GET", "/members"))["data"]) == 1
    founder = one_time_links.Founder("A", "a@example.test", PASSWORD, "A", "UTC")
    with pytest.raises(Exception, match="not_found"):
        await one_time_links.set_up_owner(office.runtime, token, founder, Origin())


async def test_what_is_wrong_stands_at_its_field_and_the_rest_stays(office: Office) -> None:
    path = await setup_link(office)
    given = {**OWNER, "timeZone": "Mars/Olympus", "email": "maren@", "password": "maren holt 1990"}
    page = await office.visitor().post(path, given)
    assert page.status == 422 and page.title == "Please check: Set up"
    assert page.wrong().keys() == {"timeZone", "email", "password"}
    assert "easy to guess" in page.wrong()["password"]
    assert page.value("organisation") == "Alder & Finch" and page.value("email") == "maren@"
    assert "maren holt 1990" not in page.text
    assert page.text.count(" autofocus") == 1


async def test_a_name_that_cannot_be_printed_is_refused_before_anybody_signs(office: Office) -> None:
    path = await setup_link(office)
    page = await office.visitor().post(path, {**OWNER, "organisation": "Acme 𒀭"})
    assert page.status == 422
    assert page.wrong() == {"organisation": "No installed font can print 𒀭 (Cuneiform)."}
    assert (await office.visitor().post(path, OWNER)).status == 303


async def test_hostile_text_is_text(office: Office) -> None:
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7777*7777 }}"
    visitor, path = office.visitor(), await setup_link(office)
    given = {**OWNER, "organisation": evil, "name": evil}
    shown = await visitor.post(path, {**given, "email": evil})
    assert shown.value("name") == evil
    await visitor.post(path, given)
    for page in (shown, await visitor.get("/account"), await visitor.get("/members")):
        assert (
            "<script>alert" not in page.text and "<img src=x" not in page.text and "60481729" not in page.said
        )


async def test_somebody_who_was_only_invited_under_the_same_address_becomes_the_owner(office: Office) -> None:
    body = {"email": "MAREN@example.test", "name": "M", "role": "viewer"}
    invited = await office.site.api.ok("POST", "/members", body)
    visitor, path = office.visitor(), await setup_link(office)
    assert (await visitor.post(path, OWNER)).status == 303
    [member] = (await office.site.api.ok("GET", "/members"))["data"]
    assert (member["id"], member["role"], member["status"]) == (invited["id"], "owner", "active")


async def test_somebody_who_signs_in_already_cannot_be_the_first_owner_a_second_time(office: Office) -> None:
    await office.user("Maren", MemberRole.MEMBER)
    path = await setup_link(office)
    page = await office.visitor().post(path, OWNER)
    assert page.wrong() == {"email": "Someone already signs in here with this email address."}


# ---------- an invitation ----------


async def invite_member(office: Office, name: str = "Bo", role: str = "member") -> str:
    body = {"email": f"{name.lower()}@example.test", "name": name, "role": role}
    await office.site.api.ok("POST", "/members", body)
    return await office.link(body["email"])


async def test_whoever_is_new_chooses_name_and_password(office: Office) -> None:
    path = await invite_member(office)
    visitor = office.visitor()
    for _ in range(3):
        page = await visitor.get(path)
        assert (page.status, page.value("name")) == (200, "Bo")
    short = await visitor.post(path, name="", password="bo")
    assert short.wrong().keys() == {"name", "password"}
    assert (await visitor.post(path, name="Bo Berg", password=PASSWORD)).to == "/?done=joined"
    page = await visitor.get("/account")
    assert "Bo Berg" in page.said and "bo@example.test" in page.said and "Member" in page.said
    [member] = (await office.site.api.ok("GET", "/members"))["data"]
    assert (member["name"], member["status"]) == ("Bo Berg", "active")
    assert (await visitor.get(path)).status == 404
    assert (await office.visitor().sign_in("bo@example.test")).to == "/"


async def test_of_two_who_join_or_choose_at_once_one_does(office: Office) -> None:
    path = await invite_member(office)
    join = [office.visitor().post(path, name="Bo", password=PASSWORD) for _ in range(2)]
    assert one_of(await asyncio.gather(*join)).to == "/?done=joined"
    office.clock.advance(seconds=1)
    await request_reset(office, "bo@example.test")
    path = await office.link("bo@example.test")
    new = ("seven violet tractors hum", "nine amber kettles sing")
    pages = await asyncio.gather(*(office.visitor().post(path, password=text) for text in new))
    assert one_of(pages).to == "/sign-in?done=password"


def one_of(pages: Sequence[Page]) -> Page:
    """The answer that led on; the other says that the link was used."""
    won, lost = sorted(pages, key=lambda page: page.status)
    assert (lost.status, lost.title) == (404, "This link no longer works")
    return won


async def test_whoever_has_an_account_gives_its_password(office: Office) -> None:
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two", name="Second Ltd"))
    user = await office.user("Bo", MemberRole.OWNER, other.id)
    path = await invite_member(office, role="viewer")
    visitor = office.visitor()
    page = await visitor.get(path)
    assert "You already have an account here" in page.said and 'name="name"' not in page.text
    wrong = await visitor.post(path, password="guess")
    assert wrong.wrong() == {"password": "That isn’t your account’s password."}
    assert (await visitor.post(path, password=PASSWORD)).to == "/?done=joined"
    assert "Viewer" in (await visitor.get("/account")).said
    assert len(await members.find_by_user(office.runtime.db, user.id)) == 2


async def test_whoever_has_a_second_factor_gives_it_here_as_well(office: Office) -> None:
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two"))
    user = await office.user("Bo", MemberRole.OWNER, other.id)
    secret = second_factor.new_secret()
    code = pyotp.TOTP(secret).at(office.clock.now() // 1000)
    assert await second_factor.enable(office.runtime, UserCaller(user, Origin()), secret, code)
    visitor, path = office.visitor(), await invite_member(office)
    assert (await visitor.post(path, password=PASSWORD)).to == "/sign-in/code"
    assert (await visitor.get("/account")).to.startswith("/sign-in")


async def test_the_password_of_an_account_cannot_be_guessed_by_its_invitation(office: Office) -> None:
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two"))
    await office.user("Bo", MemberRole.OWNER, other.id)
    path = await invite_member(office)
    began = SystemClock().monotonic()
    answers = [(await office.visitor().post(path, password="guess")).status for _ in range(12)]
    assert answers == [422] * 12
    assert SystemClock().monotonic() - began >= 1.5, "the last two were slower"
    assert (await office.visitor().sign_in("bo@example.test")).to == "/"


async def test_an_invitation_ends_after_a_week_with_the_next_one_and_with_the_member(office: Office) -> None:
    owner = await office.signed_in("Ada")
    first = await invite_member(office)
    [member] = [m for m in (await office.site.api.ok("GET", "/members"))["data"] if m["name"] == "Bo"]
    office.clock.advance(seconds=1)
    assert (await owner.post(f"/members/{member['id']}/again")).to == "/members?done=invited-again"
    second = await office.link("bo@example.test")
    assert first != second
    visitor = office.visitor()
    assert [(await visitor.get(path)).status for path in (first, second)] == [404, 200]
    assert (await visitor.post(first, name="Bo", password=PASSWORD)).status == 404
    await office.site.api.ok("DELETE", f"/members/{member['id']}")
    assert (await visitor.get(second)).status == 404
    late = await invite_member(office, "Cy")
    office.clock.advance(milliseconds=LASTS[Errand.INVITATION])
    assert (await visitor.get(late)).status == 404


# ---------- a forgotten password ----------


async def request_reset(office: Office, email: str) -> Page:
    """The answer, once the mail that it causes has left."""
    before = len(await office.mails())
    answer = await office.visitor().post("/forgot", email=email)

    async def is_mailed() -> bool | None:
        await office.site.work("mail")
        return len(await office.mails()) > before or None

    await until(is_mailed, "mail")
    return answer


async def test_a_forgotten_password_is_chosen_anew_and_every_browser_signed_out(office: Office) -> None:
    inside = await office.signed_in("Ada")
    visitor = office.visitor()
    assert (await request_reset(office, "ADA@example.test")).to == "/forgot?sent=yes"
    assert "Emails aren’t going out" in (await visitor.get("/forgot?sent=yes")).said
    letter, path = await office.letter("ada@example.test"), await office.link("ada@example.test")
    assert "ada@example.test" in letter
    for _ in range(2):
        assert (await visitor.get(path)).title == "Choose a new password"
    assert (await visitor.post(path, password="ada@example.test")).wrong().keys() == {"password"}
    assert (await inside.get("/account")).status == 200
    new = "seven violet tractors hum"
    assert (await visitor.post(path, password=new)).to == "/sign-in?done=password"
    assert visitor.token is None, "a link in a mailbox is not the second factor of anybody"
    assert (await inside.get("/account")).to.startswith("/sign-in")
    assert (await visitor.get(path)).status == 404 == (await visitor.post(path, password=new)).status
    assert (await visitor.sign_in("ada@example.test")).status == 422
    assert (await visitor.sign_in("ada@example.test", new)).to == "/"


async def test_the_answer_is_the_same_for_an_address_that_nobody_has(office: Office) -> None:
    await office.user("Ada")
    unknown = await office.visitor().post("/forgot", email="x@example.test")
    known = await request_reset(office, "ada@example.test")
    assert (known.to, known.text) == (unknown.to, unknown.text)
    assert [mail.recipient for mail in await office.mails()] == ["Ada <ada@example.test>"]
    assert (await office.visitor().post("/forgot", email="nobody")).wrong().keys() == {"email"}


async def test_nobody_is_flooded_with_links(office: Office) -> None:
    answers = [(await office.visitor().post("/forgot", email="a@example.test")).status for _ in range(11)]
    assert answers == [303] * 10 + [429]
    more = [(await office.visitor().post("/forgot", email=f"{n}@example.test")).status for n in range(21)]
    assert more == [303] * (ADDRESS - 10) + [429]


async def test_a_link_for_a_new_password_ends_after_an_hour(
    office: Office,
) -> None:
    await office.user("Ada")
    visitor, paths = office.visitor(), []
    for _ in range(2):
        await request_reset(office, "ada@example.test")
        paths.append(await office.link("ada@example.test"))
        office.clock.advance(seconds=1)
    assert [(await visitor.get(path)).status for path in paths] == [200, 200], "asking again kills no link"
    office.clock.advance(milliseconds=60 * MINUTE - 2000)
    assert [(await visitor.get(path)).status for path in paths] == [404, 200]
    assert (await visitor.post(paths[1], password="seven violet tractors hum")).status == 303
    office.clock.advance(milliseconds=1000)
    assert (await visitor.get(paths[1])).status == 404


async def test_using_one_link_for_a_new_password_uses_all_of_them(office: Office) -> None:
    await office.user("Ada")
    paths = []
    for _ in range(2):
        await request_reset(office, "ada@example.test")
        paths.append(await office.link("ada@example.test"))
        office.clock.advance(seconds=1)
    visitor = office.visitor()
    assert (await visitor.post(paths[0], password="seven violet tractors hum")).status == 303
    assert [(await visitor.get(path)).status for path in paths] == [404, 404]


async def test_strangers_who_ask_for_links_use_neither_the_quota_nor_fill_a_mailbox(office: Office) -> None:
    await office.user("Ada")
    organisation = (await office.site.api.ok("GET", "/account"))["organisation"]["id"]
    for _ in range(one_time_links.RESETS):
        await request_reset(office, "ada@example.test")
        office.clock.advance(seconds=1)
    await one_time_links.send_reset_link(office.runtime, "ada@example.test", Origin())
    await office.site.work("mail")
    assert len(await office.mails()) == one_time_links.RESETS
    assert await usage.count_emails(office.runtime.db, organisation, office.clock.now() // DAY) == 0


async def test_a_token_of_one_errand_opens_no_other(office: Office) -> None:
    token = (await setup_link(office)).rpartition("/")[2]
    for page in ("password", "invitation"):
        assert (await office.visitor().get(f"/{page}/{token}")).status == 404
