"""A new document: upload, people and message, review, sending; every step by forms alone."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from esign.actions.people import sessions
from esign.actions.people.sessions import SignInRequest
from esign.core.actor import Origin
from esign.core.people.member import MemberRole
from esign.core.people.user import Stage
from esign.demo import contract
from esign.store.people import organisations, users
from tests.web.office.visitor import Office, Page, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = '"><script>alert(1)</script>\u202e' + "W" * 60
ONCE = "a-name-of-the-page"
ISOLATES = re.compile("[\u2068\u2069]")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """One for all: every test makes drafts of its own."""
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        yield office


async def enter(office: Office, name: str, role: MemberRole = MemberRole.OWNER) -> Visitor:
    """A new session of somebody who is a member from their first visit on."""
    user = await users.find(office.runtime.db, f"{name.lower()}@example.test") or await office.user(
        name, role
    )
    [own] = await organisations.find_by_user(office.runtime.db, user.id)
    visitor = office.visitor()
    request = SignInRequest(Origin("127.0.0.1", None))
    visitor.hold(*await sessions.begin_session(office.runtime, user, own.id, Stage.WHOLE, request))
    return visitor


async def drafts(office: Office) -> list[str]:
    """The titles of all documents."""
    found = await office.site.api.ok("GET", "/documents?limit=100")
    return [document["title"] for document in found["data"]]


async def upload_file(visitor: Visitor, name: str = "lease.pdf", content: bytes | None = None) -> str:
    """The path of the new draft."""
    once = (await visitor.get("/documents/new")).value("once")
    page = await visitor.upload("/documents/new", "files", (name, content or contract.read_pdf()), once=once)
    return page.to.removesuffix("/edit")


def form_of(page: Page) -> dict[str, str]:
    """Every field of the draft's form as a browser without a script sends it."""
    form = page.text.partition('<form id="draft"')[2].partition("</form>")[0]
    found = {}
    for tag, attributes, inside in re.findall(
        r"<(input|select|textarea)\b([^>]*)>((?:(?!<input|<select|<textarea).)*)", form, re.DOTALL
    ):
        named = re.search(r' name="([^"]*)"', " " + attributes)
        if not named or ('type="checkbox"' in attributes and " checked" not in attributes):
            continue
        value = re.search(r' value="([^"]*)"', attributes)
        text = value[1] if value else ""
        if tag == "select":
            chosen = re.search(r'<option value="([^"]*)" selected', inside)
            text = chosen[1] if chosen else (re.findall(r'<option value="([^"]*)"', inside) or [""])[0]
        if tag == "textarea":
            text = inside.partition("</textarea>")[0].removeprefix("\n")
        found[unescape(named[1])] = unescape(text)
    return found


def rows_of(form: dict[str, str]) -> list[str]:
    return [name.removeprefix("name-") for name in form if name.startswith("name-")]


def person(key: str, name: str, email: str, **more: str) -> dict[str, str]:
    given = {"order": "1", "name": name, "email": email, "role": "signer", "authentication": "link"}
    return {f"{member}-{key}": text for member, text in (given | {"code": "", "locale": ""} | more).items()}


ADA, BO = ("Ada Lovelace", "ada@example.test"), ("Bo Weber", "bo@example.test")


async def open_form(visitor: Visitor, path: str) -> dict[str, str]:
    return form_of(await visitor.get(f"{path}/edit"))


async def save_form(visitor: Visitor, path: str, form: dict[str, str], **more: str) -> Page:
    return await visitor.post(f"{path}/edit", {**form, "csrf": visitor.csrf, **more})


async def by_script(visitor: Visitor, path: str, form: dict[str, str]) -> tuple[int, Any]:
    page = await visitor.post(
        f"{path}/edit", {**form, "csrf": visitor.csrf}, headers={"Accept": "application/json"}
    )
    return page.status, json.loads(page.text)


