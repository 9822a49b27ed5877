import base64
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from esign.core.actor import Mode
from tests.api.site import Site
from tests.factories import an_organisation, store_organisation

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def documents(site: Site) -> list[Any]:
    """Seven documents, newest first: five drafts, then two that were sent."""
    made = []
    for number in range(7):
        site.clock.advance(milliseconds=1)
        make = site.send_document if number < 2 else site.create_draft
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
    ("status=sent,", "?status", "enum"),
    ("status=sent&status=draft", "?status", "duplicate"),
    ("q=", "?q", "length"),
    ("q=%20%20", "?q", "length"),
    (f"q={'x' * 101}", "?q", "length"),
    ("q=a%01b", "?q", "format"),
    ("recipientEmail=", "?recipientEmail", "length"),
    ("recipientEmail=ana", "?recipientEmail", "format"),
    (f"externalId={'x' * 201}", "?externalId", "length"),
    ("externalId=", "?externalId", "length"),
    (f"templateId={'x' * 65}", "?templateId", "length"),
    ("createdAfter=2026-11-21", "?createdAfter", "format"),
    ("createdBefore=yesterday", "?createdBefore", "format"),
    ("updatedAfter=2026-11-21T00:00:00", "?updatedAfter", "format"),
    ("updatedBefore=2026-02-30T00:00:00Z", "?updatedBefore", "format"),
    ("completedAfter=1795219200", "?completedAfter", "format"),
    ("completedBefore=", "?completedBefore", "length"),
    ("sort=title", "?sort", "enum"),
    ("sort=-createdat", "?sort", "enum"),
    ("sort=", "?sort", "enum"),
    ("created_after=2026-11-21T00:00:00Z", "?created_after", "unknown_member"),
    ("key=esk_live_x", "?key", "unknown_member"),
]


@pytest.mark.parametrize("query, path, rule", REFUSED, ids=[row[0] for row in REFUSED])
async def test_a_parameter_that_does_not_fit_is_named(site: Site, query: str, path: str, rule: str) -> None:
    answer = await site.ask("GET", f"/documents?{query}")
    assert answer.code == "invalid_request" and answer.places == {(path, rule)}


# ---------- filters and orders ----------


async def find_ids(site: Site, query: str) -> list[str]:
    return ids(await site.ok("GET", f"/documents?{query}&limit=100"))


@pytest.mark.parametrize(
    "q",
    [
        "Müller",
        "MÜLLER",
        "üll",
        "strasse",
        "STRAẞE",
        "ü",
        "tr",
        "契約",
        "契",
        "order-ß",
        "zoë@",
        "ＭＵＥＬＬＥＲ.pdf",
        "7%_",
        "İPEK",
    ],
)
async def test_q_finds_any_part_of_any_text_of_a_document_in_any_case(site: Site, q: str) -> None:
    recipients = [site.signer(name="Jörg Müller"), site.signer(name="ipek", email="zoë@example.com")]
    wanted = await site.create(
        title="Straße 契約 7%_", fileName="mueller.pdf", externalId="Order-SS", recipients=recipients
    )
    other = await site.create(
        title="Lease", fileName="l.pdf", recipients=[site.signer(name="O", email="o@x.de")]
    )
    listed = await find_ids(site, f"q={quote(q)}")
    assert wanted in listed and other not in listed


async def test_q_follows_what_is_changed_and_deleted(site: Site) -> None:
    document = await site.create(title="Zanzibar")
    assert await find_ids(site, "q=zanzi") == [document]
    await site.ok("PATCH", f"/documents/{document}", {"title": "Madagascar", "externalId": "quux"})
    assert await find_ids(site, "q=zanzi") == [] and await find_ids(site, "q=QUUX") == [document]
    assert await find_ids(site, "externalId=quux") == [document]
    recipients = [site.signer(name="Xanthippe", email="x@quux.org")]
    await site.ok("PATCH", f"/documents/{document}", {"recipients": recipients})
    assert await find_ids(site, "q=xanthi") == [document] == await find_ids(site, "recipientEmail=X@Quux.org")
    await site.ok("DELETE", f"/documents/{document}")
    for query in ("q=xanthi", "q=quux", "recipientEmail=X@Quux.org", "externalId=quux"):
        assert await find_ids(site, query) == []


