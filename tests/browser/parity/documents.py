"""Documents and their recipients, from the file to the seal or to another end, live and in test mode."""

import base64
import re
from datetime import datetime, timedelta
from typing import Any

from playwright.sync_api import expect

from esign.core.actor import Mode
from esign.demo import contract
from tests.browser.furnished import furnish
from tests.browser.parity.desk import ParityDesk

ADA, BO = ("Ada Lovelace", "ada@example.test"), ("Bo Berg", "bo@example.test")
PDF = "application/pdf"
TITLE = "Lease of the workshop"


def a_file(name: str) -> Any:
    return {"name": name, "mimeType": PDF, "buffer": contract.read_pdf()}


def documents(desk: ParityDesk) -> None:
    path = draft(desk)
    under_way(desk, path)
    end_document(desk, path)
    list_documents(desk)


def draft(desk: ParityDesk) -> str:
    """From a file to a document that is sent; its path, here as in the API."""
    page = desk.page
    desk.go("/documents/new")
    desk.use("createDocument").set_input_files(a_file("Lease.pdf"))
    page.wait_for_url("**/edit")
    path = "/documents/" + page.url.split("/")[-2]
    assert desk.ask(path)["status"] == "draft"
    page.get_by_text("Replace", exact=True).click()
    desk.use("changeDocument.file").set_input_files(a_file("Second.pdf"))
    page.get_by_role("button", name="Replace file").click()
    expect(page.locator("form.file")).to_contain_text("Second.pdf")
    assert desk.ask(path)["fileName"] == "Second.pdf"
    page.wait_for_load_state()
    page.get_by_role("button", name="Add recipient").click()
    page.keyboard.type(ADA[0])
    page.locator("[name^=email-]").fill(ADA[1])
    desk.use("changeDocument.title").fill(TITLE)
    desk.use("changeDocument.subject").fill("Please sign")
    desk.use("changeDocument.message").fill("Here it is.")
    desk.page.locator("#options > summary").click()
    desk.use("changeDocument.expiresInDays").fill("21")
    desk.use("changeDocument.locale").select_option("de")
    desk.use("changeDocument.redirectUrl").fill("https://portal.example.com/done")
    page.get_by_role("button", name="Review without fields").click()
    page.wait_for_url("**/review")
    made = desk.ask(path)
    names = ("title", "subject", "message", "expiresInDays", "locale", "redirectUrl")
    shown = [TITLE, "Please sign", "Here it is.", 21, "de", "https://portal.example.com/done"]
    assert [made[name] for name in names] == shown
    desk.use("sendDocument").click()
    page.wait_for_url(f"**{path}*")
    assert desk.ask(path)["status"] == "sent"
    desk.stage.work("mail")
    return path


def under_way(desk: ParityDesk, path: str) -> None:
    page = desk.page
    desk.use("listDocuments").click()
    desk.use("getDocument").click()
    desk.heading(TITLE)
    assert desk.saves("getFile.original") == desk.stage.do(desk.api.file(path.split("/")[-1], "original"))
    desk.use("getPages").click()
    expect(page.locator("main [id^=page-]")).to_have_count(len(desk.ask(f"{path}/pages")["data"]))
    desk.go(path)
    later = datetime.fromisoformat(desk.ask(path)["expiresAt"]) + timedelta(days=30)
    desk.menu("Change deadline")
    page.get_by_label("Deadline", exact=True).fill(later.date().isoformat())
    desk.use("changeDocument.expiresAt").click()
    desk.sees("Deadline saved.")
    changed = datetime.fromisoformat(desk.ask(path)["expiresAt"])
    assert abs(changed - later) <= timedelta(days=1)
    desk.menu("Change deadline")
    with page.expect_navigation():
        desk.use("changeDocument.expiresAt.default").click()
    assert datetime.fromisoformat(desk.ask(path)["expiresAt"]) == later - timedelta(days=30)
    desk.menu("Change reminders")
    page.get_by_label("Then every").fill("7")
    desk.use("changeDocument.reminders").click()
    expect(page.get_by_text("then every 7 days")).to_be_visible()
    assert desk.ask(path)["reminders"]["everyDays"] == 7
    desk.menu("Edit reference and notes")
    page.get_by_role("textbox", name="Notes").fill("project = quay")
    desk.use("changeDocument.metadata").click()
    expect(page.get_by_role("definition").filter(has_text="quay")).to_be_visible()
    assert desk.ask(path)["metadata"] == {"project": "quay"}
    desk.use("remindRecipients").click()
    desk.sees("Reminder recorded")
    assert desk.ask(path)["recipients"][0]["lastRemindedAt"]


def end_document(desk: ParityDesk, path: str) -> None:
    """Signed, sealed, copied, thrown away."""
    stage, page, id = desk.stage, desk.page, path.split("/")[-1]
    stage.work("mail")
    stage.do(stage.do(stage.site.person(ADA[1])).sign())
    stage.work("seal")
    page.reload()
    for variant in ("sealed", "certificate"):
        assert desk.saves(f"getFile.{variant}") == stage.do(desk.api.file(id, variant))
    desk.use("getAuditTrail").click()
    desk.heading("Audit trail")
    entries = desk.use("listEvents.documentId").get_by_role("listitem")
    expect(entries).to_have_count(len(desk.ask(f"{path}/audit?limit=100")["data"]))
    happened = {one["type"] for one in desk.ask(f"/events?documentId={id}&limit=100")["data"]}
    assert {"document.sent", "document.completed"} <= happened
    assert happened <= set(page.locator("dt:text-is('Type') + dd").all_text_contents())
    desk.go(path)
    page.get_by_label("More actions").click()
    desk.use("duplicateDocument").click()
    page.wait_for_url(re.compile(rf"/documents/(?!{id})doc_\w+"))
    copy = "/documents/" + re.findall(r"doc_\w+", page.url)[0]
    assert desk.ask(copy)["title"].startswith(TITLE)
    desk.menu("Delete document")
    desk.use("deleteDocument").click()
    page.wait_for_url(re.compile(r"/documents(\?done=document-deleted)?$"))
    assert stage.do(desk.api.call("GET", copy)).status == 404


