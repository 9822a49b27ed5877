"""The administrative audit log in the office: what people do, failed sign-ins, mails about accounts, and the page."""

from typing import Any

import pyotp
import pytest

from esign.actions.base.caller import UserCaller
from esign.actions.people import accounts, one_time_links, second_factor, users
from esign.actions.verification.verify_trails import recompute
from esign.core.actor import Origin
from esign.core.people.admin_audit import ACTS
from esign.core.people.member import MemberRole
from esign.core.people.user import Errand
from esign.jobs import erase
from esign.store.people import organisations
from esign.store.people.members import find_by_user
from esign.web.office.frame.formats import Times
from esign.web.office.frame.words import load_words
from esign.web.office.settings import audit_log
from tests.factories import an_organisation, store_organisation
from tests.web.office.visitor import PASSWORD, Office, Visitor

HERE = "/settings/audit"
NEW = "seven violet tractors hum"
TIMES = Times("UTC", 0, load_words("en"))


async def entries(office: Office, type: str = "", organisation: str | None = None) -> list[Any]:
    """Those of a type, newest first."""
    data = (await office.site.api.ok("GET", f"/audit?limit=100{f'&type={type}' if type else ''}"))["data"]
    return list(data)


async def types(office: Office) -> list[str]:
    return [one["type"] for one in await entries(office)]


async def subjects(office: Office, address: str) -> list[str]:
    await office.site.work("mail")
    return [mail.subject for mail in await office.mails() if address in mail.recipient]


async def come(office: Office, name: str) -> Visitor:
    """Somebody at the page of signing in, with the browser of a person."""
    visitor = office.visitor()
    assert (await visitor.sign_in(f"{name}@example.test")).to == "/"
    assert (await visitor.get("/account")).status == 200
    return visitor


# ---------- signing in ----------


async def test_signing_in_and_out_are_entered_with_the_address(office: Office) -> None:
    await office.user("Ada")
    ada = await come(office, "ada")
    signed = (await entries(office, "member.signed_in"))[0]
    assert (signed["actor"]["kind"], signed["actor"]["email"]) == ("member", "ada@example.test")
    assert signed["ip"] == "127.0.0.1" and signed["data"]["knownBrowser"] is False
    await ada.post("/sign-out")
    assert (await entries(office))[0]["type"] == "member.signed_out"
    again = await ada.sign_in("ada@example.test")
    assert again.to == "/" and (await entries(office))[0]["data"]["knownBrowser"] is True


async def test_a_new_browser_is_told_by_mail_once_and_a_known_one_is_not(office: Office) -> None:
    await office.user("Ada")
    ada = await come(office, "ada")
    assert await subjects(office, "ada@example.test") == ["New sign-in to esign"]
    await ada.post("/sign-out")
    await ada.sign_in("ada@example.test")
    assert len(await subjects(office, "ada@example.test")) == 1
    await come(office, "ada")
    assert len(await subjects(office, "ada@example.test")) == 2
    text = await office.letter("ada@example.test")
    assert "127.0.0.1" in text and "ada@example.test" in text


async def test_a_cookie_that_we_did_not_give_out_makes_no_browser_known(office: Office) -> None:
    """Nobody can plant the token by which a later sign-in of theirs would count as known."""
    await office.user("Ada")
    victim, planted = office.visitor(), "x" * 43
    victim.known_as = planted
    await victim.sign_in("ada@example.test")
    assert victim.known_as != planted
    thief = office.visitor()
    thief.known_as = planted
    await thief.sign_in("ada@example.test")
    assert len(await subjects(office, "ada@example.test")) == 2


async def test_a_browser_known_to_one_person_is_new_to_another(office: Office) -> None:
    await office.user("Ada")
    await office.user("Bo")
    ada = await come(office, "ada")
    shared = ada.known_as
    await ada.post("/sign-out")
    await ada.sign_in("bo@example.test")
    assert ada.known_as == shared
    assert len(await subjects(office, "bo@example.test")) == 1
    await ada.post("/sign-out")
    await ada.sign_in("ada@example.test")
    assert len(await subjects(office, "ada@example.test")) == 1