async def with_people(visitor: Visitor, *people: dict[str, str], **top: str) -> str:
    """The path of a draft with these recipients."""
    path = await upload_file(visitor)
    form = await open_form(visitor, path)
    first = rows_of(form)[0]
    form = {name: text for name, text in form.items() if not name.endswith(f"-{first}")}
    page = await save_form(visitor, path, form | top, **{k: v for one in people for k, v in one.items()})
    assert page.status == 303, page.wrong()
    return path


async def read_stored(office: Office, path: str) -> Any:
    return await office.site.api.get(path.removeprefix("/documents/"))


# ---------- the file ----------


async def test_a_file_becomes_a_draft_of_whoever_brought_it(office: Office) -> None:
    ada = await enter(office, "Ada")
    page = await ada.get("/documents/new")
    assert "Up to 25 MB and 500 pages per file." in page.said
    path = await upload_file(ada, "Lease 2027.pdf")
    draft = await read_stored(office, path)
    assert (draft["title"], draft["status"], draft["recipients"]) == ("Lease 2027", "draft", [])
    assert draft["createdBy"]["kind"] == "member" and draft["createdBy"]["name"] == "Ada"
    page = await ada.get(f"{path}/edit")
    assert "No changes needed" in page.said or "We changed the file" in page.said


async def test_a_file_that_is_sent_again_is_the_draft_that_it_became(office: Office) -> None:
    ada = await enter(office, "Ada")
    once = (await ada.get("/documents/new")).value("once")
    file = ("a.pdf", contract.read_pdf())
    first, again = [(await ada.upload("/documents/new", "files", file, once=once)).to for _ in range(2)]
    assert first == again
    other = await ada.upload("/documents/new", "files", file, once=once + "-2")
    assert other.to != first
    reused = await ada.upload("/documents/new", "files", ("b.pdf", contract.read_pdf()), once=once)
    assert reused.status == 422
    bo = await enter(office, "Bo", MemberRole.MEMBER)
    assert (await bo.upload("/documents/new", "files", file, once=once)).to != first


async def test_several_files_become_a_draft_each(office: Office) -> None:
    ada = await enter(office, "Ada")
    once = (await ada.get("/documents/new")).value("once")
    files = [("one.pdf", contract.read_pdf()), ("two.pdf", b"no pdf"), ("three.pdf", contract.read_pdf())]
    page = await ada.upload("/documents/new", "files", *files, once=once)
    assert page.status == 422
    assert (
        "This file can’t be read as a PDF. The file is not a PDF; save it as one and send that." in page.said
    )
    titles = set(await drafts(office))
    assert titles >= {"one", "three"} and "two" not in titles
    assert page.text.count('aria-label="Continue with') == 2


async def test_the_script_is_told_the_same(office: Office) -> None:
    ada = await enter(office, "Ada")
    await ada.get("/documents/new")
    how = {"accept": "application/json", "once": "told-to-a-script"}
    made = await ada.upload("/documents/new", "files", ("a.pdf", contract.read_pdf()), **how)
    assert re.fullmatch(r"/documents/doc_\w+/edit", json.loads(made.text)["to"])
    refused = await ada.upload(
        "/documents/new", "files", ("a.pdf", b"%PDF-1.7 nothing"), **how | {"once": "told-to-a-script-2"}
    )
    assert refused.status == 422 and json.loads(refused.text)["refused"]["title"]
    csrf, ada.csrf = ada.csrf, "x"
    forged = await ada.upload("/documents/new", "files", ("a.pdf", b""), **how)
    assert (forged.status, json.loads(forged.text)["error"]["code"]) == (400, "invalid_request")
    ada.csrf = csrf


@pytest.mark.parametrize(
    ("files", "told"), [((), "No file was chosen."), ((("../x.pdf", b"%PDF-"),), "Rename the file")]
)
async def test_what_is_no_file_at_all_is_refused(office: Office, files: Any, told: str) -> None:
    ada = await enter(office, "Ada")
    once = (await ada.get("/documents/new")).value("once")
    page = await ada.upload("/documents/new", "files", *files, once=once)
    assert page.status == 422 and told in page.said


