"""The field editor's page, what it saves, and whom it lets in."""

import base64
import json
import re
from html import unescape
from typing import Any

import pytest

from esign.actions.document import edit_document
from esign.core.actor import Mode
from esign.core.instant import MINUTE
from esign.core.people.member import MemberRole
from tests.factories import an_organisation, store_organisation
from tests.journeys.api import a_pdf
from tests.pdf.forms import mark_page
from tests.web.office.visitor import Office, Page, Visitor

JSON = {"Accept": "application/json"}
TWO = [
    {"name": "Ada Lovelace", "email": "ada@example.test"},
    {"name": "Cy", "email": "cy@example.test", "role": "cc"},
    {"name": "Bo Berg", "email": "bo@example.test", "role": "approver"},
]
SIGNATURE = {"type": "signature", "page": 1, "x": 12.34, "y": 56.78, "width": 25, "height": 6}
EVIL = "</template><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7777*7777 }}"


async def a_draft(office: Office, **changes: Any) -> str:
    return await office.site.api.create(**{"recipients": TWO, **changes})


async def state(visitor: Visitor, document: str) -> Any:
    return json.loads((await visitor.get(f"/documents/{document}/fields/state", JSON)).text)


async def save(
    visitor: Visitor, document: str, *fields: list[dict[str, Any]], revision: int | str | None = None
) -> Page:
    """The fields of each recipient in turn, as the script of the page sends them."""
    now = await state(visitor, document)
    people = [{"id": person["id"]} for person in now["people"]]
    for person, own in zip(people, fields, strict=False):
        person["fields"] = own
    return await send(
        visitor, document, {"recipients": people}, now["revision"] if revision is None else revision
    )


async def send(visitor: Visitor, document: str, body: Any, revision: int | str) -> Page:
    given = body if isinstance(body, str) else json.dumps(body)
    visitor.csrf = (await state(visitor, document))["csrf"]
    return await visitor.post(
        f"/documents/{document}/fields", fields=given, revision=str(revision), headers=JSON
    )


def error(page: Page) -> Any:
    return json.loads(page.text)["error"]


# ---------- the page ----------


async def test_the_page_holds_what_is_stored_and_can_be_read_without_a_script(office: Office) -> None:
    field = SIGNATURE | {"label": "Sign here", "required": True}
    people = [{**TWO[0], "fields": [field]}, *TWO[1:]]
    ada, document = await office.signed_in("Ada"), await a_draft(office, recipients=people, title="Lease")
    page = await ada.get(f"/documents/{document}/fields")
    assert (page.status, page.title) == (200, "Place fields")
    kept = json.loads(unescape(page.text.partition('<template id="state">')[2].partition("</template>")[0]))
    assert [(one["name"], one["number"]) for one in kept["people"]] == [
        ("Ada Lovelace", 1),
        ("Cy", None),
        ("Bo Berg", 2),
    ]
    [shown] = kept["fields"]
    assert shown["holder"] == kept["people"][0]["id"] and "id" not in shown and "filledAt" not in shown
    assert {name: shown[name] for name in field} == field
    assert "Sign here Signature · Ada Lovelace · Page 1" in page.said
    assert "allow JavaScript" in page.said
    assert (
        f'href="/documents/{document}/review"' in page.text
        and f'href="/documents/{document}/edit"' in page.text
    )


async def test_the_pictures_of_the_pages_are_those_that_signers_see(office: Office) -> None:
    ada, document = (
        await office.signed_in("Ada"),
        await a_draft(office, file=base64.b64encode(a_pdf(2)).decode()),
    )
    page = await ada.get(f"/documents/{document}/fields")
    addresses = sorted(set(re.findall(rf'src="(/documents/{document}/sheets/\d+\.webp\?\w+)"', page.text)))
    assert len(addresses) == 2

    async def read(path: str, who: Visitor) -> tuple[int, bytes]:
        cookie = {"Cookie": f"esign={who.token}"}
        async with office.browser.get(f"{office.site.base}{path}", headers=cookie) as answer:
            return answer.status, await answer.read()

    status, first = await read(addresses[0], ada)
    assert status == 200 and first[1:4] == b"PNG"
    finer = (await read(f"{addresses[0]}&size=2", ada))[1]
    assert finer[1:4] == b"PNG" and len(finer) > len(first)
    assert (await read(f"{addresses[0]}&size=9", ada))[0] == 404
    assert (await read(addresses[0].replace("/1.webp", "/3.webp"), ada))[0] == 404
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two"))
    assert (await read(addresses[0], await office.signed_in("Zo", organisation=other.id)))[0] == 404


async def test_hostile_text_stays_text(office: Office) -> None:
    field = SIGNATURE | {"label": EVIL[:100]}
    people = [{**TWO[0], "name": EVIL, "fields": [field]}]
    ada, document = await office.signed_in("Ada"), await a_draft(office, recipients=people, title=EVIL)
    page = await ada.get(f"/documents/{document}/fields")
    assert page.status == 200
    assert "<script>alert" not in page.text and "<img src=x" not in page.text and "60481729" not in page.said
    kept = (await state(ada, document))["fields"][0]
    assert kept["label"] == EVIL[:100]