async def test_filters_of_one_value_take_it_whole(site: Site) -> None:
    recipients = [site.signer(email="Whole@Example.com"), site.signer(email="other@whole.example")]
    document = await site.create(externalId="Case-1", title="whole@title.com", recipients=recipients)
    assert await find_ids(site, "recipientEmail=wHOLE@example.COM") == [document]
    assert await find_ids(site, "recipientEmail=hole@example.com") == []
    assert await find_ids(site, "recipientEmail=whole@title.com") == []
    assert await find_ids(site, "externalId=Case-1") == [document]
    assert await find_ids(site, "externalId=case-1") == [] == await find_ids(site, "externalId=Case")
    assert await find_ids(site, "externalId=Case-1&recipientEmail=nobody@example.com") == []


async def test_documents_of_a_template_are_found(site: Site) -> None:
    source = await site.create(recipients=[site.signer(name="Ana")])
    template = await site.ok("POST", "/templates", {"fromDocumentId": source, "title": "T"})
    keys = [role["key"] for role in template["roles"]]
    body = {"recipients": [{"roleKey": key, "name": "Bo", "email": "bo@example.com"} for key in keys]}
    used = await site.ok("POST", f"/templates/{template['id']}/documents", body)
    assert await find_ids(site, f"templateId={template['id']}") == [used["id"]]
    assert await find_ids(site, "templateId=tpl_unknown") == []


async def test_spans_begin_with_their_first_moment_and_end_before_their_last(site: Site) -> None:
    site.clock.advance(days=1)
    first = await site.create_draft()
    site.clock.advance(milliseconds=1)
    second = await site.create_draft()
    at, then = first["createdAt"], second["createdAt"]
    assert await find_ids(site, f"createdAfter={at}") == [second["id"], first["id"]]
    assert await find_ids(site, f"createdAfter={then}") == [second["id"]]
    assert await find_ids(site, f"createdAfter={at}&createdBefore={then}") == [first["id"]]
    assert await find_ids(site, f"createdAfter={then}&createdBefore={at}") == []
    assert await find_ids(site, f"createdAfter={at}&completedAfter={at}") == []
    site.clock.advance(milliseconds=1)
    await site.ok("PATCH", f"/documents/{first['id']}", {"title": "Later"})
    changed = (await site.get(first["id"]))["updatedAt"]
    assert await find_ids(site, f"updatedAfter={at}&updatedBefore={changed}") == [second["id"]]
    assert await find_ids(site, f"updatedAfter={at}&sort=-updatedAt") == [first["id"], second["id"]]
    assert await find_ids(site, f"updatedAfter={at}&sort=updatedAt") == [second["id"], first["id"]]
    assert await find_ids(site, f"createdAfter={at}&sort=createdAt") == [first["id"], second["id"]]
    offset = quote(at.replace("Z", "+00:00"))
    assert await find_ids(site, f"createdAfter={offset}") == [second["id"], first["id"]]


# ---------- cursors ----------


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


async def test_a_cursor_fits_no_other_order_filter_organisation_or_mode(
    site: Site, documents: list[Any]
) -> None:
    asked = "q=offer&createdAfter=2020-01-01T00:00:00Z&limit=1"
    cursor = (await site.ok("GET", f"/documents?{asked}"))["nextCursor"]
    assert (await site.ask("GET", f"/documents?{asked}&cursor={cursor}")).status == 200
    for other in (
        f"{asked}&sort=createdAt",
        f"{asked}&sort=-updatedAt",
        asked.replace("offer", "offe"),
        asked.replace("After", "Before"),
        asked.replace("created", "updated"),
        asked.replace("2020", "2021"),
        f"{asked}&externalId=a",
        f"{asked}&templateId=a",
        f"{asked}&recipientEmail=a@example.com",
        f"{asked}&completedBefore=2020-01-01T00:00:00Z",
    ):
        assert (await site.ask("GET", f"/documents?{other}&cursor={cursor}")).code == "invalid_cursor", other
    elsewhere = await store_organisation(site.runtime.db, an_organisation(id="org_elsewhere"))
    for key in (await site.new_key(mode=Mode.TEST), await site.new_key(organisation=elsewhere.id)):
        answer = await site.ask("GET", f"/documents?{asked}&cursor={cursor}", key=key)
        assert answer.code == "invalid_cursor"