async def test_nobody_uploads_who_may_not_and_nothing_is_read_of_it(office: Office) -> None:
    vi = await enter(office, "Vi", MemberRole.VIEWER)
    for visitor, status in ((vi, 403), (office.visitor(), 303)):
        page = await visitor.upload("/documents/new", "files", ("unread.pdf", contract.read_pdf()), once=ONCE)
        assert page.status == status
    assert "unread" not in await drafts(office)


async def test_a_form_that_is_too_large_is_answered(office: Office) -> None:
    ada = await enter(office, "Ada")
    await ada.get("/documents/new")
    page = await ada.upload("/documents/new", "files", ("a.pdf", bytes(37 * 2**20)), once=ONCE)
    assert page.status == 400 and "larger than" in page.said


CORPUS = {
    "16-acroform-form-fields-test": "Form fields became part of the pages, together with what was typed in them.",
    "20-javascript-evaljs": "Scripts were removed.",
    "21-embedded_files-annotation-fileattachment": "Attached files were removed.",
    "24-owner_password-issue9972-3": "Restrictions on printing or copying were removed.",
    "34-broken-issue17147": "The file was damaged and has been repaired.",
}
REFUSED = {
    "25-password_required-issue19484_1": "The file is encrypted. The file is protected by a password",
    "27-signed-small_valid-signed": "The file already has a digital signature.",
    "19-xfa_dynamic-issue14130": "This kind of PDF can’t be signed here.",
    "35-unreadable-issue16091": "This file can’t be read as a PDF. The file is damaged",
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", CORPUS)
async def test_what_was_changed_in_a_file_is_told(office: Office, corpus: Path, name: str) -> None:
    ada = await enter(office, "Ada")
    path = await upload_file(ada, f"{name}.pdf", (corpus / f"{name}.pdf").read_bytes())
    coming = {CORPUS["16-acroform-form-fields-test"]: "Form fields in the file become fields to fill in"}
    assert coming.get(CORPUS[name], CORPUS[name]) in (await ada.get(f"{path}/edit")).said
    assert CORPUS[name] in (await ada.get(f"{path}/review")).said


@pytest.mark.corpus
@pytest.mark.parametrize("name", REFUSED)
async def test_why_a_file_is_refused_is_told_and_nothing_is_stored(
    office: Office, corpus: Path, name: str
) -> None:
    ada = await enter(office, "Ada")
    once = (await ada.get("/documents/new")).value("once")
    file = (f"{name}.pdf", (corpus / f"{name}.pdf").read_bytes())
    page = await ada.upload("/documents/new", "files", file, once=once)
    assert page.status == 422 and REFUSED[name] in page.said
    assert name not in await drafts(office)


async def test_a_file_is_replaced_if_every_field_has_its_page(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    await ada.get(f"{path}/edit")
    page = await ada.upload(f"{path}/file", "file", ("other.pdf", contract.read_pdf()))
    assert page.to == f"{path}/edit?done=file-replaced"
    assert (await read_stored(office, path))["fileName"] == "other.pdf"
    page = await ada.upload(f"{path}/file", "file", ("worse.pdf", b"nothing"))
    assert page.status == 422 and "The file is not a PDF" in page.wrong()["file"]
    assert (await read_stored(office, path))["fileName"] == "other.pdf"


# ---------- people and message ----------


async def test_a_draft_is_written_down_as_the_api_knows_it(office: Office) -> None:
    ada = await enter(office, "Ada")
    people = [
        person("new1", *ADA, authentication="access_code", code="Blue heron", locale="de"),
        person("new2", *BO, role="approver", order="2", authentication="email_code"),
        person("new3", "Cy", "cy@example.test", role="cc", order="3"),
    ]
    top = {"title": "Lease", "subject": "Please sign", "message": "Dear all,\r\nhere it is.", "locale": "fr"}
    path = await with_people(ada, *people, **top, days="14", first="2", every="7", most="3")
    draft = await read_stored(office, path)
    assert (draft["title"], draft["subject"], draft["message"]) == (
        "Lease",
        "Please sign",
        "Dear all,\nhere it is.",
    )
    assert (draft["locale"], draft["expiresInDays"]) == ("fr", 14)
    assert draft["reminders"] == {"enabled": True, "firstAfterDays": 2, "everyDays": 7, "max": 3}
    seen = [(r["name"], r["role"], r["order"], r["authentication"], r["locale"]) for r in draft["recipients"]]
    assert seen == [
        ("Ada Lovelace", "signer", 1, "access_code", "de"),
        ("Bo Weber", "approver", 2, "email_code", None),
        ("Cy", "cc", 3, "link", None),
    ]
    form = await open_form(ada, path)
    page = await save_form(ada, path, {n: t for n, t in form.items() if n != "remind"})
    assert page.status == 303
    after = await read_stored(office, path)
    assert after["reminders"]["enabled"] is False and after["recipients"] == draft["recipients"]


async def test_saving_what_is_there_already_writes_nothing(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    before = await read_stored(office, path)
    assert (await save_form(ada, path, await open_form(ada, path))).status == 303
    assert (await read_stored(office, path))["revision"] == before["revision"]


async def test_what_cannot_be_saved_stays_with_a_sentence_and_the_rest_is_saved(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    form = await open_form(ada, path)
    key = rows_of(form)[0]
    wrong = {f"email-{key}": "ada@", "days": "400", "first": "soon", "title": "", "subject": "Please sign"}
    page = await save_form(
        ada,
        path,
        form | wrong,
        **person("new7", "Bo", ""),
        **person("new8", *BO, authentication="access_code"),
    )
    assert page.status == 422
    assert page.wrong() == {
        "title": "Please fill this in.",
        f"email-{key}": "An email address such as ana@example.com.",
        "email-new7": "Please fill this in.",
        "code-new8": "Enter a code that you share with the recipient.",
        "days": "At most 365.",
        "first": "A whole number.",
    }
    shown = form_of(page)
    assert (shown[f"email-{key}"], shown["days"], shown["name-new7"]) == ("ada@", "400", "Bo")
    draft = await read_stored(office, path)
    assert (draft["title"], draft["subject"]) == ("lease", "Please sign")
    assert [r["email"] for r in draft["recipients"]] == ["ada@example.test"]


async def test_people_come_go_and_move_by_buttons(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA, order="1"), person("new2", *BO, order="2"))
    page = await save_form(ada, path, await open_form(ada, path), do="add")
    assert page.to == f"{path}/edit?more=1&done=draft-saved"
    form = form_of(await ada.get(f"{path}/edit?more=1"))
    one, two, new = rows_of(form)
    form |= person(new, "Cy", "cy@example.test", order="2")
    await save_form(ada, path, form, do=f"up-{two}")

    async def order() -> list[tuple[str, int]]:
        return [(r["name"], r["order"]) for r in (await read_stored(office, path))["recipients"]]

    assert await order() == [("Bo Weber", 1), ("Ada Lovelace", 2), ("Cy", 2)]
    await save_form(ada, path, await open_form(ada, path), do="sequence")
    assert [n for _, n in await order()] == [1, 2, 3]
    await save_form(ada, path, await open_form(ada, path), do=f"down-{one}")
    assert await order() == [("Bo Weber", 1), ("Cy", 2), ("Ada Lovelace", 3)]
    await save_form(ada, path, await open_form(ada, path), do="together")
    assert [n for _, n in await order()] == [1, 1, 1]
    await save_form(ada, path, await open_form(ada, path), do=f"remove-{one}")
    assert [name for name, _ in await order()] == ["Bo Weber", "Cy"]
    await save_form(ada, path, await open_form(ada, path), do="up-nobody")
    assert [name for name, _ in await order()] == ["Bo Weber", "Cy"]


async def give_field(office: Office, path: str) -> str:
    """A signature for the first recipient, whose id it answers."""
    first = (await read_stored(office, path))["recipients"][0]["id"]
    field = {"type": "signature", "page": 1, "x": 10, "y": 10}
    place = f"{path}/recipients/{first}"
    await office.site.api.ok("PATCH", place, {"fields": [field]})
    return str(first)


async def test_fields_stay_with_their_people_and_who_has_some_is_removed_after_a_question(
    office: Office,
) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA, order="1"), person("new2", *BO, order="2"))
    first = await give_field(office, path)
    form = await open_form(ada, path)
    await save_form(ada, path, form | {f"name-{first}": "Ada King"}, do=f"down-{first}")
    people = (await read_stored(office, path))["recipients"]
    assert [(r["name"], len(r["fields"])) for r in people] == [("Bo Weber", 0), ("Ada King", 1)]
    form = await open_form(ada, path)
    page = await save_form(ada, path, form | {"subject": "Typed"}, do=f"remove-{first}")
    assert page.title == "Remove Ada King?" and "1 field" in page.said
    assert len((await read_stored(office, path))["recipients"]) == 2
    kept = dict(
        re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text.partition("<main")[2])
    )
    page = await save_form(ada, path, {n: unescape(t) for n, t in kept.items()}, do=f"remove-{first}")
    draft = await read_stored(office, path)
    assert [r["name"] for r in draft["recipients"]] == ["Bo Weber"] and draft["subject"] == "Typed"


