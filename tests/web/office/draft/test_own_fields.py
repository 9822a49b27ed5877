"""Fields that a file asks for: placed by themselves, once, and taken back."""

import base64
import json
from typing import Any

from tests.pdf.forms import mark_page, with_form
from tests.web.office.draft.test_new import form_of
from tests.web.office.visitor import Office, Visitor

JSON = {"Accept": "application/json"}
PEOPLE = [
    {"name": "Cy", "email": "cy@example.test", "role": "approver"},
    {"name": "Ada Lovelace", "email": "ada@example.test"},
]
MARKS = ((60, 700, "{{initials:1}}"), (60, 600, "{{signature:2}}"), (60, 500, "{{date:7}}"))


async def a_draft(office: Office, file: bytes, **changes: Any) -> str:
    return await office.site.api.create(
        **{"recipients": PEOPLE, "file": base64.b64encode(file).decode(), **changes}
    )


async def go_on(visitor: Visitor, document: str, act: str = "next") -> str:
    page = await visitor.get(f"/documents/{document}/edit")
    return (await visitor.post(f"/documents/{document}/edit", form_of(page), do=act)).to


async def read_fields(office: Office, document: str) -> list[tuple[str, str]]:
    found = await office.site.api.get(document)
    return [(one["name"], field["type"]) for one in found["recipients"] for field in one["fields"]]


async def read_hash(office: Office, made: str) -> str:
    """The hash of the file that people see of a document or template."""
    kind = "document" if made.startswith("doc_") else "template"
    stored = await office.runtime.db.one(f"SELECT file FROM {kind} WHERE id = :id", id=made)
    assert stored is not None
    return str(json.loads(stored["file"])["prepared"])


async def test_going_on_from_the_recipients_places_them_once(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office, mark_page(*MARKS))
    before = await read_hash(office, document)
    assert await go_on(ada, document) == f"/documents/{document}/fields?found=2"
    assert await read_fields(office, document) == [("Cy", "initials"), ("Ada Lovelace", "signature")]
    assert await read_hash(office, document) != before
    page = await ada.get(f"/documents/{document}/fields?found=2")
    assert "2 fields were found in the file." in page.said
    assert "became fields to fill in" in (await ada.get(f"/documents/{document}/edit")).said

    undone = await ada.post(f"/documents/{document}/fields/found/undo")
    assert undone.to == f"/documents/{document}/fields?done=own-fields-undone"
    assert await read_fields(office, document) == []
    assert await read_hash(office, document) == before
    assert await go_on(ada, document) == f"/documents/{document}/fields", "taken back once is taken back"
    assert await read_fields(office, document) == []


async def test_pictures_of_the_file_as_it_was_before_go(office: Office) -> None:
    ada, file = await office.signed_in("Ada"), mark_page(*MARKS, (60, 400, "{{text:1}}"))
    document = await a_draft(office, file)
    body = {
        "file": base64.b64encode(file).decode(),
        "fileName": "a.pdf",
        "roles": [{"key": "a", "name": "A"}],
    }
    template = (await office.site.api.ok("POST", "/templates", body))["id"]
    await office.site.api.ok("DELETE", f"/documents/{document}")  # now the template alone has the file
    document = await a_draft(office, mark_page(*MARKS, (60, 300, "{{text:1}}")))
    for path in (f"/documents/{document}", f"/templates/{template}"):
        for act in ("found", "found/undo"):
            before = await read_hash(office, path.rpartition("/")[2])
            office.runtime.pictures.write(before, "1.2", b"picture")
            await ada.get(f"{path}/fields")
            await ada.post(f"{path}/fields/{act}", headers=JSON)
            assert await read_hash(office, path.rpartition("/")[2]) != before
            assert not office.runtime.pictures.has(before, "1.2"), (path, act)


async def test_a_form_is_for_the_first_signer_and_dropdowns_keep_their_value(office: Office) -> None:
    form = with_form(
        {"FT": "/Tx", "T": "city"},
        {"FT": "/Ch", "T": "c", "Ff": 1 << 17, "Opt": ["Red", "Blue"], "V": "Blue", "Rect": (9, 9, 90, 30)},
    )
    ada, document = await office.signed_in("Ada"), await a_draft(office, form)
    said = (await ada.get(f"/documents/{document}/edit")).said
    assert "Form fields in the file become fields to fill in when you choose “Place fields”." in said
    assert "became part of the pages" not in said
    assert await go_on(ada, document, "review") == f"/documents/{document}/review?found=2"
    assert "2 fields were found in the file." in (await ada.get(f"/documents/{document}/review?found=2")).said
    fields = (await office.site.api.get(document))["recipients"][1]["fields"]
    assert [(one["type"], one.get("value")) for one in fields] == [("text", None), ("dropdown", "Blue")]
    said = (await ada.get(f"/documents/{document}/edit")).said
    assert "became fields to fill in" in said and "become fields" not in said
    await ada.post(f"/documents/{document}/fields/found/undo")
    assert "became part of the pages" in (await ada.get(f"/documents/{document}/edit")).said


async def test_what_somebody_placed_stays_and_the_rest_comes_on_request(office: Office) -> None:
    mine = {"type": "text", "page": 1, "x": 5, "y": 5, "width": 20, "height": 4, "key": "city"}
    people = [PEOPLE[0], {**PEOPLE[1], "fields": [mine]}]
    form = with_form({"FT": "/Tx", "T": "city"})
    ada, document = await office.signed_in("Ada"), await a_draft(office, form, recipients=people)
    assert await go_on(ada, document) == f"/documents/{document}/fields"
    await ada.get(f"/documents/{document}/fields")
    cy = (await office.site.api.get(document))["recipients"][0]["id"]
    placed = await ada.post(f"/documents/{document}/fields/found", holder=cy, headers=JSON)
    assert json.loads(placed.text) == {"placed": 1}
    assert await read_fields(office, document) == [("Cy", "text"), ("Ada Lovelace", "text")]
    again = await ada.post(f"/documents/{document}/fields/found", headers=JSON)
    assert json.loads(again.text) == {"placed": 0}
    await ada.post(f"/documents/{document}/fields/found/undo")
    assert await read_fields(office, document) == [("Ada Lovelace", "text")]


async def test_nothing_is_placed_without_anybody_to_fill_it_in(office: Office) -> None:
    ada, document = await office.signed_in("Ada"), await a_draft(office, mark_page(*MARKS), recipients=[])
    await ada.get(f"/documents/{document}/fields")
    placed = await ada.post(f"/documents/{document}/fields/found", headers=JSON)
    assert json.loads(placed.text) == {"placed": 0}


async def test_the_fields_of_a_template_are_placed_for_its_roles(office: Office) -> None:
    ada = await office.signed_in("Ada")
    file = base64.b64encode(mark_page(*MARKS)).decode()
    roles = [{"key": "buyer", "name": "Buyer"}, {"key": "seller", "name": "Seller"}]
    made = await office.site.api.ok("POST", "/templates", {"file": file, "fileName": "a.pdf", "roles": roles})
    template = made["id"]
    await ada.get(f"/templates/{template}/fields")
    placed = await ada.post(f"/templates/{template}/fields/found", headers=JSON)
    assert json.loads(placed.text) == {"placed": 2}
    page = await ada.get(f"/templates/{template}/fields?found=2")
    assert "2 fields were found in the file." in page.said and "Buyer · Page 1" in page.said
    await ada.post(f"/templates/{template}/fields/found/undo")
    assert "Buyer · Page 1" not in (await ada.get(f"/templates/{template}/fields")).said