async def test_every_changed_bit_of_a_cursor_is_noticed(site: Site, documents: list[Any]) -> None:
    cursor = (await site.ok("GET", "/documents?limit=1"))["nextCursor"]
    packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for place in range(0, 8 * len(packed), 7):
        changed = bytearray(packed)
        changed[place // 8] ^= 1 << place % 8
        text = base64.urlsafe_b64encode(changed).rstrip(b"=").decode()
        assert (await site.ask("GET", f"/documents?cursor={text}")).code == "invalid_cursor", place


async def test_the_order_of_statuses_in_a_filter_does_not_matter_to_its_cursor(site: Site) -> None:
    cursor = (await site.ok("GET", "/documents?limit=1&status=draft,sent"))["nextCursor"]
    assert (await site.ask("GET", f"/documents?limit=1&status=sent,draft&cursor={cursor}")).status == 200


async def test_a_trail_s_cursor_does_not_fit_a_list(site: Site, documents: list[Any]) -> None:
    sent = next(document for document in documents if document["status"] == "sent")
    cursor = (await site.ok("GET", f"/documents/{sent['id']}/audit?limit=1"))["nextCursor"]
    assert (await site.ask("GET", f"/documents?cursor={cursor}")).code == "invalid_cursor"


async def test_a_document_whose_time_is_over_does_not_stand_among_the_sent_ones(site: Site) -> None:
    document = await site.send_document(expiresInDays=1)
    site.clock.advance(days=1)
    assert document["id"] not in ids(await site.ok("GET", "/documents?status=sent&limit=100"))
    assert document["id"] in ids(await site.ok("GET", "/documents?status=expired&limit=100"))


async def test_documents_that_expire_between_two_pages_leave_the_list_and_the_others_stay(site: Site) -> None:
    mark = {"externalId": "between two pages"}
    made = [(await site.send_document(expiresInDays=days, **mark))["id"] for days in (30, 1, 30, 1, 30)]
    query = "status=sent&externalId=between%20two%20pages&sort=createdAt&limit=2"
    first = await site.ok("GET", f"/documents?{query}")
    assert ids(first) == made[:2]
    site.clock.advance(days=1)
    second = await site.ok("GET", f"/documents?{query}&cursor={first['nextCursor']}")
    assert ids(second) == [made[2]], "the other one of this page has just expired"
    third = await site.ok("GET", f"/documents?{query}&cursor={second['nextCursor']}")
    assert ids(third) == [made[4]] and not third["hasMore"]
    assert ids(await site.ok("GET", f"/documents?{query}")) == [made[0]], "so has the other one here"
    assert ids(await site.ok("GET", f"/documents?{query}")) == [made[0], made[2]]


async def test_a_list_shows_each_change_at_once(site: Site) -> None:
    document = await site.create_draft(title="Before", externalId="at once")
    for title in ("After", "Before", "<b>After</b>"):
        await site.ok("PATCH", f"/documents/{document['id']}", {"title": title})
        (listed,) = (await site.ok("GET", "/documents?externalId=at%20once"))["data"]
        (newest,) = (await site.ok("GET", "/documents?limit=1"))["data"]
        whole = await site.ok("GET", f"/documents/{document['id']}")
        for recipient in whole["recipients"]:
            del recipient["fields"]
        assert listed == newest == whole and listed["title"] == title


async def test_a_cursor_of_another_organisation_or_mode_is_refused(site: Site, documents: list[Any]) -> None:
    cursor = (await site.ok("GET", "/documents?limit=1"))["nextCursor"]
    other = await store_organisation(site.runtime.db, an_organisation(id="org_cursor"))
    for key in (await site.new_key(mode=Mode.TEST), await site.new_key(organisation=other.id)):
        answer = await site.ask("GET", f"/documents?limit=1&cursor={cursor}", key=key)
        assert answer.code == "invalid_cursor"


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