async def test_a_role_without_fields_is_refused_at_its_place(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    first = await give_field(office, path)
    page = await save_form(
        ada, path, await open_form(ada, path) | {f"role-{first}": "viewer", "subject": "Kept"}
    )
    assert page.wrong() == {f"role-{first}": "Only signers and approvers may hold fields."}
    draft = await read_stored(office, path)
    assert draft["recipients"][0]["role"] == "signer" and draft["subject"] == "Kept"


async def test_hostile_text_stays_text(office: Office) -> None:
    ada = await enter(office, "Ada")
    top = {"title": HOSTILE, "subject": HOSTILE, "message": HOSTILE}
    path = await with_people(ada, person("new1", HOSTILE, "ada@example.test"), **top)
    for step in ("edit", "review", "discard"):
        page = await ada.get(f"{path}/{step}")
        assert page.status == 200 and "<script>alert" not in page.text and HOSTILE in unescape(page.text)


async def test_a_code_is_never_shown_again_and_stays_until_another_comes(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA, authentication="access_code", code="Blue heron"))
    page = await ada.get(f"{path}/edit")
    assert "Blue heron" not in page.text and "A code is set." in page.said
    before = await read_stored(office, path)
    assert (await save_form(ada, path, form_of(page))).status == 303
    assert (await read_stored(office, path))["revision"] == before["revision"]
    key = rows_of(form_of(page))[0]
    page = await save_form(ada, path, form_of(page) | {f"code-{key}": "abc"})
    assert page.wrong() == {f"code-{key}": "4 characters or more."}


