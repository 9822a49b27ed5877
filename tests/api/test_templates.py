from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from esign.core.actor import Mode
from esign.core.instant import parse, rfc3339
from esign.core.people.api_key import Scope
from esign.jobs import prune
from esign.web.api.endpoint_table import describe
from tests.api.site import ONE_PAGE, Site, SiteAnswer, a_config, gather, running
from tests.factories import an_organisation, store_organisation
from tests.journeys.api import a_signature, until
from tests.journeys.receiver import receiving

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIGNATURE = {"type": "signature", "page": 1, "x": 10, "y": 80}
PLOT = {"type": "text", "page": 1, "x": 10, "y": 10, "key": "plot", "label": "Plot"}
PRICE = {"type": "number", "page": 1, "x": 10, "y": 20, "key": "price", "readOnly": True, "value": "1"}
ROLE = {"key": "tenant", "name": "Tenant", "fields": [SIGNATURE, PLOT, PRICE]}
LATER = parse("2030-01-01T00:00:00Z")  # so that the first organisation stays the one that keys are made for
UNKNOWN = "tpl_00000000000000000000000000"


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {"recipients": 4, "fields": 6}


def a_body(**changes: Any) -> dict[str, Any]:
    """The body that creates a template of one page with one role; None leaves a member out."""
    body = {"fileName": "lease.pdf", "file": ONE_PAGE, "roles": [ROLE], **changes}
    return {name: value for name, value in body.items() if value is not None}


def a_use(**changes: Any) -> dict[str, Any]:
    return {"recipients": [taker()], **changes}


def taker(**changes: Any) -> dict[str, Any]:
    return {"roleKey": "tenant", "name": "Ada Lovelace", "email": "ada@example.test", **changes}


async def create_template(site: Site, **changes: Any) -> Any:
    return await site.ok("POST", "/templates", a_body(**changes))


async def use_template(site: Site, template: Any, **changes: Any) -> Any:
    """The document made by a use, as GET shows it."""
    made = await site.ok("POST", f"/templates/{template['id']}/documents", a_use(**changes))
    return await site.get(made["id"])


# ---------- create ----------


async def test_the_smallest_body_makes_a_template_with_every_default(site: Site) -> None:
    answer = await site.ask("POST", "/templates", a_body(roles=None))
    now = rfc3339(site.clock.now())
    template = answer.body
    assert answer.status == 201 and answer.headers["etag"] == '"1"'
    assert answer.headers["location"] == f"/api/v1/templates/{template['id']}"
    assert template["id"].startswith("tpl_") and len(template["id"]) == 30
    assert template == {
        "id": template["id"],
        "title": "lease",
        "fileName": "lease.pdf",
        "pageCount": 1,
        "revision": 1,
        "mode": "live",
        "subject": None,
        "message": None,
        "expiresInDays": 30,
        "reminders": {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 5},
        "createdAt": now,
        "updatedAt": now,
        "roles": [],
    }


EVERYTHING: dict[str, Any] = {
    "title": "Lease of a plot",
    "subject": "Your lease",
    "message": "Dear tenant,\nplease sign.",
    "expiresInDays": 7,
    "reminders": {"enabled": False, "firstAfterDays": 1, "everyDays": 2, "max": 0},
}


async def test_every_optional_member_comes_back_as_it_was_given(site: Site) -> None:
    template = await create_template(site, **EVERYTHING, roles=[ROLE | {"order": 3}, {"key": "owner_2"}])
    assert {name: template[name] for name in EVERYTHING} == EVERYTHING
    tenant, owner = template["roles"]
    assert tenant["id"].startswith("rol_") and tenant["id"] != owner["id"]
    assert [field["type"] for field in tenant["fields"]] == ["signature", "text", "number"]
    assert tenant["fields"][2]["value"] == "1" and tenant["fields"][2]["readOnly"] is True
    assert (tenant["key"], tenant["name"], tenant["role"], tenant["order"]) == (
        "tenant",
        "Tenant",
        "signer",
        3,
    )
    assert owner == {
        "id": owner["id"], "key": "owner_2", "name": "owner_2", "role": "signer", "order": 1, "fields": []
    }  # fmt: skip
    assert await site.ok("GET", f"/templates/{template['id']}") == template


