"""What a person may do in the office: every line × role × mode × what they proved, as `table` says."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pyotp
import pytest
import pytest_asyncio

from esign.actions.base.caller import Caller, UserCaller
from esign.actions.people import api_keys, second_factor
from esign.actions.people.accounts import KeyWish
from esign.core.actor import Actor, Author, Mode, Origin, Owner
from esign.core.instant import SECOND, Instant
from esign.core.people.api_key import Scope
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH, Session, Stage, User
from esign.store.engine.database import Transaction
from esign.store.people import api_keys as stored_keys
from esign.store.people import members, organisations, sessions
from esign.system.entropy import make_id, make_token
from esign.web.office.frame.dispatch import CODE, PROOF, OfficeRoute
from esign.web.office.routes import TABLE
from tests.factories import an_organisation, store_organisation
from tests.rights.table import OFFICE, OPENED_BY
from tests.web.office.frame.test_dispatch import address, name, send
from tests.web.office.visitor import PASSWORD, Office, Page, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEHIND = [line for line in TABLE if OFFICE[name(line)].words[0] in OPENED_BY]
CONFIRM = "Confirm it’s you"
REDIRECT, REFUSED = 303, 403


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """One for all: what is tried here names nobody's ids and leaves forms empty."""
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        yield office


@dataclass
class OfficePeople:
    """One of each role here, one of each with a second factor, and the owner of another organisation."""

    plain: dict[MemberRole, User]
    guarded: dict[MemberRole, User]
    stranger: User
    here: str
    elsewhere: str


SECRET = second_factor.new_secret()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def people(office: Office) -> OfficePeople:
    first = await organisations.find_first(office.runtime.db)
    assert first
    later = an_organisation(id="org_two", name="Second", created_at=office.clock.now() + 1)
    other = await store_organisation(office.runtime.db, later)
    guarded = {role: await office.user(f"{role}-guarded", role) for role in MemberRole}
    for role, user in guarded.items():
        await guard(office, user)
        guarded[role] = await office.user_of(user.email)
    return OfficePeople(
        {role: await office.user(role.title(), role) for role in MemberRole},
        guarded,
        await office.user("Stranger", MemberRole.OWNER, other.id),
        first.id,
        other.id,
    )


