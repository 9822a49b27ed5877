"""The page of a document in a real browser: what a person at an office does with it, by mouse, keyboard and touch."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from esign.demo import contract
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_office import clean

ADA, BO = "ada@example.test", "bo@example.test"
TWO = [{"name": "Ada Lovelace", "email": ADA}, {"name": "Bo Berg", "email": BO, "order": 2}]
REFUSED = "responded with a status of 4"  # what the browser's console says about a form that is shown again
SAVED = "/files/sealed: net::ERR_ABORTED"  # a file that is saved is no page
# How often the page asks, and for how long it waits each time, from now on.
WATCHED = """() => {
  const { fetch, setTimeout } = window;
  Object.assign(window, { asked: 0, waits: [] });
  window.fetch = (...given) => { asked++; return fetch(...given); };
  window.setTimeout = (act, wait, ...given) => { waits.push(wait); return setTimeout(act, wait, ...given); };
}"""
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("office"), {"name": "Alder & Finch"}) as stage:
        yield stage


@pytest.fixture(scope="module")
def maren(stage: BrowserStage) -> dict[str, Any]:
    return signed_in(stage)


@pytest.fixture(scope="module")
def tester(stage: BrowserStage) -> dict[str, Any]:
    return signed_in(stage, "Tess Tester", MemberRole.MEMBER, Mode.TEST)


def send_document(stage: BrowserStage, **changes: Any) -> str:
    """A new document whose first recipient has their invitation."""
    document = stage.do(stage.site.api.send_document(recipients=TWO, **changes))
    stage.work("mail")
    return document


def at(stage: BrowserStage, document: str) -> str:
    return f"{stage.site.base}/documents/{document}"


def menu(page: Page, item: str) -> None:
    page.wait_for_load_state()  # the question comes as a dialog only where the script is there
    page.get_by_label("More actions").click()
    page.get_by_role("link", name=item).click()


@pytest.mark.parametrize("how", ON_A_DESK)
def test_a_document_is_followed_from_its_invitation_to_its_seal(
    visit: Visits, stage: BrowserStage, maren: dict[str, Any], shot: Shot, how: dict[str, Any]
) -> None:
    document = send_document(stage, title="Appointment of architect")
    page = visit.at(at(stage, document), storage_state=maren, excused=SAVED, **how)
    expect(page.get_by_role("heading", name="Not emailed to Ada Lovelace")).to_be_visible()
    page.get_by_role("button", name="Remind Ada Lovelace").click()
    expect(page.locator(".toast")).to_contain_text("Reminder recorded")
    expect(page.get_by_role("button", name="Remind Ada Lovelace")).to_have_count(0)
    stage.work("mail")
    page.wait_for_load_state()
    page.get_by_role("link", name="Signing link").first.click()
    dialog = page.get_by_role("dialog", name="Signing link for Ada Lovelace")
    expect(dialog).to_be_visible()
    shot(page, "office-document-link-question")
    dialog.get_by_role("button", name="Create link").click()
    shown = page.locator("#link")
    expect(shown).to_contain_text("/s/")
    shot(page, "office-document-link")
    clean(page)
    link = shown.inner_text()
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("created a signing link for")).to_be_visible()
    assert link not in page.content()
    for email in (ADA, BO):
        stage.do(stage.do(stage.site.person(email)).sign())
        if email == ADA:
            stage.work("mail")
    stage.work("seal")
    page.reload()
    expect(page.get_by_role("heading", name="Completed and sealed")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Sealed PDF").click()
    assert saved.value.suggested_filename == "agreement-sealed.pdf"
    assert Path(saved.value.path()).read_bytes() == stage.do(stage.site.api.file(document))
    page.get_by_role("link", name="Page 1").click()
    expect(page.get_by_role("heading", name="Page 1", exact=True)).to_be_visible()
    expect(page.locator("#page-1 img")).not_to_have_js_property("naturalWidth", 0)


def test_a_question_comes_as_a_dialog_that_can_be_left_again(
    visit: Visits, stage: BrowserStage, maren: dict[str, Any], shot: Shot
) -> None:
    page = visit.at(at(stage, send_document(stage)), storage_state=maren, width=1280, height=800)
    menu(page, "Cancel document")
    dialog = page.get_by_role("dialog", name="Cancel this document?")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    shot(page, "office-document-cancel-question")
    clean(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_label("More actions")).to_be_focused()
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Cancel document").dblclick()
    page.wait_for_load_state("networkidle")
    dialog.get_by_role("link", name="Keep open").click()
    expect(dialog).to_have_count(0)
    menu(page, "Cancel document")
    dialog.get_by_label("Reason").fill("We found a mistake.")
    dialog.get_by_role("button", name="Cancel document").click()
    expect(page.get_by_role("heading", name="This document was cancelled")).to_be_visible()
    expect(page.locator(".next")).to_contain_text("We found a mistake.")


def test_what_is_wrong_in_a_dialog_is_shown_on_its_page_with_what_was_typed(
    visit: Visits, stage: BrowserStage, maren: dict[str, Any]
) -> None:
    document = send_document(stage)
    page = visit.at(at(stage, document), storage_state=maren, excused=REFUSED, width=1280, height=800)
    page.get_by_label("Actions for Ada Lovelace").click()
    page.get_by_role("link", name="Correct name or email").click()
    dialog = page.get_by_role("dialog", name="Correct name or email")
    dialog.get_by_label("Name").fill("Ada King")
    dialog.get_by_label("Email").fill("king@example")
    dialog.get_by_role("button", name="Save and invite again").click()
    expect(page.get_by_label("Email")).to_be_focused()
    expect(page.get_by_label("Name")).to_have_value("Ada King")
    page.get_by_label("Email").fill("king@example.test")
    page.get_by_role("button", name="Save and invite again").click()
    expect(page.get_by_role("heading", name="Not emailed to Ada King")).to_be_visible()
    expect(
        page.get_by_text("Ada Lovelace is now Ada King · ada@example.test is now king@example.test")
    ).to_be_visible()


def test_the_page_follows_what_happens_and_never_takes_what_was_typed(
    visit: Visits, stage: BrowserStage, tester: dict[str, Any]
) -> None:
    api = stage.do(stage.site.key(mode=Mode.TEST))
    document = stage.do(api.send_document(recipients=TWO))
    page = visit.at(
        at(stage, document),
        storage_state=tester,
        width=1280,
        height=800,
        clock=True,
        excused="Failed to load resource",
    )
    expect(page.get_by_text("opened the document")).to_have_count(0)
    page.evaluate(WATCHED)
    page.route("**/mark", lambda route: route.fulfill(status=503), times=1)  # the server starts anew
    page.clock.run_for(11_000)
    page.wait_for_function("() => waits.includes(60_000)")
    stage.do(api.ok("POST", f"/test/documents/{document}/simulate", {"action": "view"}))
    page.clock.run_for(61_000)
    expect(page.get_by_text("opened the document")).to_be_visible()
    page.get_by_label("Reason").fill("Half a sent")
    stage.do(api.ok("POST", f"/test/documents/{document}/simulate", {"action": "complete"}))
    page.clock.run_for(11_000)
    expect(page.get_by_text("This document has changed.")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("Half a sent")
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_role("heading", name="Not emailed to Bo Berg")).to_be_visible()


def test_a_page_that_nobody_is_at_asks_nothing(
    visit: Visits, stage: BrowserStage, maren: dict[str, Any]
) -> None:
    page = visit.at(at(stage, send_document(stage)), storage_state=maren, clock=True)
    page.evaluate(WATCHED)
    page.clock.run_for(60_000)
    page.wait_for_function("() => asked > 0 && waits.length === asked")  # each answer begins another wait
    page.clock.fast_forward(20 * 60_000)
    before = page.evaluate("asked")
    page.clock.run_for(60_000)
    assert page.evaluate("asked") == before


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_recipients_of_test_mode_act_and_their_mails_are_read(
    visit: Visits, stage: BrowserStage, tester: dict[str, Any], shot: Shot, how: dict[str, Any]
) -> None:
    api = stage.do(stage.site.key(mode=Mode.TEST))
    document = stage.do(api.ok("POST", "/documents", {**contract.build_create_body(), "send": True}))["id"]
    stage.work("mail")
    page = visit.at(at(stage, document), storage_state=tester, **how)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text(re.compile("Tomas Reyes signed"))).to_be_visible()
    page.get_by_role("button", name="Bounce email").click()
    expect(page.get_by_role("heading", name="The email address of Nadia Brandt was refused")).to_be_visible()
    shot(page, "office-document-refused")
    clean(page)
    page.get_by_role("link", name="View all").click()
    page.get_by_text("[TEST]").last.click()
    expect(page.get_by_role("link", name="Open signing link")).to_be_visible()
    shot(page, "office-test-messages")
    clean(page)
    page.get_by_role("link", name="A year in the courtyard garden").click()
    page.get_by_role("link", name="Page 3").click()
    expect(page.locator("#page-3 img.over")).not_to_have_js_property("naturalWidth", 0)
    shot(page, "office-document-pages")
    clean(page)


def test_everything_works_without_a_script(visit: Visits, stage: BrowserStage, maren: dict[str, Any]) -> None:
    document = send_document(stage)
    page = visit.at(at(stage, document), storage_state=maren, java_script_enabled=False)
    page.get_by_role("button", name="Remind Ada Lovelace").click()
    expect(page.get_by_text("Reminder recorded")).to_be_visible()
    menu(page, "Change deadline")
    expect(page.get_by_role("heading", name="Change deadline")).to_be_visible()
    page.get_by_role("button", name="Save deadline").click()
    expect(page.get_by_text("Deadline saved.")).to_be_visible()
    menu(page, "Cancel document")
    page.get_by_role("button", name="Cancel document").click()
    page.get_by_role("button", name="Start again with a copy").click()
    expect(page.get_by_text("Document duplicated. This is the new draft.")).to_be_visible()
    menu(page, "Delete document")
    page.get_by_role("button", name="Delete document").click()
    page.wait_for_url(re.compile(r"/documents(\?done=document-deleted)?$"))


def test_a_question_is_answered_with_the_keyboard_alone(
    visit: Visits, stage: BrowserStage, maren: dict[str, Any]
) -> None:
    page = visit.at(at(stage, send_document(stage)), storage_state=maren, width=1280, height=800)
    page.get_by_label("More actions").focus()
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if page.evaluate("document.activeElement.textContent.trim()") == "Edit reference and notes":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Reference")).to_be_focused()
    page.keyboard.type("P-2611")
    page.keyboard.press("Enter")
    expect(page.get_by_role("definition").filter(has_text="P-2611")).to_be_visible()