async def test_null_for_an_optional_member_means_that_it_is_absent(site: Site) -> None:
    role = {"key": "tenant"} | dict.fromkeys(("name", "role", "order", "fields"))
    body = a_body(roles=[role]) | dict.fromkeys((*EVERYTHING, "fromDocumentId"))
    template = await site.ok("POST", "/templates", body)
    assert template["title"] == "lease" and template["roles"][0]["name"] == "tenant"


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"fileName": None}, "/fileName", "required"),
    ({"file": None}, "/file", "required"),
    ({"fileName": "a/b.pdf"}, "/fileName", "format"),
    ({"title": "t" * 201}, "/title", "length"),
    ({"title": 5}, "/title", "type"),
    ({"expiresInDays": 366}, "/expiresInDays", "range"),
    ({"reminders": {"max": 11}}, "/reminders/max", "range"),
    ({"locale": "en"}, "/locale", "unknown_member"),
    ({"metadata": {}}, "/metadata", "unknown_member"),
    ({"colour": "red"}, "/colour", "unknown_member"),
    ({"roles": {}}, "/roles", "type"),
    ({"roles": [{}]}, "/roles/0/key", "required"),
    ({"roles": [{"key": ""}]}, "/roles/0/key", "format"),
    ({"roles": [{"key": "k" * 41}]}, "/roles/0/key", "format"),
    ({"roles": [{"key": "Tenant"}]}, "/roles/0/key", "format"),
    ({"roles": [{"key": "a\n"}]}, "/roles/0/key", "format"),
    ({"roles": [{"key": "a", "id": "rol_1"}]}, "/roles/0/id", "unknown_member"),
    ({"roles": [{"key": "a", "order": 101}]}, "/roles/0/order", "range"),
    ({"roles": [{"key": "a", "name": ""}]}, "/roles/0/name", "length"),
    ({"roles": [{"key": "a", "role": "owner"}]}, "/roles/0/role", "enum"),
    ({"roles": [{"key": "a"}, {"key": "b"}, {"key": "a"}]}, "/roles/2/key", "duplicate"),
    ({"roles": [{"key": f"r{n}"} for n in range(5)]}, "/roles", "length"),
    ({"roles": [{"key": "a", "fields": [SIGNATURE] * 4}, {"key": "b", "fields": [SIGNATURE] * 3}]}, "/roles", "length"),
    ({"roles": [{"key": "a", "fields": [PLOT]}, {"key": "b", "fields": [PLOT]}]}, "/roles/1/fields/0/key", "duplicate"),
    ({"roles": [{"key": "a", "fields": [PLOT | {"value": 5}]}]}, "/roles/0/fields/0/value", "type"),
    ({"roles": [{"key": "a", "fields": [PRICE | {"value": None}]}]}, "/roles/0/fields/0/value", "required"),
    ({"roles": [{"key": "a", "fields": [{"type": "stamp"}]}]}, "/roles/0/fields/0/type", "enum"),
    ({"roles": [{"key": "a", "role": "viewer", "fields": [SIGNATURE]}]}, "/roles/0/fields", "reference"),
    ({"roles": [{"key": "a", "role": "cc", "fields": [SIGNATURE]}]}, "/roles/0/fields", "reference"),
]  # fmt: skip


@pytest.mark.parametrize("given, path, rule", REFUSED, ids=[f"{row[1]} {n}" for n, row in enumerate(REFUSED)])
async def test_what_is_refused_names_the_member_and_the_rule(
    site: Site, given: dict[str, Any], path: str, rule: str
) -> None:
    answer = await site.ask("POST", "/templates", a_body(**given))
    assert answer.code == "invalid_request" and answer.places == {(path, rule)}


@pytest.mark.parametrize("body", [None, [], "file", 5])
async def test_a_body_that_is_no_object_is_refused(site: Site, body: Any) -> None:
    answer = await site.ask("POST", "/templates", data=b"null" if body is None else None, body=body,
                            headers={"Content-Type": "application/json"})  # fmt: skip
    assert answer.code == "invalid_request" and answer.places == {("", "type")}


async def test_a_group_of_check_boxes_that_nobody_could_fill_in_is_refused(site: Site) -> None:
    box = {"type": "checkbox", "page": 1, "x": 1, "y": 1, "group": "g", "minChecked": 2}
    answer = await site.ask("POST", "/templates", a_body(roles=[{"key": "a", "fields": [box]}]))
    assert answer.places == {("/roles/0/fields/0/minChecked", "range")}


async def test_the_file_is_inspected_and_every_field_must_lie_on_its_page(site: Site) -> None:
    assert (await site.ask("POST", "/templates", a_body(file="!"))).code == "invalid_file"
    assert (await site.ask("POST", "/templates", a_body(file="AAAA"))).code == "invalid_file"
    fields = [PLOT | {"page": 2}, PLOT | {"x": 90, "width": 20, "key": None}]
    answer = await site.ask(
        "POST", "/templates", a_body(roles=[{"key": "a"}, {"key": "b", "fields": fields}])
    )
    assert answer.code == "field_out_of_bounds"
    assert answer.places == {("/roles/1/fields/0/page", "range"), ("/roles/1/fields/1/width", "range")}


# ---------- from a document ----------


async def test_a_document_becomes_a_template_without_its_people(site: Site) -> None:
    recipient = site.signer(name="Ada Lovelace", order=2, fields=[SIGNATURE, PLOT | {"value": "14 B"}])
    document = await site.create_draft(**EVERYTHING, recipients=[recipient, site.signer()], fileName="a.pdf")
    answer = await site.ask("POST", "/templates", {"fromDocumentId": document["id"]})
    template = answer.body
    assert answer.status == 201
    assert {name: template[name] for name in EVERYTHING} == EVERYTHING
    assert (template["fileName"], template["pageCount"], template["revision"]) == ("a.pdf", 1, 1)
    assert [(role["key"], role["name"], role["order"]) for role in template["roles"]] == [
        ("signer_1", "Signer 1", 2),
        ("signer_2", "Signer 2", 1),
    ]
    assert template["roles"][0]["fields"][1]["value"] == "14 B"
    assert (
        recipient["email"].encode() not in answer.content and recipient["name"].encode() not in answer.content
    )


