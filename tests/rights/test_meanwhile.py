"""What ends or becomes less while a request is under way counts before the request has its effect.

A body may take minutes to come. Whoever opens requests before they lose their session, role or key must not finish
them afterwards.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
import pytest_asyncio

from esign.actions.base.caller import Caller
from esign.actions.people import api_keys, users
from esign.actions.people import members as acting
from esign.actions.people.accounts import KeyWish
from esign.core.actor import Actor, Author, Mode, Owner
from esign.core.errors import Problem
from esign.core.people.api_key import Scope
from esign.core.people.member import Member, MemberRole
from esign.store.engine.database import Transaction
from esign.store.people import api_keys as stored_keys
from esign.store.people import members, organisations, sessions
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.office.frame.dispatch import OfficeRoute
from esign.web.office.routes import TABLE
from esign.web.rest import V1
from esign.web.rest.endpoint import Endpoint
from tests.api.test_matrix import body_of, name_endpoint
from tests.rights.table import API, LEADERS, OFFICE, OPENED_BY
from tests.web.office.frame.test_dispatch import address, name
from tests.web.office.visitor import Office, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

Change = Callable[[Office, Member], Awaitable[None]]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    async with an_office(tmp_path_factory.mktemp("office"), limits={"api_keys": 10_000}) as office:
        await office.user("Ada")
        yield office


# ---------- what becomes of who asks ----------


async def become(office: Office, member: Member, role: MemberRole) -> None:
    await office.runtime.db.write(lambda tx: members.save(tx, replace(member, role=role)))


async def demote(office: Office, member: Member) -> None:
    await become(office, member, MemberRole.VIEWER)


async def remove(office: Office, member: Member) -> None:
    await office.runtime.db.write(lambda tx: members.delete(tx, member.id))


async def disable(office: Office, member: Member) -> None:
    await users.disable(office.runtime.installation, member.email)


async def sign_out(office: Office, member: Member) -> None:
    async def write(tx: Transaction) -> None:
        assert member.user_id is not None
        await sessions.end_all(tx, member.user_id)

    await office.runtime.db.write(write)


async def revoke(office: Office, member: Member) -> None:
    async def write(tx: Transaction) -> None:
        for key in await stored_keys.find_active_of(tx, member, office.clock.now()):
            await stored_keys.revoke(tx, key.id, office.clock.now())

    await office.runtime.db.write(write)


# ---------- requests that stand still half-way ----------


@dataclass
class SlowBody:
    """A body that is asked for (`100 Continue`) once it is known who asks, and that comes when it is told to."""

    body: bytes
    asked_for: asyncio.Event = field(default_factory=asyncio.Event)
    going_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def pieces(self) -> AsyncIterator[bytes]:
        self.asked_for.set()
        await self.going_on.wait()
        yield self.body


async def answer_after(
    office: Office, method: str, path: str, body: bytes, headers: Mapping[str, str], change: Awaitable[None]
) -> tuple[int, str]:
    """Return status and Location, or the code of an error, of a request whose body comes after `change`."""
    slow = SlowBody(body)

    async def ask() -> tuple[int, str]:
        async with office.browser.request(
            method,
            office.site.base + path,
            data=slow.pieces(),
            headers=headers,
            expect100=True,
            allow_redirects=False,
        ) as answer:
            content = await answer.read()
            is_json = answer.content_type == "application/json"
            code = json.loads(content).get("error", {}).get("code", "") if is_json else ""
            return answer.status, answer.headers.get("Location", code)

    asking, asked_for = asyncio.create_task(ask()), asyncio.create_task(slow.asked_for.wait())
    await asyncio.wait((asking, asked_for), return_when=asyncio.FIRST_COMPLETED)
    assert asked_for.done(), asking
    await change
    slow.going_on.set()
    return await asking


# ---------- in the office ----------

EDGE = "edge-of-a-part"
SLOW = [
    line
    for line in TABLE
    if line.method == "POST" and line.takes != "form" and OFFICE[name(line)].words[0] in OPENED_BY
]


def form_of(visitor: Visitor, line: OfficeRoute) -> tuple[bytes, str]:
    """The form of a line and its media type."""
    given = {"csrf": visitor.csrf, "once": "a-name-of-its-own"}
    if line.takes == "rows":
        return urlencode(given).encode(), "application/x-www-form-urlencoded"
    parts = [f'name="{name}"\r\n\r\n{text}' for name, text in given.items()]
    parts.append('name="file"; filename="x.pdf"\r\nContent-Type: application/pdf\r\n\r\nx')
    whole = "".join(f"--{EDGE}\r\nContent-Disposition: form-data; {part}\r\n" for part in parts)
    return f"{whole}--{EDGE}--\r\n".encode(), f"multipart/form-data; boundary={EDGE}"


ENDS: Mapping[str, Change] = {
    "demoted": demote,
    "removed": remove,
    "disabled": disable,
    "signed out": sign_out,
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("line", SLOW, ids=name)
async def test_a_form_that_comes_after_its_sender_left_is_not_taken(
    office: Office, line: OfficeRoute, end: str
) -> None:
    who = f"{name(line)} {end}".replace("/", "-").replace(" ", "").replace("{", "").replace("}", "").lower()
    visitor = await office.signed_in(who)
    [member] = await members.find_by_user(office.runtime.db, (await office.user_of(f"{who}@example.test")).id)
    body, media = form_of(visitor, line)
    headers = {
        "Cookie": f"esign={visitor.token}",
        "Origin": office.site.base,
        "Accept": "text/html",
        "Content-Type": media,
    }
    found = await answer_after(office, "POST", address(line), body, headers, ENDS[end](office, member))
    if end == "demoted":
        assert found == (403, "")
    else:
        assert (found[0], found[1].partition("?")[0]) == (303, "/sign-in")


async def go_to_test_mode(office: Office, member: Member) -> None:
    async def write(tx: Transaction) -> None:
        assert member.user_id is not None
        [session] = await sessions.find(tx, member.user_id, office.clock.now(), 9)
        await sessions.move(tx, session.id, member.organisation_id, Mode.TEST)

    await office.runtime.db.write(write)


@pytest.mark.parametrize("line", SLOW, ids=name)
async def test_a_form_that_comes_after_its_session_went_elsewhere_changes_nothing_there(
    office: Office, line: OfficeRoute
) -> None:
    who = f"{name(line)} moved".replace("/", "-").replace(" ", "").replace("{", "").replace("}", "").lower()
    visitor = await office.signed_in(who)
    [member] = await members.find_by_user(office.runtime.db, (await office.user_of(f"{who}@example.test")).id)
    body, media = form_of(visitor, line)
    headers = {"Cookie": f"esign={visitor.token}", "Origin": office.site.base, "Content-Type": media}
    change = go_to_test_mode(office, member)
    assert (await answer_after(office, "POST", address(line), body, headers, change))[0] == 400


# ---------- over the API ----------

WRITES = [one for one in ENDPOINTS if one.method != "GET" and body_of(one)]
REFUSED: Mapping[str, tuple[Change, str]] = {
    "its maker is demoted": (demote, "insufficient_scope"),
    "its maker is removed": (remove, "insufficient_scope"),
    "its maker is disabled": (disable, "insufficient_scope"),
    "it is revoked": (revoke, "api_key_revoked"),
}


@pytest.mark.parametrize("end", REFUSED)
@pytest.mark.parametrize("endpoint", WRITES, ids=name_endpoint)
async def test_a_body_that_comes_after_the_end_of_its_key_is_not_taken(
    office: Office, endpoint: Endpoint, end: str
) -> None:
    change, code = REFUSED[end]
    who = (
        f"{name_endpoint(endpoint)}{end}".replace("/", "-").replace(" ", "").replace("{", "").replace("}", "")
    )
    user = await office.user(who)
    [member] = await members.find_by_user(office.runtime.db, user.id)
    mode = Mode.TEST if endpoint.test_only else Mode.LIVE
    key = await a_key_of(office, member, mode)
    path = endpoint.path.format_map({"id": "x", "rid": "x", "did": "x"})
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = json.dumps(body_of(endpoint)).encode()
    status, found = await answer_after(office, endpoint.method, path, body, headers, change(office, member))
    reads = API[f"{endpoint.method} {endpoint.path.removeprefix(V1)}"].words[0] == "viewer"
    if change is demote and reads:
        assert found != code
    else:
        assert (status, found) == (401, code)


async def a_key_of(office: Office, member: Member, mode: Mode) -> str:
    author = Author(Actor("member", member.id, member.name, member.email))
    caller = Caller(Owner(member.organisation_id, mode), author)
    wish = KeyWish("CRM", mode, frozenset({Scope.ALL}), None)
    _, text = await api_keys.create(office.runtime, caller, wish)
    return text


# ---------- between asking and the transaction ----------

Deed = Callable[[Office, Caller, Member], Awaitable[object]]

DEEDS: Mapping[str, Deed] = {
    "invite": lambda office, caller, other: acting.invite(
        office.runtime, caller, f"{other.id}@example.test", "New", MemberRole.VIEWER
    ),
    "invite again": lambda office, caller, other: acting.invite_again(office.runtime, caller, other.id),
    "issue a link": lambda office, caller, other: acting.issue_link(office.runtime, caller, other.id),
    "change": lambda office, caller, other: acting.change(
        office.runtime, caller, other.id, "Renamed", MemberRole.ADMIN
    ),
    "remove": lambda office, caller, other: acting.remove(office.runtime, caller, other.id),
}


@pytest.mark.parametrize("role", [*MemberRole, None])
@pytest.mark.parametrize("deed", DEEDS)
async def test_members_are_changed_with_the_role_that_one_has_in_the_transaction(
    office: Office, deed: str, role: MemberRole | None
) -> None:
    """Whoever asked was an owner when they did."""
    first = await organisations.find_first(office.runtime.db)
    assert first is not None
    owner, told = Owner(first.id, Mode.LIVE), f"{deed}-{role}".replace(" ", "").lower()
    user = await office.user(f"by-{told}")
    [asking] = await members.find_by_user(office.runtime.db, user.id)
    caller = Caller(owner, Author(Actor("member", asking.id, asking.name, asking.email)))
    other = await acting.invite(office.runtime, caller, f"of-{told}@example.test", "Of", MemberRole.MEMBER)
    await (remove(office, asking) if role is None else become(office, asking, role))
    if role in LEADERS:
        await DEEDS[deed](office, caller, other)
        return
    with pytest.raises(Problem, match="insufficient_scope"):
        await DEEDS[deed](office, caller, other)
    assert await members.get(office.runtime.db, other.id) == other


async def test_of_three_owners_who_demote_each_other_at_once_none_acts_after_being_demoted(
    tmp_path: Path,
) -> None:
    """In a circle of three, two at most can have been owners when their turn came, and one stays."""
    async with an_office(tmp_path / "data") as office:
        names = ("Ada", "Bo", "Cy")
        circle = [await office.signed_in(name) for name in names]
        ids = []
        for each in names:
            user = await office.user_of(f"{each.lower()}@example.test")
            ids.append((await members.find_by_user(office.runtime.db, user.id))[0].id)
        order = list(zip(circle, (ids[1], ids[2], ids[0]), strict=True))
        pages = await asyncio.gather(*(one.post(f"/members/{id}/role", role="viewer") for one, id in order))
        entries = (await office.site.api.ok("GET", "/audit?type=member.changed"))["data"]
        owners = set(ids)
        for entry in reversed(entries):
            assert entry["actor"]["id"] in owners, "an act of somebody who was no owner any more"
            owners.remove(entry["data"]["memberId"])
        assert sum(page.status == 303 for page in pages) == len(entries) == 3 - len(owners)
        assert owners