async def test_a_document_that_is_out_leads_to_its_page(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    await office.site.api.send(document)
    page = await ada.get(f"/documents/{document}/fields")
    assert page.to == f"/documents/{document}?done=not-a-draft"
    assert json.loads((await ada.get(f"/documents/{document}/fields/state", JSON)).text)["error"]["code"] == (
        "document_not_draft"
    )
    await ada.get("/account")
    refused = await ada.post(
        f"/documents/{document}/fields", fields='{"recipients":[]}', revision="2", headers=JSON
    )
    assert (refused.status, error(refused)["code"]) == (409, "document_not_draft")


# ---------- saving ----------


async def test_what_is_placed_is_what_the_api_shows_to_the_last_digit(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    choice = {
        "type": "radio",
        "page": 1,
        "x": 0,
        "y": 91.99,
        "width": 33.33,
        "height": 8.01,
        "options": ["a", "b"],
    }
    answer = await save(ada, document, [SIGNATURE, choice], [], [SIGNATURE | {"type": "initials", "x": 75}])
    assert answer.status == 200 and json.loads(answer.text)["revision"] == 2
    people = (await office.site.api.get(document))["recipients"]
    first, second = people[0]["fields"]
    assert {name: first[name] for name in SIGNATURE} == SIGNATURE
    assert {name: second[name] for name in choice} == choice
    assert [field["type"] for field in people[2]["fields"]] == ["initials"]
    assert [(one["email"], one["role"]) for one in people] == [
        ("ada@example.test", "signer"),
        ("cy@example.test", "cc"),
        ("bo@example.test", "approver"),
    ]


async def test_a_field_that_stays_as_it_is_keeps_its_id_and_saving_nothing_changes_nothing(
    office: Office,
) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    await save(ada, document, [SIGNATURE, SIGNATURE | {"page": 1, "y": 10}])
    before = [one["id"] for one in (await office.site.api.get(document))["recipients"][0]["fields"]]
    assert json.loads((await save(ada, document, [SIGNATURE, SIGNATURE | {"y": 10}])).text)["revision"] == 2
    await save(ada, document, [SIGNATURE | {"y": 10}, SIGNATURE | {"y": 20}])
    after = [one["id"] for one in (await office.site.api.get(document))["recipients"][0]["fields"]]
    assert after[0] == before[1] and after[1] not in before


async def test_who_saves_over_somebody_else_is_told_and_changes_nothing(office: Office) -> None:
    ada, bo, document = await office.signed_in("Ada"), await office.signed_in("Bo"), await a_draft(office)
    revision = (await state(ada, document))["revision"]
    assert (await save(bo, document, [SIGNATURE])).status == 200
    late = await save(ada, document, [], revision=revision)
    assert (late.status, error(late)["code"]) == (409, "revision_mismatch")
    now = await state(ada, document)
    assert now["revision"] == revision + 1 and len(now["fields"]) == 1


async def test_what_is_wrong_is_told_at_its_field(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    wrong = [
        SIGNATURE,
        {"type": "radio", "page": 1, "x": 1, "y": 1, "options": ["one"]},
        {"type": "text", "page": 1, "x": 1, "y": 1, "label": "l" * 101},
        {"type": "number", "page": 1, "x": 1, "y": 1, "min": 5, "max": 4},
    ]
    found = error(await save(ada, document, wrong))
    assert found["code"] == "invalid_request"
    assert [(one["path"], one["rule"]) for one in found["details"]] == [
        ("/recipients/0/fields/1/options", "length"),
        ("/recipients/0/fields/2/label", "length"),
        ("/recipients/0/fields/3/max", "range"),
    ]
    keys = error(await save(ada, document, [SIGNATURE | {"key": "a"}], [], [SIGNATURE | {"key": "a"}]))
    assert [(one["path"], one["rule"]) for one in keys["details"]] == [
        ("/recipients/2/fields/0/key", "duplicate")
    ]
    outside = error(await save(ada, document, [SIGNATURE | {"page": 2}]))
    assert outside["code"] == "field_out_of_bounds"
    assert outside["details"][0]["path"] == "/recipients/0/fields/0/page"
    holder = error(await save(ada, document, [], [SIGNATURE]))
    assert holder["details"][0]["path"].startswith("/recipients/1/fields")
    assert (await state(ada, document))["revision"] == 1


@pytest.mark.parametrize(
    ("body", "revision", "code"),
    [
        ("{", 1, "invalid_json"),
        ('{"recipients":[],"title":"x"}', 1, "invalid_request"),
        ('{"recipients":[{"id":"rcp_other","fields":[]}]}', 1, "invalid_request"),
        ('{"recipients":[]}', "", "invalid_request"),
        ('{"recipients":[]}', "1e3", "invalid_request"),
        ('{"recipients":[]}', "9" * 30, "invalid_request"),
    ],
)
async def test_a_form_that_no_page_of_ours_sends_is_refused(
    office: Office, body: str, revision: int | str, code: str
) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    assert error(await send(ada, document, body, revision))["code"] == code


async def test_five_hundred_fields_are_saved_and_one_more_is_not(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    label = "A label of the length that people write"
    many = [
        {"type": "text", "page": 1, "x": n % 20 * 5, "y": n // 20 * 4, "width": 4, "height": 3}
        for n in range(500)
    ]
    many = [field | {"label": label} for field in many]
    assert (await save(ada, document, many)).status == 200
    assert "500" in error(await save(ada, document, [*many, many[0]]))["details"][0]["message"]


async def test_the_audit_trail_tells_of_an_hour_of_work_in_a_few_lines(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)

    for n in range(10):
        assert (await save(ada, document, [SIGNATURE | {"x": n}])).status == 200
    assert await office.site.api.trail(document) == ["document.created", "document.updated"]
    bo = await office.signed_in("Bo")
    await save(bo, document, [SIGNATURE | {"x": 20}])
    assert len(await office.site.api.trail(document)) == 3, "somebody else is told of"
    office.clock.advance(milliseconds=edit_document.WHILE)
    await save(bo, document, [SIGNATURE | {"x": 21}])
    assert len(await office.site.api.trail(document)) == 4, "so is the next stretch of work"
    assert edit_document.WHILE == 15 * MINUTE


# ---------- who may ----------


@pytest.mark.parametrize(("role", "status"), [(MemberRole.VIEWER, 403), (MemberRole.MEMBER, 200)])
async def test_members_place_fields_and_viewers_do_not(office: Office, role: MemberRole, status: int) -> None:
    somebody, document = await office.signed_in("Vi", role), await a_draft(office)
    paths = ("fields", "fields/state", "fields/found")
    assert [(await somebody.get(f"/documents/{document}/{path}")).status for path in paths] == [status] * 3
    await somebody.get("/account")
    answer = await somebody.post(f"/documents/{document}/fields", fields='{"recipients":[]}', revision="1")
    assert answer.status == status


async def test_a_document_of_the_other_mode_or_of_others_is_not_there(office: Office) -> None:
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two"))
    zo, ada = await office.signed_in("Zo", organisation=other.id), await office.signed_in("Ada")
    test = await (await office.site.key(mode=Mode.TEST)).create(recipients=TWO)
    own = await a_draft(office)
    for visitor, document in ((zo, own), (ada, test)):
        for path in ("fields", "fields/state", "fields/found", "sheets/1.webp"):
            assert (await visitor.get(f"/documents/{document}/{path}")).status == 404
        await visitor.get("/account")
        sent = await visitor.post(f"/documents/{document}/fields", fields='{"recipients":[]}', revision="1")
        assert sent.status == 404
    assert (await office.visitor().get(f"/documents/{own}/fields")).to.startswith("/sign-in?next=")


async def test_a_save_without_the_mac_of_its_session_counts_for_nothing(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    ada.csrf = ""
    answer = await ada.post(
        f"/documents/{document}/fields", fields='{"recipients":[]}', revision="1", headers=JSON
    )
    assert (answer.status, error(answer)["code"]) == (400, "invalid_request")
    assert "details" not in error(answer)


# ---------- what the file asks for ----------


async def list_offered(visitor: Visitor, document: str) -> Any:
    return json.loads((await visitor.get(f"/documents/{document}/fields/found", JSON)).text)


async def test_marks_of_the_file_are_offered_to_whom_they_number(office: Office) -> None:
    file = mark_page((60, 700, "{{signature:1}}"), (60, 600, "{{date:2}}"), (60, 500, "{{text:3:Colour}}"))
    ada = await office.signed_in("Ada")
    document = await a_draft(office, file=base64.b64encode(file).decode())
    people = (await state(ada, document))["people"]
    found = await list_offered(ada, document)
    assert await list_offered(ada, document) == found, "what was read once is kept"
    assert [(one["type"], one["holder"], one["marked"]) for one in found["fields"]] == [
        ("signature", people[0]["id"], True),
        ("date", people[2]["id"], True),
    ]
    assert found["unused"] == [
        {"page": 1, "name": "{{text:3}}", "reason": "It is for recipient 3, and there is none."}
    ]
    [first, second] = [
        {name: value for name, value in one.items() if name not in ("holder", "marked")}
        for one in found["fields"]
    ]
    assert (await save(ada, document, [first], [], [second])).status == 200, "they are fields as they are"


async def test_another_file_is_read_anew(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office)
    assert (await list_offered(ada, document))["fields"] == []
    file = base64.b64encode(mark_page((60, 700, "{{date}}"))).decode()
    await office.site.api.ok("PATCH", f"/documents/{document}", {"fileName": "b.pdf", "file": file})
    [one] = (await list_offered(ada, document))["fields"]
    assert one["type"] == "date"