async def test_a_document_past_its_time_expires_before_a_template_is_made_of_it(site: Site) -> None:
    document = await site.send_document(expiresInDays=1)
    site.clock.advance(days=1)
    assert (await site.ask("POST", "/templates", {"fromDocumentId": document["id"]})).status == 201
    rows = await site.runtime.db.all("SELECT status FROM document WHERE id = :id", id=document["id"])
    assert [row["status"] for row in rows] == ["expired"]


async def test_what_a_signer_filled_in_does_not_go_into_a_template(site: Site) -> None:
    signer = site.signer(fields=[SIGNATURE, PLOT])
    document = await site.send_document(recipients=[signer])
    signature, plot = (field["id"] for field in document["recipients"][0]["fields"])
    await (await site.person(signer["email"])).sign({signature: a_signature(), plot: "a secret"})
    await site.wait_until_sealed(document["id"])
    template = await site.ok("POST", "/templates", {"fromDocumentId": document["id"], "title": "Again"})
    assert template["title"] == "Again"
    assert [field["value"] for field in template["roles"][0]["fields"]] == [None, None]
    again = await site.ok("POST", f"/templates/{template['id']}/documents", a_use(
        recipients=[taker(roleKey="signer_1")]
    ))  # fmt: skip
    assert await site.bytes_of(again["id"], "original") == await site.bytes_of(document["id"], "original")


async def test_a_document_that_is_not_the_caller_s_is_not_found(site: Site) -> None:
    document = await site.create()
    test = await site.new_key(mode=Mode.TEST)
    for unknown, key in (("doc_00000000000000000000000000", ""), ("x", ""), (document, test)):
        answer = await site.ask("POST", "/templates", {"fromDocumentId": unknown}, key=key)
        assert answer.code == "not_found"


FROM_DOCUMENT = [
    ({"fileName": "a.pdf"}, "/fileName", "unknown_member"),
    ({"roles": []}, "/roles", "unknown_member"),
    ({"title": ""}, "/title", "length"),
    ({"fromDocumentId": 5}, "/fromDocumentId", "type"),
    ({"fromDocumentId": ""}, "/fromDocumentId", "length"),
]


@pytest.mark.parametrize("given, path, rule", FROM_DOCUMENT, ids=[row[1] for row in FROM_DOCUMENT])
async def test_a_template_comes_from_a_file_or_from_a_document(
    site: Site, given: dict[str, Any], path: str, rule: str
) -> None:
    answer = await site.ask("POST", "/templates", {"fromDocumentId": "doc_1", **given})
    assert answer.code == "invalid_request" and answer.places == {(path, rule)}


# ---------- list ----------


async def pages(site: Site, query: str, key: str = "") -> list[list[str]]:
    """The titles page by page, following the cursors."""
    found, cursor = [], ""
    while True:
        answer = await site.ok("GET", f"/templates?{query}{cursor}", key=key)
        found.append([template["title"] for template in answer["data"]])
        assert answer["hasMore"] is (answer["nextCursor"] is not None)
        if not answer["hasMore"]:
            return found
        cursor = f"&cursor={answer['nextCursor']}"


async def test_templates_are_listed_newest_first_without_fields_and_searched_by_title(site: Site) -> None:
    other = await store_organisation(site.runtime.db, an_organisation(id="org_zlisted", created_at=LATER))
    key = await site.new_key(organisation=other.id)
    made = []
    for title in ("Größe 1", "Loan", "GRÖSSE 2", "100% Größe 3"):
        site.clock.advance(milliseconds=1)
        made.append(await site.ok("POST", "/templates", a_body(title=title), key=key))
    assert await pages(site, "limit=3", key) == [["100% Größe 3", "GRÖSSE 2", "Loan"], ["Größe 1"]]
    assert await pages(site, "q=gr%C3%B6sse&limit=2", key) == [["100% Größe 3", "GRÖSSE 2"], ["Größe 1"]]
    assert await pages(site, "q=%25", key) == [["100% Größe 3"]]
    assert await pages(site, "q=lease", key) == [[]]
    [first, *_] = (await site.ok("GET", "/templates", key=key))["data"]
    for role in made[-1]["roles"]:
        del role["fields"]
    assert first == made[-1]


LISTS = [
    ("limit=0", "?limit", "range"),
    ("q=", "?q", "length"),
    ("q=%20", "?q", "length"),
    ("q=" + "a" * 101, "?q", "length"),
    ("q=a%0Ab", "?q", "format"),
    ("status=draft", "?status", "unknown_member"),
]


@pytest.mark.parametrize("query, path, rule", LISTS, ids=[row[0][:9] for row in LISTS])
async def test_a_parameter_that_does_not_fit_is_named(site: Site, query: str, path: str, rule: str) -> None:
    answer = await site.ask("GET", f"/templates?{query}")
    assert answer.code == "invalid_request" and answer.places == {(path, rule)}


