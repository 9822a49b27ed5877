"""An address that leads nowhere says what was not found, and where to go: no member reads of nothing at all."""

import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from esign.core.people.permission import Permission
from esign.web.office.frame.missing_pages import MISSING
from esign.web.office.routes import TABLE
from tests.web.office.visitor import Office, Page, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

METHODS = {
    path: {line.method for line in TABLE if line.path == path} for path in {line.path for line in TABLE}
}
ONLY_GET = sorted(path for path, methods in METHODS.items() if methods == {"GET"})
ONLY_POST = sorted(path for path, methods in METHODS.items() if methods == {"POST"})


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def ada(office: Office) -> Visitor:
    return await office.signed_in("Ada")


def leads_to(page: Page) -> str:
    """Where the button of the page leads."""
    found = re.findall(r'class="btn primary" href="([^"]*)"', page.text.partition("<main")[2])
    assert len(found) == 1, found
    return str(found[0])


def fill(path: str) -> str:
    return re.sub(r"\{number\}", "1", re.sub(r"\{(id|rid|did|variant|done|token)\}", "x", path))


@pytest.mark.parametrize(
    ("path", "title", "to"),
    [
        ("/documents/nonsense", "Document not found", "/documents"),
        ("/documents/nonsense/review", "Document not found", "/documents"),
        ("/templates/x", "Template not found", "/templates"),
        ("/settings/webhooks/x", "Webhook not found", "/settings/webhooks"),
        ("/settings/tokens/x/revoke", "API key not found", "/settings/tokens"),
        ("/members/x/remove", "Member not found", "/members"),
        ("/contacts/x", "Person not found", "/contacts"),
        ("/documents/views/x/edit", "View not found", "/documents/views"),
        ("/settings/outbox/x", "Email not found", "/settings/outbox"),
        ("/settings/events/x", "Event not found", "/settings/events"),
        ("/settings/nonsense", "Page not found", "/documents"),
        ("/documents/new/x", "Page not found", "/documents"),
        ("/templates/x/y/z", "Page not found", "/templates"),
    ],
)
async def test_it_says_what_was_not_found_and_where_to_go(
    ada: Visitor, path: str, title: str, to: str
) -> None:
    page = await ada.get(path)
    assert (page.status, page.title, leads_to(page)) == (404, title, to)
    assert "There is nothing here" not in page.said and "Nothing was found at this address" not in page.said
    assert (await ada.get(to)).status == 200
    gone = "It may have been deleted, or it belongs to another organisation or to test mode."
    assert (gone in page.said) is (title != "Page not found")


async def test_a_part_leads_to_its_whole(office: Office, ada: Visitor) -> None:
    document = await office.site.api.create()
    page = await ada.get(f"/documents/{document}/recipients/x")
    assert (page.status, page.title) == (404, "Recipient not found")
    assert leads_to(page) == f"/documents/{document}"
    hook = (await office.site.api.ok("POST", "/webhooks", {"url": "https://ok.test/", "events": ["*"]}))["id"]
    page = await ada.get(f"/settings/webhooks/{hook}/deliveries/x")
    assert page.title == "Delivery not found" and leads_to(page) == f"/settings/webhooks/{hook}"


@pytest.mark.parametrize("path", ONLY_POST)
async def test_an_address_of_a_button_says_so(ada: Visitor, path: str) -> None:
    page = await ada.get(fill(path))
    if page.status == 404:  # its form is below an address that names an id, as /documents/sample
        assert page.title.endswith("not found")
        return
    assert (page.status, page.title) == (405, "This address can’t be opened")
    assert page.headers["Allow"] == "POST" and "belongs to a button" in page.said


@pytest.mark.parametrize("path", ONLY_GET)
async def test_a_page_that_takes_no_form_says_so(ada: Visitor, path: str) -> None:
    page = await ada.post(fill(path))
    if page.status != 405:  # another line of the table takes forms of this shape, as /documents/{id}/sign
        assert page.status in (303, 404, 422)
        return
    assert page.title == "This address can’t be opened" and "doesn’t accept forms" in page.said


async def test_a_script_gets_json_and_a_stranger_the_common_page(office: Office, ada: Visitor) -> None:
    answer = await ada.get("/settings/nonsense", headers={"Accept": "application/json"})
    assert (answer.status, json.loads(answer.text)["error"]["code"]) == (404, "not_found")
    nobody = office.visitor()
    assert "Page not found" in (await nobody.get("/settings/nonsense")).text
    assert (await nobody.get("/sign-out")).status == 405
    assert (await nobody.get("/documents/x")).to.startswith("/sign-in")


async def test_every_list_that_is_led_to_is_a_page() -> None:
    pages = {line.path for line in TABLE if line.method == "GET" and isinstance(line.needs, Permission)}
    assert {one.path for one in MISSING.values()} <= pages
