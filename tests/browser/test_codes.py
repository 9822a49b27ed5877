"""Codes in a real browser and the real program: the proof outlives a reload, and only in that browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits, alive
from tests.browser.stage import BrowserStage, a_stage
from tests.journeys.api import a_request

CODE = "Blue-4711-heron"
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx
ANA, BO = ("Ana Lindqvist", "ana@example.test"), ("Bo Weber", "bo@example.test")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path / "data", organisation={"name": "Fernhill Gardens"}) as stage:
        yield stage


def send_with_codes(stage: BrowserStage) -> str:
    """The id of a document that Ana approves by a mailed code, then Bo signs by one agreed upon."""
    ana = {"name": ANA[0], "email": ANA[1], "role": "approver", "authentication": "email_code"}
    bo = {"name": BO[0], "email": BO[1], "order": 2, "authentication": "access_code", "accessCode": CODE}
    body = a_request(recipients=[ana, bo], send=True)
    document = str(stage.do(stage.site.api.ok("POST", "/documents", body))["id"])
    stage.work("mail")
    return document


def enter(page: Page, code: str) -> None:
    alive(page)
    page.locator("[data-field=code]").fill(code)
    page.locator("[data-action=enter-code]").click()


def approve_by_a_mailed_code(stage: BrowserStage, page: Page) -> None:
    expect(page.locator("body")).to_have_attribute("data-state", "code")
    page.locator("[data-action=send-code]").click()
    page.locator("[data-action=send-code-confirm]").click()
    expect(page.locator("h1")).to_have_text("Check your email")
    stage.work("mail")
    found = re.search(r"\b\d{3}\s\d{3}\b", stage.letter(ANA[1]))
    assert found
    enter(page, found[0])
    expect(page.locator("body")).to_have_attribute("data-state", "open")
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-state", "open")
    page.get_by_role("button", name="Approve", exact=True).click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=approve]").click()
    expect(page.locator("h1")).to_have_text("Thank you, you’ve approved")


def sign_by_an_agreed_code(page: Page) -> None:
    enter(page, "no idea")
    expect(page.locator("#code-error")).to_contain_text("You can try 4 more times")
    enter(page, CODE)
    page.get_by_role("button", name="Review and finish").click()
    page.locator("#v-signature").click()
    page.locator("#tab-type").click()
    page.locator("[data-action=adopt]").click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("h1")).to_have_text("Your signature is recorded")


def test_an_approver_and_a_signer_each_show_a_code_and_the_sealed_file_waits_behind_it(
    visit: Visits, stage: BrowserStage
) -> None:
    document = send_with_codes(stage)
    ana = visit.at(stage.link(ANA[1]), excused=REFUSED)
    approve_by_a_mailed_code(stage, ana)
    stage.work("mail")
    link = stage.link(BO[1])
    bo = visit.at(link, excused=REFUSED, width=1280, height=800)
    sign_by_an_agreed_code(bo)
    stage.work("seal")
    bo.reload()
    expect(bo.locator("h1")).to_have_text("Signed and approved")
    elsewhere = visit.at(link, excused=REFUSED)
    expect(elsewhere.locator("h1")).to_have_text("Enter your code")
    assert "agreement" not in elsewhere.locator("body").inner_text()
    assert stage.do(stage.site.api.get(document))["status"] == "completed"