async def test_a_cursor_is_bound_to_its_search(site: Site) -> None:
    for _ in range(2):
        await create_template(site)
    cursor = (await site.ok("GET", "/templates?limit=1&q=lease"))["nextCursor"]
    assert (await site.ask("GET", f"/templates?limit=1&q=lease&cursor={cursor}")).status == 200
    for query in ("", "q=leas&", "q=lease&x"):
        code = "invalid_request" if "x" in query else "invalid_cursor"
        assert (
            await site.ask("GET", f"/templates?{query}{'=1&' if 'x' in query else ''}cursor={cursor}")
        ).code == code
    assert (await site.ask("GET", f"/documents?cursor={cursor}")).code == "invalid_cursor"


# ---------- change ----------


async def test_a_change_touches_what_it_names_and_raises_the_revision(site: Site) -> None:
    before = await create_template(site, **EVERYTHING)
    site.clock.advance(seconds=1)
    answer = await site.ask("PATCH", f"/templates/{before['id']}", {"title": "Loan", "expiresInDays": 9})
    now = rfc3339(site.clock.now())
    assert answer.body == before | {"title": "Loan", "expiresInDays": 9, "revision": 2, "updatedAt": now}
    assert answer.headers["etag"] == '"2"'
    assert await site.ok("GET", f"/templates/{before['id']}") == answer.body


async def test_null_puts_the_default_back(site: Site) -> None:
    before = await create_template(site, **EVERYTHING)
    after = await site.ok("PATCH", f"/templates/{before['id']}", dict.fromkeys((*EVERYTHING, "roles")))
    assert (after["title"], after["subject"], after["message"]) == ("lease", None, None)
    assert (after["expiresInDays"], after["roles"]) == (30, [])
    assert after["reminders"] == {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 5}


async def test_an_object_replaces_the_whole_object(site: Site) -> None:
    before = await create_template(site, **EVERYTHING)
    after = await site.ok("PATCH", f"/templates/{before['id']}", {"reminders": {"max": 1}})
    assert after["reminders"] == {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 1}


async def test_a_change_that_changes_nothing_is_none(site: Site) -> None:
    before = await create_template(site)
    site.clock.advance(seconds=1)
    for body in ({}, {"title": "lease"}, {"roles": [{"id": before["roles"][0]["id"]}]}):
        answer = await site.ask("PATCH", f"/templates/{before['id']}", body)
        assert answer.body == before and answer.headers["etag"] == '"1"'


async def test_roles_named_by_id_keep_what_is_left_out_and_the_list_is_replaced(site: Site) -> None:
    before = await create_template(site, roles=[ROLE, {"key": "owner"}, {"key": "agent"}])
    tenant, owner, _ = before["roles"]
    given = [{"id": owner["id"], "order": 2}, {"key": "clerk"}, {"id": tenant["id"], "name": "Lodger"}]
    after = await site.ok("PATCH", f"/templates/{before['id']}", {"roles": given})
    clerk = after["roles"][1]
    assert after["roles"] == [owner | {"order": 2}, clerk, tenant | {"name": "Lodger"}]
    assert (clerk["key"], clerk["name"], clerk["fields"]) == ("clerk", "clerk", [])
    assert clerk["id"] not in {role["id"] for role in before["roles"]}


async def test_null_in_a_role_puts_its_default_back(site: Site) -> None:
    before = await create_template(site, roles=[ROLE | {"order": 3}])
    role = before["roles"][0]
    given = {"id": role["id"]} | dict.fromkeys(("name", "role", "order", "fields"))
    after = await site.ok("PATCH", f"/templates/{before['id']}", {"roles": [given]})
    assert after["roles"] == [
        {"id": role["id"], "key": "tenant", "name": "tenant", "role": "signer", "order": 1, "fields": []}
    ]


async def test_the_fields_of_a_role_are_replaced_as_a_whole(site: Site) -> None:
    before = await create_template(site)
    role = before["roles"][0]
    given = {"roles": [{"id": role["id"], "fields": [PLOT | {"key": "lot"}]}]}
    after = await site.ok("PATCH", f"/templates/{before['id']}", given)
    [field] = after["roles"][0]["fields"]
    assert field["key"] == "lot" and field["id"] not in {old["id"] for old in role["fields"]}


CHANGES: list[tuple[Any, set[tuple[str, str]]]] = [
    ({"roles": [{"id": "rol_other"}]}, {("/roles/0/id", "reference")}),
    ({"roles": [{"id": "ROLE"}, {"id": "ROLE"}]}, {("/roles/1/id", "duplicate")}),
    (
        {"roles": [{"id": "rol_other"}, {"id": "rol_third"}, {"id": "ROLE"}, {"key": "tenant"}]},
        {("/roles/0/id", "reference"), ("/roles/1/id", "reference"), ("/roles/3/key", "duplicate")},
    ),
    ({"roles": [{"id": "ROLE"}, {"key": "tenant"}]}, {("/roles/1/key", "duplicate")}),
    ({"roles": [{"name": "New"}]}, {("/roles/0/key", "required")}),
    ({"roles": [{"id": "ROLE", "key": None}]}, {("/roles/0/key", "required")}),
    ({"roles": [{"id": "ROLE"}, {"key": "b", "fields": [PLOT]}]}, {("/roles/1/fields/0/key", "duplicate")}),
    ({"roles": [{"key": f"r{n}"} for n in range(5)]}, {("/roles", "length")}),
    ({"title": ""}, {("/title", "length")}),
    ({"file": ONE_PAGE}, {("/file", "unknown_member")}),
    ({"revision": 1}, {("/revision", "unknown_member")}),
    ({"expiresInDays": "9"}, {("/expiresInDays", "type")}),
]