# ---------- two people ----------


async def test_two_who_change_different_things_both_count(office: Office) -> None:
    ada, bo = await enter(office, "Ada"), await enter(office, "Bo", MemberRole.MEMBER)
    path = await with_people(ada, person("new1", *ADA))
    hers, his = await open_form(ada, path), await open_form(bo, path)
    key = rows_of(hers)[0]
    assert (await save_form(bo, path, his | {"title": "By Bo", f"locale-{key}": "de"})).status == 303
    page = await save_form(ada, path, hers | {"subject": "By Ada"}, **person("new5", *BO))
    assert page.status == 303
    draft = await read_stored(office, path)
    assert (draft["title"], draft["subject"]) == ("By Bo", "By Ada")
    assert [(r["name"], r["locale"]) for r in draft["recipients"]] == [
        ("Ada Lovelace", "de"),
        ("Bo Weber", None),
    ]


async def test_two_who_change_the_same_thing_choose_and_lose_nothing(office: Office) -> None:
    ada, bo = await enter(office, "Ada"), await enter(office, "Bo", MemberRole.MEMBER)
    path = await with_people(ada, person("new1", *ADA))
    hers, his = await open_form(ada, path), await open_form(bo, path)
    key = rows_of(hers)[0]
    await save_form(bo, path, his | {"title": "By Bo", f"name-{key}": "Ada B.", "subject": "His"})
    mine = hers | {"title": "By Ada", f"name-{key}": "Ada A.", "message": "Hers"}
    assert await by_script(ada, path, mine) == (409, {"conflict": True})
    page = await save_form(ada, path, mine)
    assert page.status == 409 and page.title == "Choose which version to keep"
    assert all(text in page.said for text in ("By Ada", "By Bo", "Ada A.", "Ada B."))
    assert (await read_stored(office, path))["message"] is None
    kept = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text.partition("<main")[2])
    choices = {f"choose-name-{key}": "mine", "choose-title": "theirs"}
    page = await save_form(ada, path, {n: unescape(t) for n, t in kept}, **choices)
    assert page.to == f"{path}/edit?chosen=1&done=draft-saved"
    draft = await read_stored(office, path)
    assert (draft["title"], draft["subject"], draft["message"]) == ("By Bo", "His", "Hers")
    assert draft["recipients"][0]["name"] == "Ada A."


