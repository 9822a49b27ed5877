"""Templates in the office: list, page, a new one, its roles and fields, its use, its end."""

import base64
import json
import re
from html import unescape
from typing import Any

import pytest

from esign.core.document.document import Status
from esign.core.instant import DAY, MINUTE
from esign.core.people.member import MemberRole
from esign.web.office.template import listing
from esign.web.office.template.template_form import make_key
from tests.factories import an_organisation, store_organisation
from tests.journeys.api import a_pdf, a_request
from tests.pdf.forms import mark_page
from tests.web.office.sample_documents import fetch_bytes, main
from tests.web.office.visitor import Office, Page, Visitor

JSON = {"Accept": "application/json"}
SIGNATURE = {"type": "signature", "page": 1, "x": 12.34, "y": 56.78, "width": 25, "height": 6}
PLOT = {"type": "text", "page": 1, "x": 10, "y": 10, "key": "plot", "label": "Plot", "value": "4 b"}
PETS = {"type": "checkbox", "page": 1, "x": 10, "y": 30, "key": "pets", "label": "Pets"}
TENANT = {"key": "tenant", "name": "Tenant", "fields": [SIGNATURE, PLOT, PETS]}
OFFICE = {"key": "office", "name": "Office", "role": "approver", "order": 2}
EVIL = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7777*7777 }}"
PEOPLE = {"tenant": ("Ada Lovelace", "ada@example.test"), "office": ("Bo Berg", "bo@example.test")}


async def create_template(office: Office, **changes: Any) -> Any:
    """A template, as the API answers it."""
    body = {"fileName": "lease.pdf", "title": "Lease", "roles": [TENANT, OFFICE]} | changes
    return await office.site.api.ok("POST", "/templates", body | {"file": a_request()["file"]})


async def read(office: Office, template: Any) -> Any:
    return await office.site.api.ok("GET", f"/templates/{template['id']}")


def at(template: Any, *more: str) -> str:
    return "/".join(["/templates", template["id"], *more])


def fields_of(page: Page) -> dict[str, str]:
    """What the main form of a page would send."""
    body = main(page)
    found = {
        name: unescape(value)
        for name, value in re.findall(r'<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"', body)
    }
    for name, options in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', body, re.DOTALL):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', options)
        first = re.search(r'<option value="([^"]*)"', options)
        found[name] = unescape(chosen[1] or chosen[2]) if chosen else (first[1] if first else "")
    for name, text in re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?(.*?)</textarea>', body, re.DOTALL):
        found[name] = unescape(text)
    return {name: text for name, text in found.items() if "ROW" not in name and name != "csrf"}


async def form(visitor: Visitor, path: str) -> dict[str, str]:
    return fields_of(await visitor.get(path))


async def use(visitor: Visitor, template: Any, **changes: str) -> Page:
    """The form filled in for both people, and sent."""
    sent = await form(visitor, at(template, "use"))
    for role in template["roles"]:
        name, email = PEOPLE[role["key"]]
        sent |= {f"name-{role['id']}": name, f"email-{role['id']}": email}
    return await visitor.post(at(template, "use"), sent | {"do": "draft"} | changes)


def id_of(page: Page) -> str:
    return page.to.partition("?")[0].split("/")[2]


# ---------- the list ----------