def list_documents(desk: ParityDesk) -> None:
    path = f"/documents/{desk.stage.do(desk.api.send_document())}"
    desk.go(path)
    desk.menu("Cancel document")
    desk.use("cancelDocument").click()
    expect(desk.page.get_by_role("heading", name="This document was cancelled")).to_be_visible()
    assert desk.ask(path)["status"] == "cancelled"
    furnish(desk.stage)
    assert not desk.stage.do(desk.stage.site.work("seal"))
    desk.go("/documents")
    desk.use("retrySeal").click()
    desk.sees("Retrying the seal.")
    desk.stage.work("seal")


def recipients(desk: ParityDesk) -> None:
    page, document = desk.page, desk.stage.do(desk.api.create())
    path = f"/documents/{document}"
    desk.go(path)
    page.get_by_role("link", name="Add recipient").click()
    page.get_by_label("Name").fill(BO[0])
    page.get_by_label("Email").fill(BO[1])
    desk.use("addRecipient").click()
    expect(page.get_by_label("Actions for Bo Berg")).to_be_visible()
    assert [one["name"] for one in desk.ask(path)["recipients"]] == [ADA[0], BO[0]]
    desk.menu("Edit", of="Actions for Bo Berg")
    page.get_by_label("Role").select_option("approver")
    desk.use("changeRecipient").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert desk.ask(path)["recipients"][1]["role"] == "approver"
    desk.menu("Remove", of="Actions for Bo Berg")
    desk.use("removeRecipient").click()
    expect(page.get_by_label("Actions for Bo Berg")).to_have_count(0)
    assert [one["name"] for one in desk.ask(path)["recipients"]] == [ADA[0]]
    desk.go(f"{path}/fields")
    page.locator("body[data-ready]").wait_for(state="attached")
    desk.use("changeRecipient.fields").click()
    page.locator(".sheet").first.click(position={"x": 200, "y": 200})
    expect(page.locator("#saved")).to_have_text("All changes saved")
    assert [one["type"] for one in desk.ask(path)["recipients"][0]["fields"]] == ["signature"]
    desk.stage.do(desk.api.send(document))
    desk.stage.work("mail")
    desk.go(path)
    page.get_by_role("link", name="Signing link").first.click()
    desk.use("issueLink").click()
    shown = page.locator("#link").inner_text()
    page.goto(shown)
    expect(page.locator("body[data-alive]")).to_be_attached()

    unblock_recipient(desk)


def unblock_recipient(desk: ParityDesk) -> None:
    """A code was tried too often; its sender lets the recipient try again."""
    coded = {"name": BO[0], "email": BO[1], "authentication": "access_code", "accessCode": "Blue-4711"}
    document = desk.stage.do(desk.api.send_document(recipients=[coded]))
    desk.stage.work("mail")
    person = desk.stage.do(desk.stage.site.person(BO[1]))
    for _ in range(5):
        assert desk.stage.do(person.enter("wrong")).status in (400, 429)
    desk.go(f"/documents/{document}")
    desk.sees("Locked after too many wrong codes")
    desk.page.get_by_label("Actions for Bo Berg").click()
    desk.use("unblockRecipient").click()
    desk.sees("The recipient can try their code again.")
    assert desk.stage.do(person.enter("Blue-4711")).status == 200


def files(desk: ParityDesk) -> None:
    content = desk.stage.do(desk.api.file(desk.stage.do(desk.stage.site.complete_document())))
    desk.go("/verify")
    desk.use("verifyPdf").set_input_files({"name": "sealed.pdf", "mimeType": PDF, "buffer": content})
    found = desk.tell("/verify", {"file": base64.b64encode(content).decode()})
    assert found["result"] == "valid"
    desk.sees(found["sha256"])
    expect(desk.page.get_by_role("heading", name="Valid and unchanged")).to_be_visible()


def in_test_mode(desk: ParityDesk) -> None:
    page = desk.page
    page.get_by_role("button", name="Test", exact=True).click()
    desk.sees("Nothing here has legal effect.")
    desk.as_program(Mode.TEST)
    body = {**contract.build_create_body(), "send": True}
    document = str(desk.tell("/documents", body)["id"])
    desk.stage.work("mail")
    desk.go(f"/documents/{document}")
    desk.use("simulateRecipient.values").fill("cafe-name = Tomas R. Reyes\nkitchen-herbs = yes")
    desk.use("simulateRecipient").click()
    desk.sees(re.compile("Tomas Reyes signed"))
    fields = {
        one["key"]: one["value"] for one in desk.ask(f"/documents/{document}")["recipients"][0]["fields"]
    }
    assert (fields["cafe-name"], fields["kitchen-herbs"]) == ("Tomas R. Reyes", True)
    assert desk.ask(f"/documents/{document}")["recipients"][0]["status"] == "completed"
    desk.stage.work("mail")
    desk.use("listTestMessages").click()
    kept = desk.ask("/test/messages")["data"]
    assert len(kept) == 2
    expect(page.locator("details.mail")).to_have_count(len(kept))