@pytest.mark.parametrize(("choice", "names"), [("mine", ["Bo Weber", "Ada A."]), ("theirs", ["Bo Weber"])])
async def test_who_was_removed_by_one_and_changed_by_the_other_is_asked_about(
    office: Office, choice: str, names: list[str]
) -> None:
    ada, bo = await enter(office, "Ada"), await enter(office, "Bo", MemberRole.MEMBER)
    path = await with_people(ada, person("new1", *ADA, order="2"), person("new2", *BO))
    hers, his = await open_form(ada, path), await open_form(bo, path)
    key = next(key for key in rows_of(hers) if hers[f"name-{key}"] == "Ada Lovelace")
    await save_form(bo, path, his, do=f"remove-{key}")
    page = await save_form(ada, path, hers | {f"name-{key}": "Ada A."})
    assert page.status == 409 and "Removed" in page.said
    kept = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text.partition("<main")[2])
    page = await save_form(ada, path, {n: unescape(t) for n, t in kept}, **{f"choose-row-{key}": choice})
    assert page.status == 303
    assert [r["name"] for r in (await read_stored(office, path))["recipients"]] == names


async def test_the_script_is_told_what_became_of_it(office: Office) -> None:
    ada, bo = await enter(office, "Ada"), await enter(office, "Bo", MemberRole.MEMBER)
    path = await upload_file(ada)
    form, his = await open_form(ada, path), await open_form(bo, path)
    status, told = await by_script(ada, path, form | person("new1", *ADA) | {"days": "0"})
    [first] = (await read_stored(office, path))["recipients"]
    assert status == 200 and told["ids"] == {"new1": first["id"]} and told["wrong"] == {"days": "At least 1."}
    assert ISOLATES.sub("", told["outline"]) == "1 signer\nAda Lovelace is invited as soon as you send it."
    assert json.loads(told["seen"])["rows"].keys() == {first["id"]}
    status, other = await by_script(bo, path, his | {"subject": "By Bo"} | person("new1", *BO))
    assert other["seen"] is None, "a recipient came whom his page does not show"
    renamed = {n.replace("new1", first["id"]): t for n, t in (form | person("new1", *ADA)).items()}
    status, told = await by_script(ada, path, renamed | {"seen": told["seen"]})
    assert told["values"]["subject"] == "By Bo" and told["seen"] is None