async def test_an_empty_list_says_what_templates_are_for(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get("/templates")
    assert (page.status, page.title) == (200, "Templates")
    assert "Create your first template" in page.said and 'href="/templates/new"' in page.text
    assert 'href="/templates" aria-current="page"' in page.text
    viewer = await office.signed_in("Vi", MemberRole.VIEWER)
    assert "No templates yet" in (page := await viewer.get("/templates")).said
    assert "/templates/new" not in page.text


async def test_the_list_shows_what_each_is_made_of_and_when_it_was_used(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    office.clock.at += MINUTE
    await create_template(office, title="Offer", roles=None)
    assert (await use(ada, template)).status == 303
    office.clock.at += DAY
    ada = await office.signed_in("Bo")
    said = (await ada.get("/templates")).said
    assert said.index("Offer") < said.index("Lease")
    assert "1 page · 3 fields Tenant Office Yesterday Yesterday" in said
    assert "1 page · No fields None yet Not yet Yesterday" in said
    page = await ada.get("/templates?q=LEA")
    assert "Lease" in page.said and "Offer" not in main(page)
    none = await ada.get("/templates?q=boat")
    assert "No template name contains “ boat ”" in none.said and 'href="/templates"' in main(none)


async def test_pages_are_turned_and_a_place_of_another_list_begins_anew(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PER_PAGE", 1)
    for title in ("First", "Second"):
        await create_template(office, title=title)
        office.clock.at += MINUTE
    ada = await office.signed_in("Ada")
    first = await ada.get("/templates")
    assert "Second" in main(first) and "First" not in main(first)
    found = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert found
    second = await ada.get(found[1])
    assert "First" in main(second) and "Second" not in main(second) and 'rel="next"' not in second.text
    assert (await ada.get(f"{found[1]}&q=x")).to == "/templates?q=x"
    assert (await ada.get("/templates?after=nonsense")).to == "/templates"


async def test_a_search_that_cannot_be_is_told_at_its_field(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get(f"/templates?q={'x' * 101}")
    assert "q" in page.wrong() and "Check your search" in page.said


# ---------- one template ----------


async def test_a_template_is_shown_with_roles_fields_and_message(office: Office) -> None:
    template = await create_template(office, subject="Your lease", message="Please\nsign.", expiresInDays=9)
    viewer = await office.signed_in("Vi", MemberRole.VIEWER)
    page = await viewer.get(at(template))
    assert (page.status, page.title) == (200, "Lease")
    for words in (
        "Tenant tenant Signs · Step 1 · 3 fields",
        "Office office Approves · Step 2 · No fields",
        "Plot Text · Tenant · Page 1",
        "Your lease",
        "9 days after sending",
        template["id"],
        "No documents have been created from it yet.",
    ):
        assert words in page.said, words
    assert "/use" not in main(page) and "/edit" not in main(page)
    pictures = re.findall(rf'src="({at(template)}/sheets/1\.webp[^"]*)"', page.text)
    status, media, content = await fetch_bytes(viewer, pictures[0])
    assert (status, media, content[1:4]) == (200, "image/png", b"PNG")
    finer = (await fetch_bytes(viewer, f"{pictures[0]}&size=2"))[2]
    assert len(finer) > len(content)
    assert (await fetch_bytes(viewer, at(template, "sheets", "2.webp")))[0] == 404


async def test_its_file_is_downloaded_as_it_was_uploaded(office: Office) -> None:
    template = await create_template(office)
    viewer = await office.signed_in("Vi", MemberRole.VIEWER)
    path = at(template, "files", "original")
    assert f'href="{path}"' in (await viewer.get(at(template))).text
    status, media, content = await fetch_bytes(viewer, path)
    assert (status, media, content) == (200, "application/pdf", base64.b64decode(a_request()["file"]))


async def test_nobody_sees_those_of_another_organisation_or_mode(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    other = await store_organisation(office.runtime.db, an_organisation(id="org_two"))
    zo = await office.signed_in("Zo", organisation=other.id)
    await ada.post("/mode", mode="test")
    for visitor in (ada, zo):
        assert "Lease" not in main(await visitor.get("/templates"))
        for page in ("", "/edit", "/fields", "/use", "/delete", "/sheets/1.webp", "/files/original"):
            assert (await fetch_bytes(visitor, at(template) + page))[0] == 404
        for more in ("edit", "use", "delete"):
            assert (await visitor.post(at(template, more), once="x" * 20)).status == 404
    assert (await read(office, template))["revision"] == 1


WORK = ("/templates/new", "{}/edit", "{}/fields", "{}/use", "{}/delete")


async def test_a_viewer_only_reads_and_a_form_without_its_secret_does_nothing(office: Office) -> None:
    template = await create_template(office)
    viewer, ada = await office.signed_in("Vi", MemberRole.VIEWER), await office.signed_in("Ada")
    for path in (one.format(at(template)) for one in WORK):
        assert (await viewer.get(path)).status == 403
        assert (await viewer.post(path, do="save")).status in (400, 403)
    sent = await form(ada, at(template, "edit"))
    for secret in ("", viewer.csrf):
        assert (await ada.post(at(template, "edit"), sent | {"csrf": secret, "title": "Mine"})).status == 400
        assert (await ada.post(at(template, "delete"), csrf=secret)).status == 400
    assert (await read(office, template))["title"] == "Lease"


async def test_hostile_text_stays_text_on_every_page(office: Office) -> None:
    roles = [{**TENANT, "name": EVIL, "fields": [SIGNATURE | {"label": EVIL[:100]}, PLOT | {"value": EVIL}]}]
    template = await create_template(office, title=EVIL, subject=EVIL, message=EVIL, roles=roles)
    ada = await office.signed_in("Ada")
    for path in (
        "/templates",
        f"/templates?q={EVIL[:8]}",
        at(template),
        at(template, "edit"),
        at(template, "fields"),
        at(template, "use"),
        at(template, "delete"),
    ):
        page = await ada.get(path)
        assert page.status == 200, path
        assert "<script>alert" not in page.text and "<img src=x" not in page.text, path
        assert "60481729" not in page.said.replace(template["id"], ""), path


async def test_it_is_deleted_after_a_question_and_its_documents_stay(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    document = id_of(await use(ada, template))
    page = await ada.get(at(template, "delete"))
    assert "Delete template?" in page.said and "stay as they are" in page.said
    answer = await ada.post(at(template, "delete"))
    assert answer.to == "/templates?done=template-deleted"
    assert (await ada.get(at(template))).status == 404
    assert (await office.site.api.get(document))["templateId"] == template["id"]


# ---------- a new one ----------


async def test_a_pdf_becomes_a_template_and_the_same_form_only_one(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get("/templates/new")
    assert page.title == "New template" and 'action="/templates/new"' in page.text
    once = page.value("once")
    first = await ada.upload("/templates/new", "files", ("Tenancy.pdf", a_pdf(2)), once=once)
    again = await ada.upload("/templates/new", "files", ("Tenancy.pdf", a_pdf(2)), once=once)
    assert first.to == again.to
    [template] = (await office.site.api.ok("GET", "/templates"))["data"]
    assert (template["title"], template["pageCount"], template["roles"]) == ("Tenancy", 2, [])
    assert first.to == at(template, "edit")
    told = await ada.upload(
        "/templates/new", "files", ("b.pdf", a_pdf()), once=f"{once}x", accept="application/json"
    )
    assert json.loads(told.text)["to"].startswith("/templates/tpl_")


async def test_a_file_that_is_no_pdf_says_so(office: Office) -> None:
    ada = await office.signed_in("Ada")
    once = (await ada.get("/templates/new")).value("once")
    page = await ada.upload("/templates/new", "files", ("a.pdf", b"no"), once=once)
    assert page.status == 422 and "can’t be read as a PDF" in page.said
    nothing = await ada.upload("/templates/new", "files", once=once)
    assert nothing.status == 422 and "No file was chosen." in nothing.said


async def test_a_document_becomes_a_template_and_leads_to_it(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await office.site.api.create()
    await ada.get(f"/documents/{document}/template")
    to = (await ada.post(f"/documents/{document}/template", title="Copy of it")).to
    page = await ada.get(to)
    assert page.title == "Copy of it" and "Template created." in page.said


# ---------- roles ----------


async def test_name_roles_and_message_are_saved_together(office: Office) -> None:
    template, ada = await create_template(office, roles=None), await office.signed_in("Ada")
    sent = await form(ada, at(template, "edit"))
    sent |= {"title": "Lease of a room", "name-new1": "Project manager", "message": "Hello\r\nthere"}
    sent |= {"name-new2": "Project manager", "role-new2": "cc", "order-new2": "2", "days": "12"}
    sent |= {"remind": "yes", "first": "2"}
    answer = await ada.post(at(template, "edit"), sent | {"do": "fields"})
    assert answer.to == at(template, "fields")
    now = await read(office, template)
    assert (now["title"], now["message"], now["expiresInDays"]) == ("Lease of a room", "Hello\nthere", 12)
    assert now["reminders"]["firstAfterDays"] == 2
    assert [(one["key"], one["name"], one["role"], one["order"]) for one in now["roles"]] == [
        ("project_manager", "Project manager", "signer", 1),
        ("project_manager_2", "Project manager", "cc", 2),
    ]


async def test_a_role_keeps_its_fields_and_key_when_it_is_renamed_or_moved(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    tenant, approver = template["roles"]
    sent = await form(ada, at(template, "edit")) | {f"name-{tenant['id']}": "Lodger", "remind": "yes"}
    assert (await ada.post(at(template, "edit"), sent | {"do": f"down-{tenant['id']}"})).status == 303
    now = (await read(office, template))["roles"]
    assert [(one["id"], one["order"]) for one in now] == [(approver["id"], 1), (tenant["id"], 2)]
    assert (now[1]["key"], now[1]["name"]) == ("tenant", "Lodger") and now[1]["fields"] == tenant["fields"]


async def test_a_role_with_fields_goes_after_a_question(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    tenant = template["roles"][0]["id"]
    sent = await form(ada, at(template, "edit")) | {"title": "Kept", "remind": "yes"}
    asked = await ada.post(at(template, "edit"), sent | {"do": f"remove-{tenant}"})
    assert "Remove Tenant and 3 fields?" in asked.said
    waiting = fields_of(asked)
    assert waiting["title"] == "Kept" and len((await read(office, template))["roles"]) == 2
    await ada.post(at(template, "edit"), waiting | {"do": f"remove-{tenant}"})
    now = await read(office, template)
    assert [one["key"] for one in now["roles"]] == ["office"] and now["title"] == "Kept"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": ""}, "title"),
        ({"days": "0"}, "days"),
        ({"name-{0}": ""}, "name-{0}"),
        ({"key-{0}": "No!"}, "key-{0}"),
        ({"key-{0}": "office"}, "key-{1}"),
        ({"order-{0}": "x"}, "order-{0}"),
        ({"role-{0}": "cc"}, "role-{0}"),
        ({"message": "x" * 5001}, "message"),
    ],
)
async def test_what_cannot_be_saved_is_told_at_its_field(
    office: Office, changes: dict[str, str], field: str
) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    ids = [role["id"] for role in template["roles"]]
    sent = await form(ada, at(template, "edit")) | {"subject": "Kept", "remind": "yes"}
    sent |= {name.format(*ids): text for name, text in changes.items()}
    page = await ada.post(at(template, "edit"), sent | {"do": "save"})
    [(named, sentence)] = page.wrong().items()
    assert page.status == 422 and named == field.format(*ids)
    assert not re.search(r"[\^$\\]", sentence), "people read no patterns"
    now = await read(office, template)
    assert now["subject"] == (None if field == "key-{1}" else "Kept")
    assert page.value("subject") == "Kept" and [one["key"] for one in now["roles"]] == ["tenant", "office"]


async def test_two_people_at_one_template_lose_nothing(office: Office) -> None:
    template = await create_template(office)
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo")
    tenant = template["roles"][0]["id"]
    hers, his = [await form(one, at(template, "edit")) | {"remind": "yes"} for one in (ada, bo)]
    await ada.post(at(template, "edit"), hers | {"title": "Hers", f"name-{tenant}": "Lodger", "do": "save"})
    asked = await bo.post(at(template, "edit"), his | {"title": "His", "subject": "Also his", "do": "save"})
    assert asked.status == 409 and "Template name" in asked.said
    now = await read(office, template)
    assert (now["title"], now["subject"]) == ("Hers", None)
    waiting = fields_of(asked) | {"choose-title": "theirs"}
    assert (await bo.post(at(template, "edit"), waiting)).to.startswith(at(template))
    now = await read(office, template)
    assert (now["title"], now["subject"], now["roles"][0]["name"]) == ("Hers", "Also his", "Lodger")


@pytest.mark.parametrize(
    ("name", "taken", "key"),
    [
        ("Project manager", set(), "project_manager"),
        ("Mieter (Büro)", set(), "mieter_buro"),
        ("律师", set(), "role"),
        ("Tenant", {"tenant", "tenant_2"}, "tenant_3"),
        ("x" * 200, set(), "x" * 36),
    ],
)
def test_a_key_is_made_of_the_name(name: str, taken: set[str], key: str) -> None:
    assert make_key(name, taken) == key


# ---------- fields ----------


async def state(visitor: Visitor, template: Any) -> Any:
    return json.loads((await visitor.get(at(template, "fields", "state"), JSON)).text)


async def save(visitor: Visitor, template: Any, body: Any, revision: int) -> Page:
    visitor.csrf = (await state(visitor, template))["csrf"]
    return await visitor.post(
        at(template, "fields"), fields=json.dumps(body), revision=str(revision), headers=JSON
    )


async def test_the_editor_saves_the_fields_of_roles_and_those_that_stay_keep_their_ids(
    office: Office,
) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    page = await ada.get(at(template, "fields"))
    assert 'data-list="roles"' in page.text and "Tenant" in page.said
    now = await state(ada, template)
    assert [(one["name"], one["number"]) for one in now["people"]] == [("Tenant", 1), ("Office", 2)]
    roles = [{"id": one["id"], "fields": []} for one in now["people"]]
    old = [{n: v for n, v in one.items() if n != "holder"} for one in now["fields"]]
    roles[0]["fields"], roles[1]["fields"] = old[:1], [SIGNATURE | {"type": "text", "y": 20}]
    saved = await save(ada, template, {"roles": roles}, now["revision"])
    assert json.loads(saved.text) == {"revision": 2}
    first, second = (await read(office, template))["roles"]
    assert [one["id"] for one in first["fields"]] == [template["roles"][0]["fields"][0]["id"]]
    assert [(one["type"], one["y"]) for one in second["fields"]] == [("text", 20)]
    late = await save(ada, template, {"roles": roles}, 1)
    assert late.status == 409 and json.loads(late.text)["error"]["code"] == "revision_mismatch"


@pytest.mark.parametrize(
    ("field", "path"),
    [
        (SIGNATURE | {"page": 9}, "/roles/0/fields/0/page"),
        (SIGNATURE | {"x": 99}, "/roles/0/fields/0/width"),
        (SIGNATURE | {"type": "stamp"}, "/roles/0/fields/0/type"),
    ],
)
async def test_a_field_that_does_not_fit_is_named(office: Office, field: dict[str, Any], path: str) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    roles = [{"id": template["roles"][0]["id"], "fields": [field]}]
    refused = await save(ada, template, {"roles": roles}, 1)
    assert refused.status == 400
    assert path in [one["path"] for one in json.loads(refused.text)["error"]["details"]]
    stranger = await save(ada, template, {"roles": [{"id": "rol_x", "fields": []}]}, 1)
    assert json.loads(stranger.text)["error"]["details"][0]["path"] == "/roles/0/id"


async def test_marks_of_the_file_are_offered_to_the_roles_they_number(office: Office) -> None:
    ada = await office.signed_in("Ada")
    once = (await ada.get("/templates/new")).value("once")
    pdf = mark_page((100, 700, "{{signature:2}}"), (100, 600, "{{date:7}}"))
    to = (await ada.upload("/templates/new", "files", ("m.pdf", pdf), once=once)).to
    sent = await form(ada, to) | {"name-new1": "A", "name-new2": "B", "remind": "yes"}
    await ada.post(to, sent | {"do": "save"})
    template = {"id": to.split("/")[2]}
    found = json.loads((await ada.get(at(template, "fields", "found"), JSON)).text)
    second = (await read(office, template))["roles"][1]["id"]
    assert [(one["type"], one["holder"]) for one in found["fields"]] == [("signature", second)]
    assert found["unused"][0]["reason"] == "It is for role 7, and there is none."


# ---------- use ----------


async def test_a_use_makes_a_draft_with_the_people_and_their_values(office: Office) -> None:
    template, ada = await create_template(office, message="Hello"), await office.signed_in("Ada")
    tenant = template["roles"][0]
    ids = {field["key"]: field["id"] for field in tenant["fields"]}
    page = await use(
        ada,
        template,
        **{
            "title": "Lease of 4 b",
            "message": "",
            "days": "5",
            "remind": "",
            "reference": "P-7",
            "locale": "de",
            f"value-{ids['plot']}": "12",
            f"value-{ids['pets']}": "yes",
            f"authentication-{tenant['id']}": "access_code",
            f"code-{tenant['id']}": "4711",
        },
    )
    document = await office.site.api.get(id_of(page))
    assert page.to == f"/documents/{document['id']}/review?done=used"
    assert document["status"] == Status.DRAFT and document["createdBy"]["name"] == "Ada"
    assert [document[name] for name in ("title", "message", "expiresInDays", "externalId", "locale")] == [
        "Lease of 4 b",
        None,
        5,
        "P-7",
        "de",
    ]
    assert document["reminders"]["enabled"] is False and document["templateId"] == template["id"]
    first, second = document["recipients"]
    assert (first["name"], first["authentication"], second["email"]) == (
        "Ada Lovelace",
        "access_code",
        "bo@example.test",
    )
    assert [field["value"] for field in first["fields"]] == [None, "12", True]


async def test_what_nobody_touches_stays_as_the_template_has_it(office: Office) -> None:
    template, ada = await create_template(office, subject="Your lease"), await office.signed_in("Ada")
    document = await office.site.api.get(id_of(await use(ada, template, remind="yes")))
    assert [document[name] for name in ("title", "subject", "expiresInDays")] == ["Lease", "Your lease", 30]
    assert document["reminders"] == template["reminders"]
    assert [field["value"] for field in document["recipients"][0]["fields"]] == [None, "4 b", None]


async def test_send_now_sends_and_a_form_that_comes_twice_sends_once(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    once = (await form(ada, at(template, "use")))["once"]
    first, again = [await use(ada, template, do="send", once=once) for _ in range(2)]
    assert first.to == again.to and first.to.endswith("?done=sent")
    [document] = (await office.site.api.ok("GET", "/documents"))["data"]
    assert document["status"] == Status.SENT
    assert "/s/" in await office.letter("ada@example.test")
    assert len([mail for mail in await office.mails() if "ada@" in mail.recipient]) == 1


async def test_what_cannot_be_sent_waits_as_a_draft_with_the_reason(office: Office) -> None:
    template, ada = await create_template(office, roles=[OFFICE]), await office.signed_in("Ada")
    page = await ada.get(at(template, "use"))
    assert "No role in this template signs." in page.said and 'value="send"' not in page.text
    answer = await use(ada, template, do="send")
    assert answer.to.endswith("/review?done=not-sent")
    assert "Before you can send" in (await ada.get(answer.to)).said


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name-{0}": " "}, "name-{0}"),
        ({"email-{1}": "bo@"}, "email-{1}"),
        ({"title": "x" * 201}, "title"),
        ({"days": "366"}, "days"),
        ({"first": "none"}, "first"),
        ({"locale": "xx"}, "locale"),
        ({"authentication-{0}": "access_code"}, "code-{0}"),
        ({"value-{2}": "x" * 2001}, "value-{2}"),
    ],
)
async def test_what_a_use_cannot_take_is_told_at_its_field_and_the_rest_stays(
    office: Office, changes: dict[str, str], field: str
) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    ids = [*(role["id"] for role in template["roles"]), template["roles"][0]["fields"][1]["id"]]
    page = await use(ada, template, **{name.format(*ids): text for name, text in changes.items()})
    assert page.status == 422 and list(page.wrong()) == [field.format(*ids)]
    assert "bo@" in page.text and (await office.site.api.ok("GET", "/documents"))["data"] == []


async def test_a_use_without_a_day_to_sign_is_told_how_many_there_must_be(office: Office) -> None:
    template, ada = await create_template(office), await office.signed_in("Ada")
    for days, said in (("0", "At least 1."), ("", "Please fill this in."), ("ten", "A whole number.")):
        assert (await use(ada, template, days=days)).wrong() == {"days": said}


async def test_a_template_without_roles_asks_for_them_first(office: Office) -> None:
    template, ada = await create_template(office, roles=None), await office.signed_in("Ada")
    page = await ada.get(at(template, "use"))
    assert "This template has no roles yet" in page.said and 'action="' + at(template, "use") not in page.text