@pytest.mark.parametrize("body, places", CHANGES)
async def test_a_change_that_does_not_fit_is_refused_whole(
    site: Site, body: Any, places: set[tuple[str, str]]
) -> None:
    before = await create_template(site)
    role = before["roles"][0]["id"]
    if "roles" in body:
        entries = [{**e, "id": role} if e.get("id") == "ROLE" else e for e in body["roles"]]
        body = body | {"roles": entries}
    answer = await site.ask("PATCH", f"/templates/{before['id']}", {"subject": "New"} | body)
    assert answer.code == "invalid_request" and answer.places == places
    assert await site.ok("GET", f"/templates/{before['id']}") == before


async def test_changed_fields_must_lie_on_the_pages(site: Site) -> None:
    before = await create_template(site)
    roles = [{"id": before["roles"][0]["id"], "fields": [PLOT | {"page": 2}]}]
    answer = await site.ask("PATCH", f"/templates/{before['id']}", {"roles": roles})
    assert answer.code == "field_out_of_bounds" and answer.places == {("/roles/0/fields/0/page", "range")}


# ---------- revisions ----------


async def test_if_match_lets_only_the_seen_revision_be_changed_or_deleted(site: Site) -> None:
    path = f"/templates/{(await create_template(site))['id']}"
    assert (await site.ask("PATCH", path, {"title": "One"}, headers={"If-Match": '"1"'})).status == 200
    for method, body in (("PATCH", {"title": "Two"}), ("DELETE", None)):
        stale = await site.ask(method, path, body, headers={"If-Match": '"1"'})
        assert stale.code == "revision_mismatch" and "template" in stale.body["error"]["message"]
        assert (await site.ask(method, path, body, headers={"If-Match": "2"})).code == "invalid_request"
    assert (await site.ok("GET", path))["title"] == "One"
    assert (await site.ask("PATCH", path, {"title": "Two"}, headers={"If-Match": "*"})).status == 200
    assert (await site.ask("DELETE", path, headers={"If-Match": '"3"'})).status == 200


async def test_of_changes_at_once_to_one_revision_exactly_one_wins(site: Site) -> None:
    path = f"/templates/{(await create_template(site))['id']}"
    answers: list[SiteAnswer] = await gather(*(
        site.ask("PATCH", path, {"title": f"Winner {n}"}, headers={"If-Match": '"1"'}) for n in range(8)
    ))  # fmt: skip
    assert sorted(answer.code for answer in answers) == ["200"] + ["revision_mismatch"] * 7
    [winner] = [answer.body for answer in answers if answer.status == 200]
    assert await site.ok("GET", path) == winner and winner["revision"] == 2


# ---------- delete ----------


async def test_a_deleted_template_is_gone_and_its_documents_are_unaffected(site: Site) -> None:
    template = await create_template(site)
    document = await use_template(site, template)
    before = await site.bytes_of(document["id"], "original")
    assert await site.ok("DELETE", f"/templates/{template['id']}") == {"id": template["id"]}
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", {"title": "a"})):
        assert (await site.ask(method, f"/templates/{template['id']}", body)).code == "not_found"
    use = await site.ask("POST", f"/templates/{template['id']}/documents", a_use())
    assert use.code == "not_found"
    site.clock.advance(days=2)
    await prune.tick(site.runtime)
    assert await site.bytes_of(document["id"], "original") == before
    assert (await site.get(document["id"]))["templateId"] == template["id"]


# ---------- use ----------


async def test_a_use_answers_exactly_id_and_status(site: Site) -> None:
    template = await create_template(site)
    answer = await site.ask("POST", f"/templates/{template['id']}/documents", a_use())
    assert answer.status == 201
    assert answer.body.keys() == {"id", "status"} and answer.body["status"] == "draft"
    assert answer.headers["location"] == f"/api/v1/documents/{answer.body['id']}"


async def test_a_use_takes_over_what_the_template_says(site: Site) -> None:
    template = await create_template(site, **EVERYTHING)
    document = await use_template(site, template)
    assert {name: document[name] for name in EVERYTHING} == EVERYTHING
    assert document["templateId"] == template["id"] and document["revision"] == 1
    assert (document["fileName"], document["pageCount"]) == ("lease.pdf", 1)
    assert document["createdBy"]["kind"] == "api_key"
    [recipient] = document["recipients"]
    assert (recipient["name"], recipient["email"]) == ("Ada Lovelace", "ada@example.test")
    for made, kept in zip(recipient["fields"], template["roles"][0]["fields"], strict=True):
        assert made["id"] != kept["id"] and made == kept | {"id": made["id"]}
    assert await site.list_events(document["id"]) == ["document.created"]


