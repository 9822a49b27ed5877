"""Templates, from a file and from a document to their use and their end."""

from playwright.sync_api import expect

from tests.browser.parity.desk import ParityDesk
from tests.browser.parity.documents import ADA, a_file


def templates(desk: ParityDesk) -> None:
    page = desk.page
    desk.use("listTemplates").click()
    page.get_by_role("link", name="New template").click()
    desk.use("createTemplate").set_input_files(a_file("Lease.pdf"))
    page.wait_for_url("**/edit")
    path = "/templates/" + page.url.split("/")[-2]
    page.get_by_label("Template name").fill("Lease of a room")
    page.get_by_label("Role name").fill("Tenant")
    desk.use("changeTemplate").click()
    desk.sees("Template saved.")
    made = desk.ask(path)
    assert (made["title"], [role["key"] for role in made["roles"]]) == ("Lease of a room", ["tenant"])
    for days, stored in (("9", 9), ("", desk.ask("/settings")["defaultExpiresInDays"])):
        desk.go(f"{path}/edit")
        desk.use("changeTemplate.expiresInDays").fill(days)
        with page.expect_navigation():
            desk.use("changeTemplate").click()
        assert desk.ask(path)["expiresInDays"] == stored
    page.get_by_role("link", name="Place fields").first.click()
    page.locator("body[data-ready]").wait_for(state="attached")
    desk.use("changeTemplate.roles.fields").press("Enter")
    expect(page.locator(".fld")).to_have_count(1)
    expect(page.locator("#saved")).to_have_text("All changes saved")
    assert [one["type"] for one in desk.ask(path)["roles"][0]["fields"]] == ["signature"]
    desk.go("/templates")
    desk.use("getTemplate").click()
    desk.heading("Lease of a room")
    page.get_by_role("link", name="Use template").click()
    page.get_by_label("Name", exact=True).fill(ADA[0])
    page.get_by_label("Email", exact=True).fill(ADA[1])
    desk.use("useTemplate").click()
    desk.sees("Draft created.")
    document = "/documents/" + page.url.split("/")[-2]
    assert desk.ask(document)["recipients"][0]["email"] == ADA[1]
    desk.go(f"{document}/template")
    page.get_by_label("Title").fill("The same again")
    desk.use("createTemplate.fromDocumentId").click()
    desk.heading("The same again")
    assert len(desk.ask("/templates")["data"]) == 2
    desk.go(f"{path}/delete")
    desk.use("deleteTemplate").click()
    desk.sees("Template deleted.")
    assert [one["title"] for one in desk.ask("/templates")["data"]] == ["The same again"]
