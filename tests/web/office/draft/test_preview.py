"""What a recipient will get and see, shown to a member: nothing is sent, nothing is recorded, nobody else may look."""

import re
from typing import Any

import pytest

from esign.core.people.member import MemberRole
from esign.demo import contract
from tests.web.office.draft.test_new import ISOLATES
from tests.web.office.visitor import Office, Visitor

LETTER = {"type": "signature", "page": 1, "x": 10, "y": 80, "width": 30, "height": 6}
PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lovelace", "email": "ada@example.test", "fields": [LETTER], "authentication": "email_code"},
    {"name": "Bo Weber", "email": "bo@example.test", "role": "approver", "order": 2, "locale": "de"},
    {"name": "Vi", "email": "vi@example.test", "role": "viewer"},
    {"name": "Cy", "email": "cy@example.test", "role": "cc"},
]
TABLES = ("audit", "audit_head", "outbox", "link", "document", "recipient", "kept_mail")


async def a_draft(office: Office, **changes: Any) -> tuple[str, list[str]]:
    """The path of a draft, and the ids of its recipients."""
    id = await office.site.api.create(**{"recipients": PEOPLE, "message": "Call me, please.", **changes})
    return f"/documents/{id}", [one["id"] for one in (await office.site.api.get(id))["recipients"]]


async def read_tables(office: Office) -> dict[str, list[str]]:
    return {
        name: sorted(repr(tuple(row)) for row in await office.runtime.db.all(f"SELECT * FROM {name}"))
        for name in TABLES
    }


async def test_a_member_sees_the_signing_page_of_each_recipient(office: Office) -> None:
    ada, (path, [one, two, three, four]) = await office.signed_in("Maren"), await a_draft(office)
    before = await read_tables(office)
    page = await ada.get(f"{path}/preview/{one}")
    assert page.status == 200 and "this is what Ada Lovelace will see." in page.said
    assert "They enter a code from an email first." in page.said and "Call me, please." in page.said
    assert 'id="finish"' in page.text and f'href="{path}/review"' in page.text
    assert re.search(r'<html lang="en"', page.text) and "/s/" not in page.text, "it has no link of anybody"
    assert page.headers["X-Frame-Options"] == "DENY"
    german = await ada.get(f"{path}/preview/{two}")
    assert '<html lang="de"' in german.text and "Nothing is sent or recorded." in german.said
    assert '<html lang="fr"' in (await ada.get(f"{path}/preview/{two}?lang=fr")).text
    reading = await ada.get(f"{path}/preview/{three}")
    assert reading.status == 200 and 'id="finish"' not in reading.text
    assert (await ada.get(f"{path}/preview/{four}")).status == 404, "who gets a copy is asked for nothing"
    assert (await ada.get(f"{path}/preview/rcp_nobody")).status == 404
    assert await read_tables(office) == before


async def test_a_preview_has_pages_text_and_file_and_takes_nothing(office: Office) -> None:
    ada, (path, [one, *_]) = await office.signed_in("Maren"), await a_draft(office)
    before, at = await read_tables(office), f"{path}/preview/{one}"
    for size in ("", "?size=2"):
        picture = await office.browser.get(
            f"{office.site.base}{at}/pages/1.webp{size}", headers={"Cookie": f"esign={ada.token}"}
        )
        assert picture.status == 200 and picture.content_type.startswith("image/")
    assert '"paragraphs"' in (await ada.get(f"{at}/pages/1.json")).text
    file = await office.browser.get(
        f"{office.site.base}{at}/original.pdf", headers={"Cookie": f"esign={ada.token}"}
    )
    assert file.content_type == "application/pdf" and (await file.read()).startswith(b"%PDF")
    for wrong in ("pages/2.webp", "pages/0.webp", "pages/1.webp?size=9", "pages/x.json", "sealed.pdf"):
        assert (await ada.get(f"{at}/{wrong}")).status == 404, wrong
    for act in ("view", "draft", "complete", "decline", "code", "authenticate", "handoff", "letters"):
        assert (await ada.post(f"{at}/{act}")).status == 404, act
    assert (await ada.post(at)).status == 405
    assert await read_tables(office) == before


async def test_a_document_that_was_sent_has_no_preview(office: Office) -> None:
    ada, (path, [one, *_]) = await office.signed_in("Maren"), await a_draft(office)
    await office.site.api.ok("POST", f"{path}/send")
    assert (await ada.get(f"{path}/preview/{one}")).to == path
    for rest in ("pages/1.webp", "pages/1.json", "original.pdf"):
        assert (await ada.get(f"{path}/preview/{one}/{rest}")).status == 409
    assert (await ada.get(f"{path}/letters/{one}")).status == 409