async def test_a_use_says_otherwise_where_it_wants(site: Site) -> None:
    template = await create_template(site, **EVERYTHING)
    given: dict[str, Any] = {
        "title": "Plot 14 B",
        "subject": "Sign 14 B",
        "message": "Hello",
        "expiresInDays": 2,
        "redirectUrl": "https://example.com/back",
        "locale": "en",
        "externalId": "crm-17",
        "metadata": {"plot": "14 B"},
    }
    document = await use_template(site, template, **given, reminders={"max": 3})
    assert {name: document[name] for name in given} == given
    assert document["reminders"] == EVERYTHING["reminders"] | {"max": 3}
    emptied = await use_template(site, template, subject="", message="", title=None, metadata=None)
    assert (emptied["subject"], emptied["message"], emptied["metadata"]) == (None, None, {})
    assert emptied["title"] == EVERYTHING["title"]


async def test_values_fill_in_the_fields_of_the_role(site: Site) -> None:
    template = await create_template(site)
    values = {"plot": "14 B", "price": "99.50"}
    document = await use_template(site, template, recipients=[taker(values=values)])
    _, plot, price = document["recipients"][0]["fields"]
    assert (plot["value"], price["value"]) == ("14 B", "99.50") and price["readOnly"] is True
    absent = await use_template(site, template, recipients=[taker(values={"price": None})])
    assert absent["recipients"][0]["fields"][2]["value"] == "1"


USES: list[tuple[Any, set[tuple[str, str]]]] = [
    ({"recipients": None}, {("/recipients", "required")}),
    ({"recipients": []}, {("/recipients", "required")}),
    ({"recipients": [taker(), taker()]}, {("/recipients/1/roleKey", "duplicate")}),
    ({"recipients": [taker(), taker(roleKey="agent")]}, {("/recipients/1/roleKey", "reference")}),
    ({"recipients": [taker(roleKey="Tenant")]}, {("/recipients/0/roleKey", "format")}),
    ({"recipients": [taker(roleKey=None)]}, {("/recipients/0/roleKey", "required")}),
    ({"recipients": [taker(email="ada")]}, {("/recipients/0/email", "format")}),
    ({"recipients": [taker(name=None)]}, {("/recipients/0/name", "required")}),
    ({"recipients": [taker(values={"lot": "1"})]}, {("/recipients/0/values/lot", "reference")}),
    ({"recipients": [taker(values={"price": "much"})]}, {("/recipients/0/values/price", "format")}),
    ({"recipients": [taker(values={"price": ""})]}, {("/recipients/0/values/price", "required")}),
    ({"recipients": [taker(values={"plot": True})]}, {("/recipients/0/values/plot", "type")}),
    ({"recipients": [taker(values={"plot": 5})]}, {("/recipients/0/values/plot", "type")}),
    ({"recipients": [taker(values={"a b": "x"})]}, {("/recipients/0/values/a b", "format")}),
    ({"recipients": [taker(values=[])]}, {("/recipients/0/values", "type")}),
    ({"recipients": [taker(order=2)]}, {("/recipients/0/order", "unknown_member")}),
    ({"recipients": [taker(fields=[])]}, {("/recipients/0/fields", "unknown_member")}),
    ({"title": ""}, {("/title", "length")}),
    ({"redirectUrl": "http://example.com"}, {("/redirectUrl", "format")}),
    ({"file": ONE_PAGE}, {("/file", "unknown_member")}),
    ({"send": True}, {("/send", "unknown_member")}),
    ({"recipients": [taker(authentication="password")]}, {("/recipients/0/authentication", "enum")}),
    ({"recipients": [taker(accessCode="1234")]}, {("/recipients/0/accessCode", "reference")}),
]


@pytest.mark.parametrize("given, places", USES, ids=[str(n) for n in range(len(USES))])
async def test_a_use_that_does_not_fit_names_the_member_and_makes_nothing(
    site: Site, given: Any, places: set[tuple[str, str]]
) -> None:
    template = await create_template(site)
    before = (await site.ok("GET", "/documents?limit=1"))["data"]
    body = {name: value for name, value in a_use(**given).items() if value is not None}
    for entry in body.get("recipients", ()):
        for name in [name for name, value in entry.items() if value is None]:
            del entry[name]
    answer = await site.ask("POST", f"/templates/{template['id']}/documents", body)
    assert answer.code == "invalid_request" and answer.places == places
    assert (await site.ok("GET", "/documents?limit=1"))["data"] == before


async def test_values_never_make_a_group_that_nobody_could_fill_in(site: Site) -> None:
    box = {"type": "checkbox", "page": 1, "x": 1, "y": 1, "group": "g", "maxChecked": 1}
    fixed = [box | {"key": key, "readOnly": True, "value": key == "a"} for key in ("a", "b")]
    template = await create_template(site, roles=[{"key": "tenant", "fields": fixed}])
    answer = await site.ask(
        "POST", f"/templates/{template['id']}/documents", a_use(recipients=[taker(values={"b": True})])
    )
    assert answer.code == "invalid_request" and {rule for _, rule in answer.places} == {"range"}