async def test_a_draft_that_was_sent_meanwhile_takes_nothing_more(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    form = await open_form(ada, path)
    await office.site.api.ok("POST", f"{path}/send")
    status, told = await by_script(ada, path, form | {"title": "Late"})
    assert (status, told["error"]["code"]) == (409, "document_not_draft")
    assert (await save_form(ada, path, form)).status == 409
    for step in ("edit", "review", "discard"):
        assert (await ada.get(f"{path}/{step}")).to == path


# ---------- review and sending ----------


async def test_a_review_shows_everything_as_it_will_be(office: Office) -> None:
    ada = await enter(office, "Ada")
    people = [
        person("new1", ADA[0], "lovelace@example.test"),
        person("new2", *BO, role="approver", order="2", locale="de"),
        person("new3", "Cy", "cy@example.test", role="cc"),
    ]
    path = await with_people(ada, *people, message="Call me if anything is unclear.", days="14")
    await give_field(office, path)
    said = ISOLATES.sub("", (await ada.get(f"{path}/review")).said)
    assert "1 signer · 1 approver · 1 gets a copy Invited in this order: Ada Lovelace, then Bo Weber." in said
    assert "Email isn’t set up, so nothing is emailed" in said and "To lovelace@example.test" in said
    assert (
        "if you send it now (14 days)" in said
        and "First after 3 days · then every 4 days · at most 5 reminders" in said
    )
    assert "Approves · Link only · Deutsch · No fields" in said and "1 field" in said
    page = await ada.get(f"{path}/review")
    page = await ada.post(f"{path}/send", revision=page.value("revision"))
    assert page.to == f"{path}?done=sent"
    assert (await read_stored(office, path))["status"] == "sent"
    assert "Call me if anything is unclear." in await office.letter("lovelace@example.test")
    assert (await ada.post(f"{path}/send", revision="1")).to == path, "who presses twice sends once"
    assert len([mail for mail in await office.mails() if "lovelace@" in mail.recipient]) == 1


async def test_a_signer_has_the_colour_of_the_editor_on_every_page_whoever_gets_a_copy_before(
    office: Office,
) -> None:
    ada = await enter(office, "Ada")
    people = [person("new1", "Cy", "cy@example.test", role="cc"), person("new2", *BO)]
    path = await with_people(ada, *people)
    for page in (await ada.get(f"{path}/review"), await ada.get(path)):
        rows = re.findall(
            r'<li class="(?:rrow still|rcp)"( data-r="\d")?>.*?(Bo Weber|Cy)\b', page.text, re.DOTALL
        )
        assert sorted(rows) == [("", "Cy"), (' data-r="1"', "Bo Weber")]


async def test_what_is_missing_is_told_with_the_way_to_mend_it(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await upload_file(ada)
    page = await ada.get(f"{path}/review")
    assert (
        "At least one recipient must be a signer." in page.said and f'href="{path}/edit#people"' in page.text
    )
    assert "Send without email" not in page.said
    page = await ada.post(f"{path}/send", revision="1")
    assert page.status == 422 and "The document can’t be sent yet." in page.said
    path = await with_people(ada, person("new1", "Ada \ue123", "ada@example.test"), title="\ue123")
    page = await ada.get(f"{path}/review")
    assert "No installed font can print \ue123 (symbol)" in page.said
    key = (await read_stored(office, path))["recipients"][0]["id"]
    assert f'href="{path}/edit#name-{key}"' in page.text and f'href="{path}/edit#title"' in page.text


async def test_what_was_not_reviewed_is_not_sent(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    revision = (await ada.get(f"{path}/review")).value("revision")
    await office.site.api.ok("PATCH", path, {"title": "Quite another thing"})
    page = await ada.post(f"{path}/send", revision=revision)
    assert page.status == 422 and "Someone changed this draft." in page.said
    assert "Quite another thing" in page.said and (await read_stored(office, path))["status"] == "draft"
    assert (await ada.post(f"{path}/send", revision=page.value("revision"))).to == f"{path}?done=sent"


async def test_who_presses_twice_at_once_sends_once_and_comes_to_the_document(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    form = {"revision": (await ada.get(f"{path}/review")).value("revision"), "csrf": ada.csrf}
    pages = await asyncio.gather(*(ada.post(f"{path}/send", form) for _ in range(3)))
    assert sorted(page.to for page in pages) == [path, path, f"{path}?done=sent"]
    assert (await read_stored(office, path))["status"] == "sent"


async def test_a_draft_is_discarded_after_a_question_and_nothing_else_is(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    page = await ada.get(f"{path}/discard")
    assert page.title == "Discard draft?" and "You can’t undo this." in page.said
    assert (await ada.post(f"{path}/discard")).to == "/documents?done=discarded"
    assert (await ada.get(f"{path}/edit")).status == 404
    path = await with_people(ada, person("new1", *ADA))
    await office.site.api.ok("POST", f"{path}/send")
    await office.site.api.ok("POST", f"{path}/cancel", {"notify": False})
    assert (await ada.post(f"{path}/discard")).status == 409, "what has ended is no draft"
    assert (await read_stored(office, path))["status"] == "cancelled"


async def test_a_draft_that_somebody_changed_meanwhile_is_not_discarded_unseen(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    revision = (await ada.get(f"{path}/discard")).value("revision")
    await office.site.api.ok("PATCH", path, {"message": "Hours of work"})
    page = await ada.post(f"{path}/discard", revision=revision)
    assert page.status == 422 and "Check it again before you discard it." in page.said
    assert (await read_stored(office, path))["message"] == "Hours of work"
    assert (await ada.post(f"{path}/discard", revision=page.value("revision"))).to.endswith("discarded")


async def test_drafts_of_the_other_mode_are_nowhere(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await with_people(ada, person("new1", *ADA))
    await ada.post("/mode", mode="test")
    for step in ("edit", "review", "discard"):
        assert (await ada.get(f"{path}/{step}")).status == 404
    for step in ("edit", "send", "discard"):
        assert (await ada.post(f"{path}/{step}")).status == 404


async def test_a_recipient_whose_answer_was_lost_is_stored_once(office: Office) -> None:
    ada, bo = await enter(office, "Ada"), await enter(office, "Bo", MemberRole.MEMBER)
    path = await upload_file(ada)
    form, his = await open_form(ada, path), await open_form(bo, path)
    [one], [other] = rows_of(form), rows_of(his)
    assert other != one, "two pages never name somebody new alike"
    assert (await by_script(ada, path, form | person(one, "Ada Lo", ADA[1])))[0] == 200
    assert (await by_script(bo, path, his | person(other, *BO)))[0] == 200
    status, told = await by_script(ada, path, form | person(one, *ADA) | person("new_" + "x" * 12, *BO))
    found = (await read_stored(office, path))["recipients"]
    assert [r["name"] for r in found] == ["Ada Lovelace", "Bo Weber", "Bo Weber"]
    assert status == 200 and told["ids"] == {one: found[0]["id"], "new_" + "x" * 12: found[1]["id"]}
    assert told["seen"] is None, "a recipient came whom her page does not show"
    twice = await open_form(ada, path) | person(one, "Ada L.", ADA[1])
    assert (await by_script(ada, path, twice))[1]["ids"] == {one: found[0]["id"]}
    names = [r["name"] for r in (await read_stored(office, path))["recipients"]]
    assert sorted(names) == ["Ada L.", "Bo Weber", "Bo Weber"]


async def test_thousands_of_rows_are_refused_before_each_is_looked_at(office: Office) -> None:
    ada = await enter(office, "Ada")
    path = await upload_file(ada)
    rows = {f"name-k{n}": "Somebody" for n in range(4_900)}
    status, told = await by_script(ada, path, await open_form(ada, path) | rows)
    assert status == 400 and "at most" in told["error"]["message"]
