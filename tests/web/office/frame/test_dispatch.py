"""Who gets through which door: every line of the table for every role, and every way a form can be forged (T23)."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from esign.actions.people import sessions
from esign.actions.people.sessions import SignInRequest
from esign.core.actor import Origin
from esign.core.people.member import MemberRole
from esign.core.people.permission import Permission, has_permission
from esign.core.people.user import FRESH, Stage, User
from esign.store.people import members, organisations
from esign.web.http.security import PAGE_HEADERS
from esign.web.office.frame.dispatch import PROOF, OfficeRoute
from esign.web.office.frame.office_call import accept_local_path
from esign.web.office.frame.settings_menu import SETTINGS, find_groups
from esign.web.office.routes import TABLE
from tests.factories import an_organisation, store_organisation
from tests.web.office.visitor import PASSWORD, Office, Page, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROLES = [*MemberRole]
TOKEN = "t" * 43
UNSAFE = [line for line in TABLE if line.method == "POST"]
BEHIND = [line for line in TABLE if isinstance(line.needs, Permission)]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """One for all: nothing that is tried here may change anything."""
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def people(office: Office) -> dict[MemberRole, User]:
    return {role: await office.user(role.title(), role) for role in ROLES}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def foreigner(office: Office) -> str:
    """The id of a member of another organisation."""
    other = (await store_organisation(office.runtime.db, an_organisation(id="org_other"))).id
    user = await office.user("Foreign", MemberRole.MEMBER, other)
    [member] = await members.find_by_user(office.runtime.db, user.id)
    return member.id


async def browser(office: Office, user: User, stage: Stage = Stage.WHOLE) -> Visitor:
    """A session of their own, so that one that is ended ends nobody else's."""
    first = await organisations.find_first(office.runtime.db)
    assert first
    visitor = office.visitor()
    request = SignInRequest(Origin("127.0.0.1", None))
    visitor.hold(*await sessions.begin_session(office.runtime, user, first.id, stage, request))
    return visitor


def address(line: OfficeRoute, id: str = "ses_nobody") -> str:
    others = {
        "rid": "rcp_nobody",
        "did": "dlv_nobody",
        "variant": "original",
        "number": 1,
        "done": 1,
        "name": "mail",
    }
    return line.path.format(token=TOKEN, id=id, **others)


def name(line: OfficeRoute) -> str:
    return f"{line.method} {line.path}"


async def send(visitor: Visitor, line: OfficeRoute, id: str = "ses_nobody", **form: str) -> Page:
    """The form of a line, as its page would send it; `csrf` is the one of the visitor's own page unless given."""
    if line.takes != "files":
        return await visitor.post(address(line, id), form)
    kept, visitor.csrf = visitor.csrf, form.pop("csrf", visitor.csrf)
    try:
        return await visitor.upload(address(line, id), "file", **form)
    finally:
        visitor.csrf = kept


async def knock(visitor: Visitor, line: OfficeRoute, id: str = "ses_nobody") -> tuple[int, str]:
    """Status and where it leads."""
    page = await (
        visitor.get(address(line, id)) if line.method == "GET" else send(visitor, line, id, role="viewer")
    )
    return page.status, page.headers.get("Location", "")


@pytest.mark.parametrize("line", BEHIND, ids=name)
async def test_nobody_gets_in_who_is_not_signed_in(
    office: Office, people: dict[MemberRole, User], line: OfficeRoute
) -> None:
    half = await browser(office, people[MemberRole.OWNER], Stage.HALF)
    for visitor in (office.visitor(), half):
        status, to = await knock(visitor, line)
        assert (status, to.partition("?")[0]) == (303, "/sign-in")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("line", BEHIND, ids=name)
async def test_a_role_opens_what_it_may_and_nothing_else(
    office: Office, people: dict[MemberRole, User], foreigner: str, line: OfficeRoute, role: MemberRole
) -> None:
    assert isinstance(line.needs, Permission)
    status, to = await knock(await browser(office, people[role]), line, foreigner)
    if not has_permission(role, line.needs):
        assert status == 403
    elif "{id}" in line.path:
        assert status == 404, "an id of another organisation is nobody's"
    else:
        assert status in (200, 303, 400, 404, 422) and not to.startswith("/sign-in?next")


@pytest.mark.parametrize("line", [line for line in TABLE if line.needs is Stage.HALF], ids=name)
async def test_a_code_is_asked_of_a_half_session_alone(
    office: Office, people: dict[MemberRole, User], line: OfficeRoute
) -> None:
    for visitor in (office.visitor(), await browser(office, people[MemberRole.OWNER])):
        assert await knock(visitor, line) == (303, "/sign-in")