async def test_a_changed_template_leaves_earlier_documents_as_they_were(site: Site) -> None:
    template = await create_template(site)
    document = await use_template(site, template)
    await site.ok("PATCH", f"/templates/{template['id']}", {"title": "Loan", "roles": [{"key": "other"}]})
    assert await site.get(document["id"]) == document


# ---------- the whole way ----------


async def test_from_template_to_sealed_document(site: Site) -> None:
    template = await create_template(site, roles=[ROLE | {"order": 2}, {"key": "owner", "order": 1}])
    owner, tenant = site.signer(roleKey="owner"), site.signer(roleKey="tenant", values={"plot": "14 B"})
    document = await use_template(site, template, recipients=[tenant, owner])
    sent = await site.ok("POST", f"/documents/{document['id']}/send")
    assert {r["email"]: r["status"] for r in sent["recipients"]} == {
        tenant["email"]: "created", owner["email"]: "sent"
    }  # fmt: skip
    await (await site.person(owner["email"])).sign()
    signature, plot, _ = (
        field for r in sent["recipients"] if r["email"] == tenant["email"] for field in r["fields"]
    )
    person = await site.person(tenant["email"])
    await person.sign({signature["id"]: a_signature(tenant["name"]), plot["id"]: "14 C"})
    sealed = await site.wait_until_sealed(document["id"])
    assert sealed["templateId"] == template["id"] and sealed["seal"]["pageCount"] > 1
    [fields] = [r["fields"] for r in sealed["recipients"] if r["email"] == tenant["email"]]
    assert [field["value"] for field in fields] == [{"kind": "typed"}, "14 C", "1"]
    assert (await site.bytes_of(document["id"], "sealed")).startswith(b"%PDF")
    kept = await site.ok("GET", f"/templates/{template['id']}")
    assert kept == template


# ---------- who may ----------


async def test_nothing_of_another_organisation_or_mode_is_ever_listed_or_found(site: Site) -> None:
    template = await create_template(site)
    other = await store_organisation(site.runtime.db, an_organisation(id="org_zother", created_at=LATER))
    strangers = [await site.new_key(mode=Mode.TEST), await site.new_key(organisation=other.id)]
    for key in strangers:
        assert (await site.ok("GET", "/templates", key=key))["data"] == []
        for method, path, body in (
            ("GET", "/templates/{}", None),
            ("PATCH", "/templates/{}", {"title": "Mine"}),
            ("DELETE", "/templates/{}", None),
            ("POST", "/templates/{}/documents", a_use()),
        ):
            for template_id in (template["id"], UNKNOWN):
                answer = await site.ask(method, path.format(template_id), body, key=key)
                assert answer.code == "not_found"
    assert await site.ok("GET", f"/templates/{template['id']}") == template


async def test_a_test_key_makes_test_documents_from_test_templates(site: Site) -> None:
    key = await site.new_key(mode=Mode.TEST)
    template = await site.ok("POST", "/templates", a_body(), key=key)
    made = await site.ok("POST", f"/templates/{template['id']}/documents", a_use(), key=key)
    assert template["mode"] == (await site.ok("GET", f"/documents/{made['id']}", key=key))["mode"] == "test"


SCOPES = [
    ("GET", "/templates", None, Scope.TEMPLATES_READ),
    ("POST", "/templates", a_body(), Scope.TEMPLATES_WRITE),
    ("GET", "/templates/{}", None, Scope.TEMPLATES_READ),
    ("PATCH", "/templates/{}", {"title": "a"}, Scope.TEMPLATES_WRITE),
    ("POST", "/templates/{}/documents", a_use(), Scope.DOCUMENTS_WRITE),
    ("DELETE", "/templates/{}", None, Scope.TEMPLATES_WRITE),
]


async def test_each_endpoint_needs_its_own_scope_and_no_other(site: Site) -> None:
    template = await create_template(site)
    for method, path, body, scope in SCOPES:
        path = path.format(template["id"])
        without = await site.new_key(*(set(Scope) - {scope, Scope.ALL}))
        refused = await site.ask(method, path, body, key=without)
        assert refused.code == "insufficient_scope" and scope in refused.body["error"]["message"]
        answer = await site.ask(method, path, body, key=await site.new_key(scope))
        assert answer.status in (200, 201), answer


# ---------- idempotency ----------


async def test_every_writing_call_has_one_effect_per_key(site: Site) -> None:
    async def twice(method: str, path: str, body: Any, key: str) -> SiteAnswer:
        first, again = [
            await site.ask(method, path, body, headers={"Idempotency-Key": key}) for _ in range(2)
        ]
        assert first.content == again.content and first.status == again.status
        assert again.headers["idempotent-replayed"] == "true"
        assert first.headers.get("etag") == again.headers.get("etag")
        assert first.headers.get("location") == again.headers.get("location")
        return first

    template = (await twice("POST", "/templates", a_body(), "t1")).body
    path = f"/templates/{template['id']}"
    assert (await twice("PATCH", path, {"title": "Once"}, "t2")).body["revision"] == 2
    assert (await site.ok("GET", path))["revision"] == 2
    made = (await twice("POST", f"{path}/documents", a_use(), "t3")).body
    other = await site.ask("POST", f"{path}/documents", a_use(title="b"), headers={"Idempotency-Key": "t3"})
    assert other.code == "idempotency_key_reused"
    assert (await site.get(made["id"]))["title"] == "Once"
    assert (await twice("DELETE", path, None, "t4")).body == {"id": template["id"]}