@pytest.mark.parametrize("rest", ["preview/{}", "preview/{}/pages/1.webp", "letters/{}"])
async def test_only_members_who_work_on_the_draft_look_at_it(office: Office, rest: str) -> None:
    path, [one, *_] = await a_draft(office)
    viewer: Visitor = await office.signed_in("Vera", MemberRole.VIEWER)
    member = await office.signed_in("Max", MemberRole.MEMBER)
    assert (await viewer.get(f"{path}/{rest.format(one)}")).status == 403
    headers = {"Cookie": f"esign={member.token}"}
    answer = await office.browser.get(f"{office.site.base}{path}/{rest.format(one)}", headers=headers)
    assert answer.status == 200
    await member.post("/mode", mode="test")
    assert (await member.get(f"{path}/{rest.format(one)}")).status == 404


async def test_the_review_shows_the_email_of_each_recipient(office: Office) -> None:
    ada, (path, [one, two, _, four]) = await office.signed_in("Maren"), await a_draft(office)
    before = await read_tables(office)
    page = await ada.get(f"{path}/review")
    assert f'src="{path}/letters/{one}"' in page.text and "frame-src 'self'" in str(page.headers)
    assert "Bo Weber · Approves · Deutsch" in page.said and "Vi · Views · English" in page.said
    assert f'value="{four}"' not in page.text, "who gets a copy is not invited"
    other = await ada.get(f"{path}/review?email={two}")
    assert f'src="{path}/letters/{two}"' in other.text
    assert f'src="{path}/letters/{one}"' in (await ada.get(f"{path}/review?email=x")).text
    letter = await ada.get(f"{path}/letters/{two}")
    assert '<html lang="de"' in letter.text and "Call me, please." in letter.text
    assert "sandbox;" in letter.headers["Content-Security-Policy"] and "/s/…" in letter.text
    assert (await ada.get(f"{path}/letters/{four}")).status == 404
    assert await read_tables(office) == before


async def test_the_review_shows_pages_with_their_fields_in_the_colours_of_their_holders(
    office: Office,
) -> None:
    ada = await office.signed_in("Maren")
    body = contract.build_create_body()
    made = await office.site.api.ok("POST", "/documents", body)
    page = await ada.get(f"/documents/{made['id']}/review")
    said = ISOLATES.sub("", page.said)
    assert "Page 1 2 fields" in said and "Page 2 11 fields" in said and "Page 3 6 fields" in said
    assert f'href="/documents/{made["id"]}/fields#page-2"' in page.text
    assert page.text.count("<rect ") == 19
    assert page.text.count('<rect data-r="1"') == 13 and page.text.count('<rect data-r="2"') == 6


async def test_a_field_count_is_the_same_on_every_page(office: Office) -> None:
    """People step, editor, review, the page of the document, and its template."""
    ada = await office.signed_in("Maren")
    made = await office.site.api.ok("POST", "/documents", contract.build_create_body())
    path = f"/documents/{made['id']}"
    template = (await office.site.api.ok("POST", "/templates", {"fromDocumentId": made["id"]}))["id"]
    pages = {step: (await ada.get(f"{path}{step}")).said for step in ("", "/edit", "/fields", "/review")}
    assert all("13 fields" in pages[step] and "6 fields" in pages[step] for step in ("", "/edit", "/review"))
    assert all("19 fields" in pages[step] for step in ("", "/fields", "/review"))
    assert "13 fields · 11 to fill in" in pages["/review"]
    assert "19 fields" in (await ada.get(f"/templates/{template}")).said
    await office.site.api.ok("POST", f"{path}/send")
    said = (await ada.get(path)).said
    assert "13 fields" in said and "6 fields" in said and "Fields 19 fields" in said


async def test_a_template_is_seen_as_whoever_takes_a_role(office: Office) -> None:
    ada = await office.signed_in("Maren")
    made = await office.site.api.ok("POST", "/documents", contract.build_create_body())
    template = (await office.site.api.ok("POST", "/templates", {"fromDocumentId": made["id"]}))["id"]
    roles = (await office.site.api.ok("GET", f"/templates/{template}"))["roles"]
    before = await read_tables(office)
    found = re.findall(
        rf'"(/templates/{template}/preview/\w+)"', (await ada.get(f"/templates/{template}")).text
    )
    assert len(found) == len(roles) == 2
    page = await ada.get(found[0])
    assert "this is what Signer 1 will see." in page.said and f'href="/templates/{template}"' in page.text
    assert "Garden" in (await ada.get(f"{found[0]}/pages/1.json")).text
    assert (await ada.get(f"/templates/{template}/preview/rol_nobody")).status == 404
    assert await read_tables(office) == before