FORGED = {
    "another site": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    "another origin alone": {"Origin": "https://evil.example"},
    "a sandboxed page": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "no origin to name": {"Origin": "null"},
    "a sister domain": {"Sec-Fetch-Site": "same-site"},
    "as text": {"Content-Type": "text/plain"},
    "as JSON": {"Content-Type": "application/json"},
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("line", UNSAFE, ids=name)
async def test_what_another_site_sends_is_refused(
    office: Office, people: dict[MemberRole, User], line: OfficeRoute, forged: str
) -> None:
    stage = Stage.HALF if line.needs is Stage.HALF else Stage.WHOLE
    visitor = await browser(office, people[MemberRole.OWNER], stage)
    answer = await visitor.post(address(line), headers=FORGED[forged])
    # before the first owner, the address is known by the word of the browser alone; the path holds a secret
    is_first = line.path.startswith("/set-up/") and forged == "another origin alone"
    assert answer.status == (404 if is_first else 400)
    assert (await visitor.get("/palette?q=" if stage is Stage.WHOLE else "/sign-in/code")).status == 200


@pytest.mark.parametrize("line", [line for line in UNSAFE if line.needs is not None], ids=name)
async def test_a_form_counts_only_with_the_mac_of_its_own_session(
    office: Office, people: dict[MemberRole, User], line: OfficeRoute
) -> None:
    stage = Stage.HALF if line.needs is Stage.HALF else Stage.WHOLE
    owner = people[MemberRole.OWNER]
    visitor, other = await browser(office, owner, stage), await browser(office, owner, stage)
    for csrf in ("", "AAAA", "ä", other.csrf, visitor.csrf[:-8] + "AAAAAAA="):
        answer = await send(visitor, line, csrf=csrf)
        assert (answer.status, "open for a long time" in answer.text) == (400, True)


async def test_the_mac_of_a_form_reads_otherwise_on_every_page(
    office: Office, people: dict[MemberRole, User]
) -> None:
    visitor = await browser(office, people[MemberRole.OWNER])
    seen = set()
    for _ in range(3):
        page = await visitor.get("/account")
        seen |= set(re.findall(r'name="csrf" value="([^"]+)"', page.text))
    assert len(seen) == 3


MANUAL_FILES = (
    "/docs/esign.toml.example",
    "/docs/images/{name}",
)  # the same for everybody, and kept for an hour


async def test_every_page_has_the_headers_of_pages_and_is_kept_nowhere(
    office: Office, people: dict[MemberRole, User]
) -> None:
    visitor = await browser(office, people[MemberRole.OWNER])
    for line in TABLE:
        if line.method == "GET" and line.path not in MANUAL_FILES:
            page = await visitor.get(address(line))
            own = {**PAGE_HEADERS, "Referrer-Policy": "same-origin" if page.status != 303 else "no-referrer"}
            assert {key: page.headers.get(key) for key in own} == own, line.path
            policy = page.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
            if page.status == 200 and "html" in page.headers["Content-Type"]:
                assert " style=" not in page.text and not re.search(r"<script[^>]*>[^<]", page.text)
                assert len(re.findall(r"<h1\b", page.text)) == len(re.findall(r"<main\b", page.text)) == 1


async def test_a_form_that_is_none_is_refused(office: Office, people: dict[MemberRole, User]) -> None:
    visitor = await browser(office, people[MemberRole.OWNER])
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": office.site.base}
    for data in (b"email=a&email=b", b"email=%ff", b"a=" + b"x" * 66_000, b"&".join([b"a=1"] * 101)):
        answer = await visitor._ask("POST", "/sign-in", data=data, headers=form)
        assert answer.status == 400


@pytest.mark.parametrize(
    "line",
    [
        line
        for line in TABLE
        if line.fresh and line.method == "POST" and "{id}" not in line.path and line.takes != "files"
    ],
    ids=name,
)
async def test_the_password_is_asked_for_again_with_the_form_inside(
    office: Office, people: dict[MemberRole, User], line: OfficeRoute
) -> None:
    visitor = await browser(office, people[MemberRole.OWNER])
    office.clock.advance(milliseconds=FRESH)
    before = visitor.token
    asked = await visitor.post(line.path, {"name": 'Zoë "<b>"', "csrf": visitor.csrf})
    assert (asked.status, asked.title, asked.value("name")) == (200, "Confirm it’s you", 'Zoë "<b>"')
    wrong = await visitor.post(line.path, {"name": "Zoë", PROOF: "not it", "csrf": visitor.csrf})
    assert (wrong.status, wrong.wrong()) == (422, {PROOF: "That isn’t your password."})
    assert wrong.value("name") == "Zoë" and "not it" not in wrong.text and visitor.token == before
    after = await visitor.post(line.path, {"name": "Zoë", PROOF: PASSWORD, "csrf": visitor.csrf})
    assert after.title != "Confirm it’s you" if after.status != 303 else True
    assert visitor.token != before, "what gains rights gets a new cookie"


@pytest.mark.parametrize("line", [line for line in TABLE if line.fresh and line.takes == "files"], ids=name)
async def test_a_file_is_sent_after_the_password(
    office: Office, people: dict[MemberRole, User], line: OfficeRoute
) -> None:
    """A page cannot keep it: the form is opened anew behind the question."""
    visitor = await browser(office, people[MemberRole.OWNER])
    office.clock.advance(milliseconds=FRESH)
    assert (await send(visitor, line)).to == f"/confirm?next={line.path.replace('/', '%2F')}"
    assert line.path in {one.path for one in TABLE if one.method == "GET" and one.fresh}


async def test_a_page_that_needs_it_leads_over_the_password_and_back(
    office: Office, people: dict[MemberRole, User]
) -> None:
    visitor = await browser(office, people[MemberRole.VIEWER])
    office.clock.advance(milliseconds=FRESH)
    to = (await visitor.get("/account/second-factor")).to
    assert to == "/confirm?next=%2Faccount%2Fsecond-factor&ask=password-again"
    asked = await visitor.get(to)
    assert asked.value("next") == "/account/second-factor"
    fields = {"next": asked.value("next"), "ask": asked.value("ask"), "csrf": visitor.csrf}
    assert (await visitor.post("/confirm", fields | {PROOF: ""})).status == 422
    assert (await visitor.post("/confirm", fields | {PROOF: PASSWORD})).to == "/account/second-factor"
    assert (await visitor.get("/account/second-factor")).status == 200


ELSEWHERE = [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/%09/evil.example\t",
    "javascript:alert(1)",
    "account",
    "",
    "/a\r\nSet-Cookie: x=1",
    "/ä",
]


@pytest.mark.parametrize("there", ELSEWHERE)
async def test_nobody_is_led_away(office: Office, people: dict[MemberRole, User], there: str) -> None:
    assert accept_local_path(there) is None
    visitor = office.visitor()
    email = people[MemberRole.VIEWER].email
    assert (await visitor.post("/sign-in", email=email, password=PASSWORD, next=there)).to == "/"
    await visitor.get("/account")
    assert (await visitor.post("/mode", mode="live", next=there)).to == "/?done=mode-live"
    fields = {"next": there, PROOF: PASSWORD, "csrf": visitor.csrf}
    assert (await visitor.post("/confirm", fields)).to == "/"


async def test_signing_in_leads_back_to_the_page_that_was_asked_for(
    office: Office, people: dict[MemberRole, User]
) -> None:
    visitor = office.visitor()
    to = (await visitor.get("/members?done=role")).to
    assert to == "/sign-in?next=%2Fmembers%3Fdone%3Drole"
    page = await visitor.get(to)
    fields = {"email": people[MemberRole.ADMIN].email, "password": PASSWORD, "next": page.value("next")}
    assert (await visitor.post("/sign-in", fields)).to == "/members?done=role"
    assert "Role changed." in (await visitor.get("/members?done=role")).said


async def test_a_page_that_a_role_may_not_open_says_so(
    office: Office, people: dict[MemberRole, User]
) -> None:
    visitor = await browser(office, people[MemberRole.MEMBER])
    page = await visitor.get("/members")
    assert (page.status, page.title) == (403, "You don’t have access")
    assert "Members" not in (await visitor.get("/account")).said.split("Your account")[0]
    assert (await visitor.get("/nothing")).status == 404


async def test_the_settings_lead_to_the_first_page_that_a_role_may_see(
    office: Office, people: dict[MemberRole, User]
) -> None:
    for role, first in (
        (MemberRole.OWNER, "/settings/organisation"),
        (MemberRole.ADMIN, "/settings/organisation"),
        (MemberRole.MEMBER, "/account"),
        (MemberRole.VIEWER, "/account"),
    ):
        assert (await (await browser(office, people[role])).get("/settings")).to == first


@pytest.mark.parametrize("role", ROLES)
async def test_every_entry_of_the_settings_opens_for_the_role_that_sees_it(
    office: Office, people: dict[MemberRole, User], role: MemberRole
) -> None:
    visitor = await browser(office, people[role])
    seen = [page for _, pages in find_groups(role) for page in pages]
    assert [page for _, pages in SETTINGS for page in pages if has_permission(role, page.needs)] == seen
    for page in seen:
        shown = await visitor.get(page.path)
        assert shown.status == 200 and f'href="{page.path}" aria-current="page"' in shown.text
        assert all((f'href="{other.path}"' in shown.text) for other in seen)
