"""What a signing link opens: every address behind it × who holds it × mode, as `table` says; and nowhere else."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.office.routes import TABLE
from esign.web.rest.endpoint import Endpoint
from tests.api.test_matrix import name_endpoint
from tests.journeys.api import Answer, Api, Person
from tests.rights.table import LINK, OFFICE, OPENED_BY, RightsRow
from tests.web.office.frame.test_dispatch import address, name
from tests.web.office.visitor import Office, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACCESS_CODE = "seven violet tractors"
HOLDERS: dict[str, dict[str, Any]] = {
    "signer": {"role": "signer"},
    "approver": {"role": "approver"},
    "reader": {"role": "viewer"},
    "uncoded": {"role": "signer", "authentication": "access_code", "accessCode": ACCESS_CODE},
}
BODIES: dict[str, dict[str, Any]] = {
    "authenticate": {"code": ACCESS_CODE},
    "draft": {"since": 0, "values": {}},
    "decline": {"reason": None},
    "letters": {"text": "Ada", "hand": "a"},
    "handoff": {"kind": "signature"},
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def apis(office: Office) -> dict[Mode, Api]:
    """A key of each mode for everything."""
    return {mode: await office.site.key(mode=mode) for mode in Mode}


@dataclass
class Sent:
    """A document that is out to one of each, and their links."""

    api: Api
    id: str
    links: dict[str, str]


async def a_document(api: Api) -> Sent:
    people = [{"name": name, "email": f"{name}@example.test", **more} for name, more in HOLDERS.items()]
    document = await api.send_document(recipients=people)
    links = {
        one["name"]: (await api.ok("POST", f"/documents/{document}/recipients/{one['id']}/link", {}))["url"]
        for one in (await api.get(document))["recipients"]
    }
    return Sent(api, document, links)


async def ask(person: Person, row: RightsRow) -> Answer:
    below = row.path.removeprefix("/s/{token}").removeprefix("/").replace(":int", "")
    below = below.format_map({"id": "hnd_nobody", "number": 1, "done": 1})
    if row.method == "GET":
        return await person.get(f"/{below}" if below else "")
    if below == "complete":
        answer = await person.complete()
        return answer if answer.status == 200 else await person.complete({})  # who approves signs nothing
    return await person.post(below, BODIES.get(below, {}))


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("row", LINK.values(), ids=lambda row: row.operation)
async def test_a_link_opens_what_the_table_says(
    office: Office, apis: dict[Mode, Api], row: RightsRow, mode: Mode
) -> None:
    """For each holder a document of their own: one act may end it for all."""
    for (holder, _), expected in zip(HOLDERS.items(), row.words, strict=True):
        sent = await a_document(apis[mode])
        before = await sent.api.get(sent.id)
        answer = await ask(Person(office.site.session, sent.links[holder]), row)
        found = "n" if answer.status >= 400 else "y"
        assert found == ("n" if expected == "n" else "y"), (holder, answer.status, answer.content[:200])
        if expected != "y":
            assert await sent.api.get(sent.id) == before
            drafts = await office.runtime.db.one("SELECT count(*) AS n FROM draft")
            assert drafts is not None and drafts["n"] == 0


@pytest.mark.parametrize("mode", Mode)
async def test_a_sealed_file_is_for_whoever_took_part_and_gave_their_code(
    office: Office, apis: dict[Mode, Api], mode: Mode
) -> None:
    sent = await a_document(apis[mode])
    people = {holder: Person(office.site.session, link) for holder, link in sent.links.items()}
    proven = Person(office.site.session, sent.links["uncoded"])
    assert (await proven.enter(ACCESS_CODE)).status == 200
    await people["signer"].sign()
    await people["approver"].sign({})
    await proven.sign()
    await office.site.work("seal")
    assert await sent.api.status(sent.id) == "completed"
    for holder, person in people.items():
        status = (await person.get("/sealed.pdf")).status
        assert (status == 200) == (holder != "uncoded"), (holder, status)
    assert (await proven.get("/sealed.pdf")).status == 200


# ---------- nowhere else ----------


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if not one.public], ids=name_endpoint)
async def test_a_link_is_no_key_of_the_api(office: Office, endpoint: Endpoint, a_token: str) -> None:
    headers = {"Authorization": f"Bearer {a_token}"}
    url = office.site.base + endpoint.path.format_map({"id": "x", "rid": "x", "did": "x", "variant": "x"})
    async with office.site.session.request(endpoint.method, url, headers=headers) as answer:
        assert answer.status == 401
        assert (await answer.json())["error"]["code"] == "invalid_api_key"


BEHIND = [line for line in TABLE if OFFICE[name(line)].words[0] in OPENED_BY]


async def test_neither_a_link_nor_a_key_signs_in_at_the_office(
    office: Office, apis: dict[Mode, Api], a_token: str
) -> None:
    key = apis[Mode.LIVE]._key
    for line in BEHIND:
        for secret in (a_token, key):
            sent = {
                "Cookie": f"esign={secret}",
                "Authorization": f"Bearer {secret}",
                "Origin": office.site.base,
                "Accept": "text/html",
            }
            to = await ask_office(office.site.session, line.method, office.site.base + address(line), sent)
            assert to.startswith("/sign-in"), (line.path, to)


async def ask_office(session: aiohttp.ClientSession, method: str, url: str, headers: dict[str, str]) -> str:
    """Where the answer leads."""
    data = {"csrf": ""} if method == "POST" else None
    async with session.request(method, url, headers=headers, data=data, allow_redirects=False) as answer:
        return answer.headers.get("Location", str(answer.status))


async def test_neither_a_key_nor_a_session_is_a_link(
    office: Office, apis: dict[Mode, Api], a_token: str
) -> None:
    visitor = await office.signed_in("Ada", MemberRole.OWNER)
    key = apis[Mode.LIVE]._key
    unknown = await Person(office.site.session, f"{office.site.base}/s/{'A' * len(a_token)}").state()
    assert unknown == "unknown"
    for secret in (key, visitor.token):
        assert await Person(office.site.session, f"{office.site.base}/s/{secret}").state() == unknown
    assert await Person(office.site.session, f"{office.site.base}/s/{a_token}").state() == "open"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def a_token(apis: dict[Mode, Api]) -> str:
    return (await a_document(apis[Mode.LIVE])).links["signer"].rpartition("/")[2]
