from typing import Any

import pytest
import pytest_asyncio

from esign.core.document import Mode
from tests.api.site import Site
from tests.factories import an_organisation, store_organisation

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def documents(site: Site) -> list[Any]:
    """Seven documents, newest first: five drafts, then two that were sent."""
    made = []
    for number in range(7):
        site.clock.advance(milliseconds=1)
        make = site.sent if number < 2 else site.created
        recipient = site.signer(fields=[{"type": "text", "page": 1, "x": 1, "y": 1}])
        made.append(await make(title=f"Offer {number}", recipients=[recipient]))
    return made[::-1]


def ids(answer: Any) -> list[str]:
    return [document["id"] for document in answer["data"]]


async def every_page(site: Site, query: str) -> list[list[str]]:
    """The ids page by page, following the cursors."""
    pages, cursor = [], ""
    while True:
        answer = await site.ok("GET", f"/documents?{query}{cursor}")
        pages.append(ids(answer))
        assert answer["hasMore"] is (answer["nextCursor"] is not None)
        if not answer["hasMore"]:
            return pages
        cursor = f"&cursor={answer['nextCursor']}"


async def test_the_list_is_newest_first_without_fields(site: Site, documents: list[Any]) -> None:
    answer = await site.ok("GET", "/documents")
    assert ids(answer) == [document["id"] for document in documents]
    assert answer["hasMore"] is False and answer["nextCursor"] is None
    for listed, whole in zip(answer["data"], documents, strict=True):
        current = await site.get(whole["id"])
        for recipient in current["recipients"]:
            del recipient["fields"]
        assert listed == current


async def test_pages_follow_each_other_without_gap_or_repetition(site: Site, documents: list[Any]) -> None:
    expected = [document["id"] for document in documents]
    assert await every_page(site, "limit=3") == [expected[:3], expected[3:6], expected[6:]]
    assert await every_page(site, "limit=7") == [expected]


async def test_a_document_made_meanwhile_moves_no_page(site: Site, documents: list[Any]) -> None:
    first = await site.ok("GET", "/documents?limit=2")
    site.clock.advance(milliseconds=1)
    newer = await site.create()
    second = await site.ok("GET", f"/documents?limit=2&cursor={first['nextCursor']}")
    assert ids(second) == [document["id"] for document in documents[2:4]] and newer not in ids(second)


async def test_the_list_can_be_narrowed_to_statuses(site: Site, documents: list[Any]) -> None:
    sent = [document["id"] for document in documents if document["status"] == "sent"]
    assert ids(await site.ok("GET", "/documents?status=sent")) == sent
    assert ids(await site.ok("GET", "/documents?status=completed,sealing")) == []
    assert set(sent) < set(ids(await site.ok("GET", "/documents?status=draft%2Csent&limit=100")))
    assert await every_page(site, "status=sent&limit=1") == [[sent[0]], [sent[1]]]


REFUSED = [
    ("limit=0", "?limit", "range"),
    ("limit=101", "?limit", "range"),
    ("limit=ten", "?limit", "type"),
    ("limit=1.0", "?limit", "type"),
    ("limit=", "?limit", "type"),
    ("limit=1&limit=2", "?limit", "duplicate"),
    ("status=", "?status", "enum"),
    ("status=sent,unknown", "?status", "enum"),
    ("status=Sent", "?status", "enum"),
    ("colour=red", "?colour", "unknown_member"),
    ("q=offer", "?q", "unknown_member"),
    ("key=esk_live_x", "?key", "unknown_member"),
]


@pytest.mark.parametrize("query, path, rule", REFUSED, ids=[row[0] for row in REFUSED])
async def test_a_parameter_that_does_not_fit_is_named(site: Site, query: str, path: str, rule: str) -> None:
    answer = await site.ask("GET", f"/documents?{query}")
    assert answer.code == "invalid_request" and answer.places == {(path, rule)}