async def guard(office: Office, user: User) -> None:
    """Set up a second factor, as its page does."""
    code = pyotp.TOTP(SECRET).at(office.clock.now() // SECOND)
    assert await second_factor.enable(office.runtime, UserCaller(user, Origin()), SECRET, code)


def next_code(office: Office) -> str:
    """A code that nobody has used; a minute later, so that one network does not try too often in 15 of them."""
    office.clock.advance(seconds=60)
    return str(pyotp.TOTP(SECRET).at(office.clock.now() // SECOND))


async def at_browser(
    office: Office,
    user: User,
    organisation: str,
    mode: Mode = Mode.LIVE,
    *,
    signed_in: Instant = 0,
    confirmed: Instant | None = None,
) -> Visitor:
    """A session of their own; `signed_in` and `confirmed` are milliseconds ago, by code where they have one."""
    now, token, visitor = office.clock.now(), make_token(), office.visitor()
    session = Session(
        id=make_id("ses", now),
        user_id=user.id,
        organisation_id=organisation,
        stage=Stage.WHOLE,
        mode=mode,
        created_at=now - signed_in,
        seen_at=now,
        proved_at=now - signed_in,
        factor_at=None if confirmed is None else now - confirmed,
    )

    async def write(tx: Transaction) -> None:
        await sessions.add(tx, token, session)

    await office.runtime.db.write(write)
    visitor.hold(token, session)
    return visitor


async def knock(visitor: Visitor, line: OfficeRoute, **form: str) -> Page:
    if line.method == "GET":
        return await visitor.get(address(line))
    return await send(visitor, line, **form)


# ---------- roles ----------


@pytest.mark.parametrize("line", BEHIND, ids=name)
async def test_a_line_opens_to_the_roles_of_the_table(
    office: Office, people: OfficePeople, line: OfficeRoute
) -> None:
    allowed = OPENED_BY[OFFICE[name(line)].words[0]]
    for mode in Mode:
        for role, user in people.plain.items():
            page = await knock(await at_browser(office, user, people.here, mode), line)
            told = (role, mode, page.status, page.headers.get("Location"))
            assert (page.status == REFUSED) == (role not in allowed), told
            assert not page.headers.get("Location", "").startswith("/sign-in?next"), told
    stranger = await knock(office.visitor(), line)
    assert stranger.status == REDIRECT and stranger.to.partition("?")[0] == "/sign-in"


# ---------- what is asked once more ----------


async def list_asked_fields(visitor: Visitor, line: OfficeRoute) -> frozenset[str]:
    """Which fields the person has to fill in before the line does anything."""
    page = await knock(visitor, line)
    if page.status == REDIRECT and page.to.startswith("/confirm?"):
        page = await visitor.get(page.to)
    if CONFIRM not in page.text:
        return frozenset()
    assert page.title == CONFIRM
    return frozenset(found for found in (PROOF, CODE) if f'name="{found}"' in page.text)


NOW_AND_LONG_AGO = {"just signed in": 0, "signed in long ago": FRESH}


@pytest.mark.parametrize("line", [one for one in BEHIND if one.path != "/confirm"], ids=name)
async def test_what_is_asked_once_more_is_what_the_table_says(
    office: Office, people: OfficePeople, line: OfficeRoute
) -> None:
    words = OFFICE[name(line)].words[1:]
    owner = MemberRole.OWNER
    for told, ago in NOW_AND_LONG_AGO.items():
        old = {PROOF} if "password" in words and ago else set()
        plain = await at_browser(office, people.plain[owner], people.here, signed_in=ago)
        assert await list_asked_fields(plain, line) == old, f"without a second factor, {told}"
        for confirmed in (None, 0, FRESH):
            guarded = await at_browser(
                office, people.guarded[owner], people.here, signed_in=ago, confirmed=confirmed
            )
            wants = "each" in words or ("code" in words and confirmed != 0)
            assert await list_asked_fields(guarded, line) == old | ({CODE} if wants else set()), (
                told,
                confirmed,
            )


CONFIRMED_BY_CODE = [line for line in BEHIND if {"code", "each"} & set(OFFICE[name(line)].words)]


@pytest.mark.parametrize("line", [one for one in CONFIRMED_BY_CODE if one.method == "POST"], ids=name)
async def test_a_wrong_code_opens_nothing_and_a_right_one_opens_it(
    office: Office, people: OfficePeople, line: OfficeRoute
) -> None:
    visitor = await at_browser(office, people.guarded[MemberRole.OWNER], people.here)
    before = visitor.token
    if line.takes == "files":
        to = (await knock(visitor, line)).to
        await visitor.get(to)
        wrong = await visitor.post("/confirm", {CODE: "000000", "next": "/account"})
        assert wrong.status == 422 and wrong.wrong().keys() == {CODE} and visitor.token == before
        right = await visitor.post("/confirm", {CODE: next_code(office), "next": "/account"})
        assert right.to == "/account" and visitor.token != before
        return
    for code in ("", "000000"):
        wrong = await send(visitor, line, **{CODE: code, "name": "Zoë"})
        assert wrong.status == 422 and wrong.wrong().keys() == {CODE} and visitor.token == before
        assert wrong.value("name") == "Zoë"
    if OFFICE[name(line)].words[-1] == "each":
        return  # done to the end below
    right = await send(visitor, line, **{CODE: next_code(office)})
    assert right.status != REDIRECT or not right.to.startswith(("/confirm", "/sign-in"))
    assert CONFIRM not in right.text and visitor.token != before, "what gains rights gets a new cookie"
    again = await send(visitor, line)
    assert CONFIRM not in again.text, "it counts for a while"


async def test_a_second_factor_goes_only_with_a_code_of_its_own(office: Office, people: OfficePeople) -> None:
    """A code that confirmed something else a moment ago is not enough, nor is one that was used."""
    user = await office.user("Vera", MemberRole.MEMBER)
    await guard(office, user)
    user = await office.user_of(user.email)
    visitor = await at_browser(office, user, people.here, confirmed=0)
    for path in ("/account/second-factor/off", "/account/second-factor/codes"):
        page = await visitor.post(path)
        assert (page.status, page.title) == (200, CONFIRM)
    used = str(pyotp.TOTP(SECRET).at(office.clock.now() // SECOND))
    assert (await visitor.post("/account/second-factor/off", {CODE: used})).wrong().keys() == {CODE}
    shown = await visitor.post("/account/second-factor/codes", {CODE: next_code(office)})
    recovery = re.findall(r"<li>([a-z0-9-]{8,})</li>", shown.text)
    assert len(recovery) == 10
    await visitor.get("/account")
    assert (await visitor.post("/account/second-factor/off", {CODE: recovery[0]})).to.endswith("factor-off")
    assert (await office.user_of(user.email)).totp is None


async def test_a_new_password_takes_a_code_too(office: Office, people: OfficePeople) -> None:
    user = await office.user("Wim", MemberRole.MEMBER)
    await guard(office, user)
    visitor = await at_browser(office, await office.user_of(user.email), people.here, confirmed=0)
    new = {"current": PASSWORD, "password": "seven violet tractors hum"}
    assert (await visitor.post("/account/password", new)).wrong().keys() == {"code"}
    assert (await visitor.post("/account/password", new | {"code": "000000"})).wrong().keys() == {"code"}
    before = (await office.user_of(user.email)).password
    assert before == user.password
    given = new | {"code": next_code(office)}
    assert (await visitor.post("/account/password", given)).to == "/account?done=password-changed"


async def test_codes_cannot_be_guessed_at_an_open_browser(office: Office, people: OfficePeople) -> None:
    office.clock.advance(minutes=16)  # what was tried before from this address is forgotten
    user = await office.user("Xena", MemberRole.MEMBER)
    await guard(office, user)
    visitor = await at_browser(office, await office.user_of(user.email), people.here)
    tried = [(await visitor.post("/account/second-factor/off", {CODE: f"{n:06}"})).status for n in range(11)]
    assert tried == [422] * 10 + [429]


# ---------- owners ----------

ROLES = [*MemberRole]
GONE, AGAIN = "gone", "again"


async def a_member(
    office: Office, people: OfficePeople, email: str, role: MemberRole, *, invited: bool
) -> str:
    user = await office.user(email, role)
    [member] = await members.find_by_user(office.runtime.db, user.id)

    async def uninvite(tx: Transaction) -> None:
        await tx.run("UPDATE member SET status = 'invited', user_id = NULL WHERE id = :id", id=member.id)

    if invited:
        await office.runtime.db.write(uninvite)
    return member.id


@pytest.mark.parametrize("by", [MemberRole.OWNER, MemberRole.ADMIN])
@pytest.mark.parametrize("after", [*[str(role) for role in ROLES], GONE, AGAIN])
@pytest.mark.parametrize("before", [None, *ROLES])
async def test_owners_are_changed_by_owners_alone(
    office: Office, people: OfficePeople, before: MemberRole | None, after: str, by: MemberRole
) -> None:
    visitor = await at_browser(office, people.plain[by], people.here)
    email = f"{before}-{after}-{by}".lower()
    may = by is MemberRole.OWNER or MemberRole.OWNER not in (before, after)
    if before is None:
        if after in (GONE, AGAIN):
            return
        form = {"email": f"{email}@example.test", "name": "N", "role": after}
        page = await visitor.post("/members", form)
        assert page.status == (REDIRECT if may else REFUSED)
        return
    member = await a_member(office, people, email, before, invited=after == AGAIN)
    path = {GONE: f"/members/{member}/remove", AGAIN: f"/members/{member}/again"}.get(
        after, f"/members/{member}/role"
    )
    page = await visitor.post(path, role=after)
    assert page.status == (REDIRECT if may else REFUSED), page.said
    found = await members.get(office.runtime.db, member)
    assert (found is None) == (after == GONE and may)
    if found is not None:
        changed = may and after not in (GONE, AGAIN)
        assert found.role == (after if changed else before)


# ---------- the seal of the installation ----------


@pytest.mark.parametrize("path", ["/settings/seal/new", "/settings/seal/back", "/settings/seal/upload"])
async def test_the_seal_is_changed_by_owners_of_the_first_organisation_alone(
    office: Office, people: OfficePeople, path: str
) -> None:
    authority = office.runtime.keyring.authority
    admin = await at_browser(office, people.plain[MemberRole.ADMIN], people.here)
    stranger = await at_browser(office, people.stranger, people.elsewhere)
    line = next(one for one in TABLE if one.method == "POST" and one.path == path)
    for visitor in (admin, stranger):
        page = (
            await visitor.upload(path, "file", ("a.pem", b"x")) if line.takes == "files" else
            await visitor.post(path)
        )  # fmt: skip
        assert page.status == REFUSED
    assert office.runtime.keyring.authority == authority
    shown = await admin.get("/settings/seal")
    assert shown.status == 200 and "only an owner can change it" in shown.said and path not in shown.text


# ---------- the keys of who is removed ----------


async def test_the_keys_of_a_member_are_shown_and_revoked_as_they_are_removed(
    office: Office, people: OfficePeople
) -> None:
    owner = await at_browser(office, people.plain[MemberRole.OWNER], people.here)
    for revoke in (True, False):
        user = await office.user(f"Maker{revoke}", MemberRole.ADMIN)
        [member] = await members.find_by_user(office.runtime.db, user.id)
        by = Author(Actor("member", member.id, member.name, member.email))
        caller = Caller(Owner(people.here, Mode.LIVE), by)
        made = []
        for mode in Mode:
            wish = KeyWish(f"Portal {mode}", mode, frozenset({Scope.ALL}), None)
            made.append((await api_keys.create(office.runtime, caller, wish))[0])
        page = await owner.get(f"/members/{member.id}/remove")
        assert "2 API keys stop working immediately" in page.said
        assert all(key.name in page.said and key.hint in page.said for key in made)
        form = {"revoke": "yes"} if revoke else {}
        done = await owner.post(f"/members/{member.id}/remove", form)
        assert done.to == f"/members?done={'removed-keys' if revoke else 'removed'}"
        after = [await stored_keys.get(office.runtime.db, key.id) for key in made]
        assert [key.revoked_at is not None for key in after] == [revoke] * 2
        assert all(key.is_suspended for key in after)
        listed = await owner.get("/settings/tokens")
        assert ("Suspended" in listed.said) is not revoke