async def test_failures_are_entered_in_bounded_number(office: Office) -> None:
    """For accounts there are and for invented ones: guessing makes neither the log nor the webhooks flood."""
    await office.user("Ada")
    [member] = await find_by_user(office.runtime.db, (await office.user_of("ada@example.test")).id)
    await office.site.api.ok("POST", "/webhooks", {"url": "https://ok.test/", "events": ["audit.recorded"]})
    before = len(await entries(office))
    for n in range(40):
        stranger = office.visitor()
        await stranger.sign_in(f"invented{n}@example.test", "wrong password")
        if n % 6 == 5:
            office.clock.advance(minutes=3)
    failed = await entries(office, "member.sign_in_failed")
    assert [one["data"]["tries"] for one in failed] == [40, 20, 10, 5, 4, 3, 2, 1]
    assert {one["actor"]["kind"] for one in failed} == {"anonymous"}
    assert {one["data"]["memberId"] for one in failed} == {None}
    assert "invented" not in str(failed) and len(await entries(office)) == before + 8
    await office.visitor().sign_in("ada@example.test", "wrong password")
    [known, *_] = await entries(office, "member.sign_in_failed")
    assert (known["data"]["memberId"], known["data"]["tries"]) == (member.id, 1)
    assert known["detail"] == {"email": "ada@example.test"} and known["ip"] == "127.0.0.1"
    row = await office.runtime.db.one("SELECT count(*) AS n FROM failed_sign_in")
    assert row is not None and row["n"] == 2
    office.clock.advance(hours=2)
    await office.visitor().sign_in("ada@example.test", "wrong password")
    assert (await entries(office))[0]["data"]["tries"] == 1


