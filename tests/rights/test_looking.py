"""Looking changes nothing: programs that look through mails, prefetch links or preview them open every address."""

import hashlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from esign.store.people import members
from esign.web.office.frame.dispatch import OfficeRoute
from esign.web.office.routes import TABLE
from tests.web.office.frame.test_dispatch import name
from tests.web.office.visitor import Office, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = [line for line in TABLE if line.method == "GET"]
PREFETCH = {"Accept": "text/html", "Purpose": "prefetch", "Sec-Purpose": "prefetch"}
# That a file was served is an entry of its trail (contract 3.2). What was found on pages is kept for the next look.
SERVED = {"GET /documents/{id}/files/{variant}": {"audit", "audit_head"}}
KEPT: set[str] = set()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def ada(office: Office) -> Visitor:
    return await office.signed_in("Ada")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def ids(office: Office, ada: Visitor) -> dict[str, list[str]]:
    """What there is to look at, by the first part of its address; drafts, open and completed documents."""
    api = office.site.api
    completed, sent, draft = (
        await office.site.complete_document(),
        await api.send_document(),
        await api.create(),
    )
    template = (await api.ok("POST", "/templates", {"fromDocumentId": draft}))["id"]
    hook = (await api.ok("POST", "/webhooks", {"url": "https://ok.test/", "events": ["*"]}))["id"]
    [member] = await members.find_by_user(office.runtime.db, (await office.user_of("ada@example.test")).id)
    return {
        "/documents": [draft, sent, completed],
        "/templates": [template],
        "/settings/webhooks": [hook],
        "/settings/tokens": [(await api.ok("GET", "/account"))["key"]["id"]],
        "/settings/outbox": [(await office.mails())[0].id],
        "/settings/events": [(await api.ok("GET", "/events?limit=1"))["data"][0]["id"]],
        "/members": [member.id],
        "/verify": [completed],
    }


async def rows(office: Office) -> dict[str, str]:
    """A fingerprint of each table."""
    db, found = office.runtime.db, {}
    for table in await db.all(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
    ):
        columns = await db.all(f"SELECT name FROM pragma_table_info('{table['name']}')")
        listed = ", ".join(f'"{column["name"]}"' for column in columns)
        content = sorted(repr(tuple(row)) for row in await db.all(f"SELECT {listed} FROM {table['name']}"))
        found[table["name"]] = hashlib.sha256("\n".join(content).encode()).hexdigest()
    return found


async def addresses(office: Office, line: OfficeRoute, ids: dict[str, list[str]]) -> list[str]:
    """The line with ids that there are."""
    own = next((found for start, found in ids.items() if line.path.startswith(f"{start}/{{id}}")), ["x"])
    others = {"did": "x", "variant": "original", "number": 1, "done": 0, "token": "t" * 43, "name": "mail"}
    found = []
    for id in own:
        recipients = (await office.site.api.get(id))["recipients"] if id.startswith("doc_") else [{"id": "x"}]
        found.append(line.path.format(id=id, rid=recipients[0]["id"], **others))
    return found


@pytest.mark.parametrize("line", PAGES, ids=name)
async def test_opening_a_page_of_the_office_changes_nothing(
    office: Office, ada: Visitor, ids: dict[str, list[str]], line: OfficeRoute
) -> None:
    for path in await addresses(office, line, ids):
        for method in ("HEAD", "GET"):
            before = await rows(office)
            sent = PREFETCH | {"Cookie": f"esign={ada.token}"}
            url = f"{office.site.base}{path}"
            async with office.browser.request(method, url, headers=sent, allow_redirects=False) as answer:
                await answer.read()
                assert answer.status < 500
            changed = {table for table, content in (await rows(office)).items() if content != before[table]}
            served = SERVED.get(name(line), set()) if method == "GET" else set()
            assert changed - KEPT == served, (method, path, changed)