async def test_a_refused_use_may_be_corrected_under_the_same_key(site: Site) -> None:
    path = f"/templates/{(await create_template(site))['id']}/documents"
    headers = {"Idempotency-Key": "corrected"}
    assert (await site.ask("POST", path, a_use(recipients=[]), headers=headers)).code == "invalid_request"
    assert (await site.ask("POST", path, a_use(), headers=headers)).status == 201


# ---------- events ----------


async def test_every_change_of_a_template_is_told_to_whoever_wants_it(site: Site) -> None:
    async with receiving() as receiver:
        names = ["template.created", "template.updated", "template.deleted"]
        hook = await site.ok("POST", "/webhooks", {"url": receiver.url, "events": names})
        template = await create_template(site)
        site.clock.advance(seconds=1)
        await site.ok("PATCH", f"/templates/{template['id']}", {"title": "Loan"})
        await site.ok("PATCH", f"/templates/{template['id']}", {"title": "Loan"})
        await site.ok("POST", f"/templates/{template['id']}/documents", a_use())
        site.clock.advance(seconds=1)
        await site.ok("DELETE", f"/templates/{template['id']}")

        async def all_three() -> bool | None:
            return len(receiver.came) == 3 or None

        await until(all_three, "three events")
        await site.ok("DELETE", f"/webhooks/{hook['id']}")
    told = {delivered.type: delivered.event for delivered in receiver.came}
    assert list(told) == names or set(told) == set(names)
    shown = {name: event["data"] for name, event in told.items()}
    changed = {"template": {"id": template["id"], "title": "Loan", "revision": 2}}
    assert shown == {
        "template.created": {"template": {"id": template["id"], "title": "lease", "revision": 1}},
        "template.updated": changed,
        "template.deleted": changed,
    }
    for event in told.values():
        assert event["sequence"] is None and event["mode"] == "live" and event["apiVersion"] == "v1"
    assert told["template.deleted"]["timestamp"] == rfc3339(site.clock.now())


# ---------- limits ----------


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """An installation with room for three templates and nine creating calls a minute."""
    folder = tmp_path_factory.mktemp("small")
    async with running(a_config(folder, templates=3, creates_per_minute=9)) as site:
        yield site


async def test_an_organisation_has_so_many_templates_in_each_mode(small: Site) -> None:
    answers: list[SiteAnswer] = await gather(*(small.ask("POST", "/templates", a_body()) for _ in range(4)))
    assert sorted(answer.code for answer in answers) == ["201", "201", "201", "limit_reached"]
    for unread in ("AAAA", "%%%"):
        full = await small.ask("POST", "/templates", a_body(file=unread))
        assert full.code == "limit_reached" and "3 templates" in full.body["error"]["message"]
    document = await small.create()
    assert (await small.ask("POST", "/templates", {"fromDocumentId": document})).code == "limit_reached"
    test = await small.new_key(mode=Mode.TEST)
    assert (await small.ask("POST", "/templates", a_body(), key=test)).status == 201
    small.clock.advance(minutes=1)
    template = next(answer.body for answer in answers if answer.status == 201)
    assert (await small.ask("DELETE", f"/templates/{template['id']}")).status == 200
    assert (await small.ask("POST", "/templates", {"fromDocumentId": document})).status == 201


async def test_creating_and_using_templates_count_as_creating(small: Site) -> None:
    small.clock.advance(minutes=1)
    key = await small.new_key()
    for path in ("/templates", f"/templates/{UNKNOWN}/documents"):
        answer = await small.ask("POST", path, {}, key=key)
        assert answer.headers["ratelimit"].startswith('"create"')
    for method, path in (("GET", "/templates"), ("PATCH", f"/templates/{UNKNOWN}")):
        answer = await small.ask(method, path, {} if method == "PATCH" else None, key=key)
        assert answer.headers["ratelimit"].startswith('"default"')


# ---------- the description ----------


async def test_the_examples_of_the_description_work(site: Site) -> None:
    schemas = describe()["components"]["schemas"]
    create, _ = schemas["CreateTemplate"]["examples"]
    template = await create_template(site, **create | {"file": ONE_PAGE})
    assert template.keys() == schemas["TemplateReply"]["examples"][0].keys()
    use = schemas["UseTemplate"]["examples"][0]
    made = await site.ok("POST", f"/templates/{template['id']}/documents", use)
    assert (await site.get(made["id"]))["recipients"][0]["fields"][1]["value"] == "14 B"


async def test_both_forms_of_a_new_template_are_described(site: Site) -> None:
    schema = describe()["components"]["schemas"]["CreateTemplate"]
    forms = {form["$ref"].rpartition("/")[2] for form in schema.get("oneOf") or schema["anyOf"]}
    assert forms == {"TemplateFromFile", "TemplateFromDocument"}
