"""`If-None-Match` (contract 3.1): 304 while the object has the revision that the client knows; no right is skipped."""

import pytest

from esign.core.actor import Mode
from esign.core.instant import DAY
from esign.core.people.api_key import Scope
from tests.api.site import Site, SiteAnswer

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHERS = ['"2"', '"11"', "1", '"1', "", '"a", 1', '"*"', 'w/"1"', 'W/ "1"']
OTHERS += ['"1"x', 'x"1"', '"1", x', 'x, "1"', '"1" *', '"1", *', ",", '"a "1"', '"a, "1", "']
OTHERS += ['"1" "2"', '"2""1"', '"2"\t"1"']


async def ask_again(site: Site, path: str, tag: str, method: str = "GET", key: str = "") -> SiteAnswer:
    return await site.ask(method, path, key=key, headers={"If-None-Match": tag})


async def create_template(site: Site) -> str:
    body = {"fromDocumentId": await site.create()}
    return str((await site.ok("POST", "/templates", body))["id"])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("kind", ["documents", "templates"])
@pytest.mark.parametrize(
    "tag", ['"1"', 'W/"1"', '"7", "1"', '"7" , W/"1"', "*", ',"1",', '"7",, "1"', '"7,"\t,"1"', '"", "1"']
)
async def test_what_has_not_changed_is_not_sent_again(site: Site, method: str, kind: str, tag: str) -> None:
    made = await (site.create() if kind == "documents" else create_template(site))
    answer = await ask_again(site, f"/{kind}/{made}", tag, method)
    assert (answer.status, answer.content, answer.headers["etag"]) == (304, b"", '"1"')
    assert "content-type" not in answer.headers and "content-length" not in answer.headers


@pytest.mark.parametrize("tag", OTHERS)
async def test_any_other_tag_gets_the_whole_answer(site: Site, tag: str) -> None:
    answer = await ask_again(site, f"/documents/{await site.create()}", tag)
    assert (answer.status, answer.headers["etag"]) == (200, '"1"')


async def test_a_change_ends_not_modified_at_once(site: Site) -> None:
    path = f"/documents/{await site.create()}"
    for revision in range(1, 4):
        tag = f'"{revision}"'
        assert (await ask_again(site, path, tag)).status == 304
        await site.ok("PATCH", path, {"title": f"title {revision}"})
        answer = await ask_again(site, path, tag)
        assert (answer.status, answer.body["title"]) == (200, f"title {revision}")


async def test_a_document_past_its_expiry_expires_before_it_is_compared(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()], expiresInDays=1)
    await site.await_jobs()
    path = f"/documents/{document['id']}"
    tag = (await site.ask("GET", path)).headers["etag"]
    assert (await ask_again(site, path, tag)).status == 304
    site.clock.advance(days=2)
    answer = await ask_again(site, path, tag)
    assert (answer.status, answer.body["status"]) == (200, "expired")


async def test_a_deleted_document_is_not_found_whatever_the_client_knows(site: Site) -> None:
    path = f"/documents/{await site.create()}"
    assert (await ask_again(site, path, '"1"')).status == 304
    await site.ok("DELETE", path)
    for tag in ('"1"', "*"):
        assert (await ask_again(site, path, tag)).code == "not_found"


async def test_rights_come_before_not_modified(site: Site) -> None:
    path = f"/documents/{await site.create()}"
    assert (await ask_again(site, path, "*")).status == 304
    writer = await site.new_key(Scope.DOCUMENTS_WRITE)
    assert (await ask_again(site, path, "*", key=writer)).code == "insufficient_scope"
    tester = await site.new_key(mode=Mode.TEST)
    assert (await ask_again(site, path, "*", key=tester)).code == "not_found"
    brief = await site.new_key(days=1)
    assert (await ask_again(site, path, "*", key=brief)).status == 304
    site.clock.advance(milliseconds=DAY)
    assert (await ask_again(site, path, "*", key=brief)).code == "api_key_expired"
    assert (await ask_again(site, f"{path}?a=1", "*")).code == "invalid_request"


async def test_each_owner_is_answered_for_itself_at_the_same_path(site: Site) -> None:
    """An answer that was kept for one owner is never found by another."""
    path = f"/documents/{await site.create()}"
    tester = await site.new_key(mode=Mode.TEST)
    for _ in range(2):
        assert (await site.ask("GET", path)).status == 200
        assert (await site.ask("GET", path, key=tester)).code == "not_found"
