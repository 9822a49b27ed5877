"""The sentences of errors reach each kind of page, and each script, in the reader's language.

No test depends on a translation: for these, everything that is raised is said in German with a mark before it.
"""

import io
import json
from collections.abc import Iterator
from typing import Any, cast

import pikepdf
import pytest

from esign.core.people.member import MemberRole
from esign.jobs import worker
from esign.mail.failure import TemporaryFailure
from esign.web.office.frame.words import load_words
from tests.fakes import FakeMailbox
from tests.web.office.draft.test_new import by_script, open_form, upload_file
from tests.web.office.server.test_mail_list import HERE as OUTBOX
from tests.web.office.server.test_mail_list import posting
from tests.web.office.server.test_seal import list_problems, upload_seal
from tests.web.office.visitor import Office, Page, Visitor

MARK = "§"
JSON = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def marked() -> Iterator[None]:
    """Put a mark before every sentence in German."""
    german = cast("dict[str, Any]", load_words("de").sentences)
    kept = dict(german)
    for form, said in load_words("en").sentences.items():
        german[form] = (
            {name: f"{MARK}{text}" for name, text in said.items()}
            if isinstance(said, dict)
            else f"{MARK}{said}"
        )
    yield
    german.clear()
    german.update(kept)


async def enter(office: Office) -> Visitor:
    """Sign in somebody who reads German."""
    ada = await office.signed_in("Ada")
    await ada.post("/language", locale="de")
    await ada.get("/account")
    return ada


def read_json(page: Page) -> Any:
    return json.loads(page.text)


async def test_at_the_fields_of_a_form(office: Office) -> None:
    ada = await enter(office)
    once = (await ada.get("/contacts/new")).value("once")
    page = await ada.post("/contacts/new", name="", email="nobody", company="c" * 201, once=once)
    assert page.wrong() == {
        "name": "§Please fill this in.",
        "email": "§An email address such as ana@example.com.",
        "company": "§200 characters or fewer.",
    }


async def test_where_a_new_password_is_easy_to_guess(office: Office) -> None:
    ada = await enter(office)
    page = await ada.post("/account/password", current="x", password="password1234", code="")
    assert page.wrong()["password"].startswith("§This password is easy to guess")


async def test_on_a_page_of_its_own(office: Office) -> None:
    viewer = await office.signed_in("Vi", MemberRole.VIEWER)
    refused = await viewer.get("/members", {"Accept-Language": "de"})
    assert "§Your role doesn’t allow this." in refused.said
    odd = await office.visitor().post("/sign-in", {"email": "a"}, headers={"Accept-Language": "de"}, csrf="")
    assert "§Please fill this in." in odd.wrong().values()


async def test_before_anybody_is_known(office: Office) -> None:
    site, german = office.site, {"Accept-Language": "de", "Sec-Fetch-Site": "same-origin"}
    async with office.browser.post(
        f"{site.base}/sign-in", data=b"{}", headers={**german, "Origin": site.base, "Accept": "text/html"}
    ) as answer:
        assert "§Send the form of the page." in await answer.text()


async def test_for_the_script_that_uploads(office: Office) -> None:
    ada = await enter(office)
    await ada.get("/documents/new")
    how = {"accept": JSON["Accept"], "once": "told-to-a-script"}
    refused = await ada.upload("/documents/new", "files", ("a.pdf", b"no"), **how)
    assert read_json(refused)["refused"] == {
        "title": "§This file can’t be read as a PDF.",
        "advice": "§The file is not a PDF; save it as one and send that.",
    }
    ada.csrf = "x"
    forged = await ada.upload("/documents/new", "files", ("a.pdf", b"no"), **how)
    assert read_json(forged)["error"]["message"].startswith("§This page was open for a long time.")


async def test_what_a_worker_found_in_a_file(office: Office) -> None:
    ada, file = await enter(office), io.BytesIO()
    with pikepdf.new() as pdf:
        pdf.add_blank_page(page_size=(100.5, 14_400))
        pdf.save(file)
    once = (await ada.get("/documents/new")).value("once")
    page = await ada.upload("/documents/new", "files", ("a.pdf", file.getvalue()), once=once)
    assert "§Page 1 measures 100,5 by 14400 points; sides must have 3 to 14.400 points" in page.said


async def test_for_the_script_that_saves_a_draft(office: Office) -> None:
    ada = await enter(office)
    path = await upload_file(ada)
    status, told = await by_script(ada, path, await open_form(ada, path) | {"days": "0"})
    assert (status, told["wrong"]) == (200, {"days": "§At least 1."})


async def test_for_the_editor_of_fields(office: Office) -> None:
    ada = await enter(office)
    path = await upload_file(ada)
    page = await ada.post(f"{path}/fields", fields='{"recipients":[],"x":1}', revision="1", headers=JSON)
    error = read_json(page)["error"]
    assert error["message"].startswith("§Some values in the request")
    assert [one["message"] for one in error["details"]] == ["§This member doesn’t exist."]


async def test_what_a_draft_lacks(office: Office) -> None:
    ada = await enter(office)
    id = await office.site.api.create(recipients=[{"name": "Cy", "email": "cy@x.example", "role": "cc"}])
    for page in ("", "/review"):
        shown = await ada.get(f"/documents/{id}{page}")
        assert "§At least one recipient must be a signer." in shown.said


async def test_why_an_act_is_refused(office: Office) -> None:
    ada, draft = await enter(office), await office.site.api.create()
    question = await ada.get(f"/documents/{draft}/cancel")
    assert "§This document isn’t out for signature" in question.said
    several = await ada.get(f"/selection/cancel?id={draft}&id=doc_gone")
    assert "§This document isn’t out for signature" in several.said
    assert "§This document no longer exists." in several.said


async def test_why_no_mail_leaves(office: Office) -> None:
    ada = await enter(office)
    assert "§No mail server is set up" in (await ada.get("/documents")).said


async def test_why_a_mail_did_not_leave(office: Office) -> None:
    ada, mailbox = await enter(office), FakeMailbox()
    await office.site.api.send_document()
    for words, said in (
        ("The mail server did not answer in time", "§The mail server did not answer in time"),
        ("451 4.7.1 greylisted", " 451 4.7.1 greylisted"),
    ):
        mailbox.failure = TemporaryFailure(words)
        await worker.drain_jobs(posting(office, mailbox), "mail")
        assert said in (await ada.get(OUTBOX)).said
        office.clock.advance(minutes=2)


async def test_what_is_wrong_with_a_certificate(office: Office) -> None:
    ada = await enter(office)
    [problem] = list_problems(await upload_seal(ada, ("<i>.p12", b"%PDF-1.7")))
    assert problem.startswith("§&lt;i&gt;.p12 is neither a PKCS#12 file")
    [problem] = list_problems(await upload_seal(ada, ("a.p12", b"\x30 damaged")))
    assert problem == (
        "§§a.p12 cannot be opened: it needs a passphrase or the file is damaged."
        " §Check the passphrase and the file."
    )


async def test_whether_the_seal_holds(office: Office) -> None:
    ada = await enter(office)
    await ada.get("/settings/seal")
    assert "§Level B-B." in (await ada.post("/settings/seal")).said