async def test_a_cursor_is_opaque_and_bound_to_its_filters(site: Site, documents: list[Any]) -> None:
    cursor = (await site.ok("GET", "/documents?limit=1"))["nextCursor"]
    filtered = (await site.ok("GET", "/documents?limit=1&status=sent"))["nextCursor"]
    assert documents[0]["id"] not in cursor
    assert (await site.ask("GET", f"/documents?limit=2&cursor={cursor}")).status == 200
    wrong = [
        f"cursor={filtered}",
        f"status=sent&cursor={cursor}",
        f"status=draft&cursor={filtered}",
        f"cursor={cursor[:-1]}",
        f"cursor={cursor[1:]}",
        f"cursor={cursor}!",
        f"cursor={cursor[:30]}{'B' if cursor[30] == 'A' else 'A'}{cursor[31:]}",
        "cursor=",
        "cursor=a",
        "cursor=%C3%BC",
        f"cursor={'A' * 4000}",
    ]
    for query in wrong:
        answer = await site.ask("GET", f"/documents?{query}")
        assert answer.code == "invalid_cursor", query


async def test_the_order_of_statuses_in_a_filter_does_not_matter_to_its_cursor(site: Site) -> None:
    cursor = (await site.ok("GET", "/documents?limit=1&status=draft,sent"))["nextCursor"]
    assert (await site.ask("GET", f"/documents?limit=1&status=sent,draft&cursor={cursor}")).status == 200


async def test_a_trail_s_cursor_does_not_fit_a_list(site: Site, documents: list[Any]) -> None:
    sent = next(document for document in documents if document["status"] == "sent")
    cursor = (await site.ok("GET", f"/documents/{sent['id']}/audit?limit=1"))["nextCursor"]
    assert (await site.ask("GET", f"/documents?cursor={cursor}")).code == "invalid_cursor"


async def test_a_document_whose_time_is_over_does_not_stand_among_the_sent_ones(site: Site) -> None:
    document = await site.sent(expiresInDays=1)
    site.clock.advance(days=1)
    assert document["id"] not in ids(await site.ok("GET", "/documents?status=sent&limit=100"))
    assert document["id"] in ids(await site.ok("GET", "/documents?status=expired&limit=100"))


async def test_nothing_of_another_organisation_or_mode_is_ever_listed_or_found(
    site: Site, documents: list[Any]
) -> None:
    other = await store_organisation(site.runtime.db, an_organisation())
    strangers = [
        await site.new_key(mode=Mode.TEST),
        await site.new_key(organisation=other.id),
        await site.new_key(organisation=other.id, mode=Mode.TEST),
    ]
    sent = next(document["id"] for document in documents if document["status"] == "sent")
    hook = await site.ok("POST", "/webhooks", {"url": "https://ok.test/", "events": ["*"]})
    unknown = "doc_00000000000000000000000000"
    for key in strangers:
        assert (await site.ok("GET", "/documents", key=key))["data"] == []
        for method, path in (
            ("GET", "/documents/{}"),
            ("POST", "/documents/{}/send"),
            ("GET", "/documents/{}/audit"),
            ("GET", "/documents/{}/files/original"),
            ("GET", "/documents/{}/files/sealed"),
            ("GET", "/documents/{}/files/nothing"),
        ):
            foreign = await site.ask(method, path.format(sent), key=key)
            nobody = await site.ask(method, path.format(unknown), key=key)
            assert foreign.code == nobody.code == "not_found"
            assert same(foreign) == same(nobody)
        assert (await site.ask("DELETE", f"/webhooks/{hook['id']}", key=key)).code == "not_found"
    assert (await site.ask("DELETE", f"/webhooks/{hook['id']}")).status == 200


def same(answer: Any) -> tuple[str, str, set[str]]:
    """What two answers share when nothing but the request id differs."""
    error = answer.body["error"]
    return error["code"], error["message"], set(error)