async def test_a_wrong_code_and_a_wrong_confirmation_are_entered(office: Office) -> None:
    user = await office.user("Ada")
    secret = second_factor.new_secret()
    code = pyotp.TOTP(secret).at(office.clock.now() // 1000)
    assert await second_factor.enable(office.runtime, UserCaller(user, Origin("192.0.2.1")), secret, code)
    office.clock.advance(seconds=30)
    ada = office.visitor()
    await ada.sign_in("ada@example.test")
    assert "member.signed_in" not in await types(office)
    await ada.get("/sign-in/code")
    await ada.post("/sign-in/code", code="000000")
    assert (await entries(office))[0]["data"]["step"] == "code"
    await ada.post("/sign-in/code", code=pyotp.TOTP(secret).at(office.clock.now() // 1000))
    signed = (await entries(office))[0]
    assert (signed["type"], signed["data"]["factor"]) == ("member.signed_in", "code")
    await ada.get("/confirm")
    await ada.post("/confirm", {"password-again": "wrong", "code-again": "000000"})
    assert (await entries(office))[0]["data"]["step"] == "confirmation"


async def test_what_is_done_in_two_organisations_stands_in_both_logs(office: Office) -> None:
    user = await office.user("Ada")
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two"))
    await office.user("Ada", MemberRole.MEMBER, other.id)
    await users.change_password(office.runtime, UserCaller(user, Origin()), NEW)
    rows = await office.runtime.db.all(
        "SELECT document_id FROM audit WHERE type = 'member.password_changed' ORDER BY document_id"
    )
    assert len(rows) == 2 and "org_two" in {row["document_id"] for row in rows}
    async for chain in recompute(office.runtime.db, office.runtime.vault):
        assert chain.broken is None


# ---------- mails ----------


async def test_a_changed_password_and_factor_are_entered_and_told_by_mail(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.post("/account/password", current=PASSWORD, password=NEW)
    user = await office.user_of("ada@example.test")
    secret, where = second_factor.new_secret(), Origin("192.0.2.9")
    code = pyotp.TOTP(secret).at(office.clock.now() // 1000)
    assert await second_factor.enable(office.runtime, UserCaller(user, where), secret, code)
    user = await office.user_of("ada@example.test")
    await second_factor.renew_recovery(office.runtime, UserCaller(user, where))
    await second_factor.disable(office.runtime, UserCaller(user, where))
    assert (await types(office))[:4] == [
        "member.factor_disabled",
        "member.recovery_codes_renewed",
        "member.factor_enabled",
        "member.password_changed",
    ]
    assert await subjects(office, "ada@example.test") == [
        "Your password was changed",
        "Second factor turned on",
        "New recovery codes",
        "Second factor turned off",
    ]


async def test_a_password_chosen_by_a_mailed_link_is_told_as_well(office: Office) -> None:
    user = await office.user("Ada")
    await one_time_links.send_reset_link(office.runtime, "ada@example.test", Origin("192.0.2.1"))
    asked = (await entries(office))[0]
    assert (asked["type"], asked["actor"]["kind"]) == ("member.password_reset_requested", "anonymous")
    token = await office.runtime.db.write(
        lambda tx: one_time_links.issue_token(tx, Errand.RESET, user.id, office.clock.now())
    )
    await one_time_links.choose_password(office.runtime, token, NEW, Origin("192.0.2.1"))
    assert (await entries(office))[0]["data"]["by"] == "link"
    assert (await subjects(office, "ada@example.test"))[-1] == "Your password was changed"


async def test_owners_are_told_of_a_new_owner_and_of_an_administrative_token(office: Office) -> None:
    await office.user("Ada")
    await office.user("Cy", MemberRole.ADMIN)
    bo = await office.signed_in("Bo")
    await bo.get("/members")
    await bo.post("/members", email="eve@example.test", name="Eve", role="owner")
    for owner in ("ada", "bo"):
        assert any("New owner" in one for one in await subjects(office, f"{owner}@example.test"))
    for other in ("cy", "eve"):
        assert not any("New owner" in one for one in await subjects(office, f"{other}@example.test"))
    assert "eve@example.test" in await office.letter("ada@example.test")
    page = await bo.get("/settings/tokens/new")
    assert page.status == 200
    await bo.post("/settings/tokens/new", name="Everything", access="all", mode="live", expires="365")
    assert any("API key that can manage" in one for one in await subjects(office, "ada@example.test"))
    assert (await entries(office))[0]["type"] == "api_key.created"


async def test_the_command_line_is_entered_as_itself(office: Office) -> None:
    user, installation = await office.user("Ada"), office.runtime.installation
    await office.user("Bo")
    await users.reset_password(installation, user.email, without_factor=True)
    await users.disable(installation, user.email)
    await users.enable(installation, user.email)
    await users.create_invitation(installation, None, "new@example.test", "New", MemberRole.OWNER)
    found = (await entries(office))[:4]
    assert [one["type"] for one in found] == [
        "member.invited",
        "member.enabled",
        "member.disabled",
        "member.password_reset_requested",
    ]
    assert {(one["actor"]["kind"], one["actor"]["name"]) for one in found} == {("system", "command line")}
    assert any("New owner" in one for one in await subjects(office, "bo@example.test"))


# ---------- the seal, and archives ----------


async def test_another_seal_is_entered_with_who_made_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.post("/settings/seal/new")).to.endswith("seal-new")
    made, *before = await entries(office, "seal.changed")
    assert (made["data"]["act"], made["actor"]["email"]) == ("made anew", "ada@example.test")
    assert [one["actor"]["kind"] for one in before] == ["system"]


async def test_an_archive_is_entered_with_what_is_in_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    ids = [await office.site.api.create() for _ in range(2)]
    await ada.get("/documents")
    async with office.browser.post(
        f"{office.site.base}/selection/download",
        data={"csrf": ada.csrf, "ids": " ".join(ids)},
        headers={
            "Cookie": f"esign={ada.token}",
            "Origin": office.site.base,
            "Sec-Fetch-Site": "same-origin",
        },
    ) as answer:
        assert answer.status == 200
        assert (await answer.read()).startswith(b"PK")
    exported = (await entries(office))[0]
    assert exported["type"] == "documents.exported" and set(exported["data"]["documents"]) == set(ids)


# ---------- erasing ----------


async def test_erasing_a_former_member_takes_their_names_and_addresses_out_of_the_log(office: Office) -> None:
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo", MemberRole.MEMBER)
    assert (await bo.get("/account")).status == 200
    [member] = await find_by_user(office.runtime.db, (await office.user_of("bo@example.test")).id)
    await ada.get("/members")
    await ada.post(f"/members/{member.id}/remove")
    assert "bo@example.test" in str(await entries(office))
    await ada.get("/settings/erasure")
    await ada.post("/settings/erasure/begin", email="BO@example.test")
    await erase.tick(office.runtime)
    after = await entries(office)
    assert "bo@example.test" not in str(after) and "ada@example.test" in str(after)
    assert {"erasure.requested", "audit.erased", "erasure.finished"} <= {one["type"] for one in after}
    async for chain in recompute(office.runtime.db, office.runtime.vault):
        assert chain.broken is None


# ---------- the page ----------


@pytest.mark.parametrize("role", [MemberRole.ADMIN, MemberRole.MEMBER, MemberRole.VIEWER])
async def test_only_owners_read_the_page(office: Office, role: MemberRole) -> None:
    ada, other = await office.signed_in("Ada"), await office.signed_in("Bo", role)
    assert (await ada.get(HERE)).status == 200
    assert (await other.get(HERE)).status == 403
    assert HERE not in (await other.get("/account")).text


async def test_the_page_shows_who_did_what_and_is_narrowed_by_its_form(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.get("/members")
    await ada.post("/members", email="eve@example.test", name="Eve & Co <b>", role="member")
    page = await ada.get(HERE)
    assert "Member invited" in page.said and "Eve & Co <b>" in page.said and "<b>Eve" not in page.text
    assert "127.0.0.1" in page.said
    narrowed = await ada.get(f"{HERE}?type=member.invited")
    assert "Signed in" not in narrowed.said.partition("Show all")[2]
    [member] = await find_by_user(office.runtime.db, (await office.user_of("ada@example.test")).id)
    assert "Member invited" in (await ada.get(f"{HERE}?actor={member.id}")).said
    assert "No entries match" in (await ada.get(f"{HERE}?from=2099-01-01")).said
    assert "A day such as" in (await ada.get(f"{HERE}?to=nonsense")).said


async def test_the_page_is_turned(office: Office) -> None:
    ada = await office.signed_in("Ada")
    for n in range(60):
        await office.site.api.ok("PATCH", "/settings", {"defaultExpiresInDays": 10 + n})
    page = await ada.get(HERE)
    assert "Older" in page.said and "69" in page.said
    link = page.text.partition('href="/settings/audit?after=')[2].partition('"')[0]
    older = await ada.get(f"{HERE}?after={link}")
    assert older.status == 200 and "Newest" in older.said and "10 → 11" in older.said


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "none"),
        (True, "yes"),
        (False, "no"),
        (1, "1"),
        (0, "0"),
        ("", ""),
        ([], "none"),
        (["a", 1], "a, 1"),
        ({"from": 1, "to": None}, "1 → none"),
        ({"max": 1, "kept": True}, "At most: 1, kept: yes"),
    ],
)
def test_a_number_is_shown_as_a_number_and_an_answer_as_a_word(value: object, shown: str) -> None:
    assert audit_log.format_value("days", value, TIMES) == shown


def test_every_type_of_entry_has_its_words_and_no_other_has() -> None:
    begun = "settings.log.act."
    found = {key.removeprefix(begun) for key in TIMES.words.catalogue if key.startswith(begun)}
    assert found == set(ACTS)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("role", {"from": "viewer", "to": "admin"}, "Viewer → Administrator"),
        ("mode", "test", "Test"),
        ("scopes", ["*"], "full access"),
        ("reason", "by hand", "by hand"),
        ("act", "went back", "changed back to the certificate created here"),
        ("by", "Ada", "Ada"),
        ("expiresAt", "2026-11-21T08:05:00.000Z", "21 Nov 2026, 08:05"),
        ("expiresAt", None, "none"),
        ("defaultReminders", {"enabled": True, "max": 3}, "On: yes, At most: 3"),
    ],
)
def test_what_the_program_writes_is_said_in_the_words_of_the_pages(
    name: str, value: object, shown: str
) -> None:
    assert audit_log.format_value(name, value, TIMES) == shown


async def test_a_changed_plan_is_named_as_on_its_page(office: Office) -> None:
    ada = await office.signed_in("Ada")
    [organisation] = await organisations.find_by_user(
        office.runtime.db, (await office.user_of("ada@example.test")).id
    )
    for plan in ("business", "enterprise"):
        await accounts.set_plan(office.runtime.installation, organisation.id, plan)
    assert "From Business To Enterprise" in (await ada.get(HERE)).said
