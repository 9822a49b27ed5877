"""The list of documents in a real browser: finding, ticking, doing something to several; with and without a script."""

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.people.member import MemberRole
from tests.browser.conftest import Visits
from tests.browser.furnished import furnish, signed_in
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_office import clean

Shot = Callable[[Page, str], None]
DESK: dict[str, Any] = {"width": 1280, "height": 800}
KILOBYTES = 60
SAVED = "/selection/download: net::ERR_ABORTED"  # a file that is saved ends the visit of its address


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path, {"name": "Alder & Finch"}) as stage:
        yield stage


@pytest.fixture
def base(stage: BrowserStage) -> str:
    return stage.site.base


def count_ticked(page: Page) -> int:
    return page.locator("tbody .ck input:checked").count()


@pytest.mark.parametrize("how", ON_A_DESK)
def test_the_first_document_is_asked_for_where_there_is_none(
    visit: Visits, stage: BrowserStage, base: str, shot: Shot, how: dict[str, Any]
) -> None:
    page = visit.at(f"{base}/", storage_state=signed_in(stage), **how)
    expect(page.get_by_role("heading", name="Send your first document")).to_be_visible()
    shot(page, "office-documents-empty")
    clean(page)


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_documents_are_found_ticked_and_cancelled(
    visit: Visits, stage: BrowserStage, base: str, shot: Shot, how: dict[str, Any]
) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), **how)
    page.get_by_role("navigation", name="Status").get_by_role("link", name="Waiting 6").click()
    expect(page.get_by_role("row")).to_have_count(7)
    page.get_by_label("Search documents").fill("agreement")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(4)
    bar = page.get_by_role("region", name="Actions for the selected documents")
    expect(bar).to_be_hidden()
    for title in ("Consultancy agreement, Lindqvist", "Consultancy agreement, Becker", "Non-disclosure"):
        page.get_by_label(f"Select {title}").check()
    expect(bar.get_by_text("3 selected")).to_be_visible()
    expect(bar.get_by_role("button", name="Delete")).to_be_hidden()
    shot(page, "office-documents-ticked")
    clean(page)
    bar.get_by_role("button", name="Cancel 2").click()
    expect(page.get_by_role("heading", name="Cancel 2 documents?")).to_be_visible()
    expect(page.get_by_text("This works for 2 of the 3 documents you selected.")).to_be_visible()
    page.get_by_label("Reason").fill("The project was sold.")
    shot(page, "office-documents-cancel")
    clean(page)
    page.get_by_role("button", name="Cancel 2 documents").click()
    expect(page.get_by_role("status")).to_have_text("2 documents cancelled.")
    expect(page.get_by_role("row")).to_have_count(2)
    assert "view=waiting" in page.url and "q=agreement" in page.url, "the list is where it was"
    page.get_by_role("button", name="Clear selection").wait_for(state="hidden")
    page.get_by_role("link", name="Closed 5").click()
    expect(page.get_by_role("row")).to_have_count(3)


def test_a_range_is_ticked_with_shift_and_everything_with_the_head(
    visit: Visits, stage: BrowserStage, base: str
) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), **DESK)
    boxes = page.locator("tbody .ck input")
    boxes.nth(1).click()
    boxes.nth(5).click(modifiers=["Shift"])
    assert count_ticked(page) == 5
    boxes.nth(3).click(modifiers=["Shift"])
    assert count_ticked(page) == 2, "the range takes what the last one was made"
    head = page.get_by_label("Select all on this page")
    assert head.evaluate("(box) => box.indeterminate")
    head.check()
    assert count_ticked(page) == 11
    expect(page.get_by_text("11 selected")).to_be_visible()
    page.get_by_role("button", name="Clear selection").click()
    expect(page.get_by_role("region", name="Actions")).to_be_hidden()
    expect(head).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search documents")).to_be_focused()
    page.keyboard.type("lease")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)
    page.wait_for_load_state()  # the order is heard by the script
    page.get_by_label("Search documents").fill("")
    page.get_by_label("Order").select_option("Oldest first")
    expect(page.get_by_role("row").nth(1)).to_contain_text("Board resolution")


def test_filters_are_set_named_and_dropped_with_the_keyboard(
    visit: Visits, stage: BrowserStage, base: str, shot: Shot
) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), **DESK)
    page.locator("summary", has_text="Filter").press("Enter")
    page.get_by_label("Recipient’s email").fill("noor@example.com")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name="Remove filter: Recipient: noor@example.com").press("Enter")
    expect(page.get_by_role("row")).to_have_count(12)


def test_files_are_downloaded_one_by_one_and_together(visit: Visits, stage: BrowserStage, base: str) -> None:
    made = {one.title: one for one in furnish(stage)}
    viewer = signed_in(stage, role=MemberRole.VIEWER)
    page = visit.at(f"{base}/documents", excused=SAVED, storage_state=viewer, **DESK)
    with page.expect_download() as one:
        page.get_by_role("button", name="Download: Employment contract").click()
    assert one.value.suggested_filename == "A year in the courtyard garden-sealed.pdf"
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Download", exact=True).click()
    expect(page.get_by_role("heading", name="Download 11 documents?")).to_be_visible()
    with page.expect_download():
        page.get_by_role("button", name="Download ZIP").click()
    with page.expect_download() as again:  # the page stays, and so does its button
        page.get_by_role("button", name="Download ZIP").click()
    content = Path(again.value.path()).read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None and len(set(archive.namelist())) == len(made)


def test_the_row_itself_brings_a_document_further(visit: Visits, stage: BrowserStage, base: str) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), **DESK)
    page.get_by_role("link", name="Remind: Appointment of architect").click()
    page.get_by_role("button", name="Send reminder").click()
    expect(page.get_by_role("status")).to_contain_text("The reminders wait here")
    page.get_by_role("button", name="Retry sealing: Office lease").click()
    expect(page.get_by_role("status")).to_have_text("Retrying the seal.")
    page.get_by_role("link", name="Remind: Appointment of architect").click()
    expect(page.get_by_role("heading", name="No one can be reminded now")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Back to list").click()
    page.get_by_label("More actions for Fee proposal").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete 1 document").click()
    expect(page.get_by_role("status")).to_have_text("Document deleted.")
    expect(page.get_by_role("row")).to_have_count(11)


def test_everything_works_without_a_script(visit: Visits, stage: BrowserStage, base: str) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), java_script_enabled=False, **DESK)
    expect(page.get_by_label("Select all on this page")).to_be_hidden()
    bar = page.get_by_role("region", name="Actions for the selected documents")
    expect(bar).to_be_hidden()
    page.get_by_label("Select Site visit").check()
    page.get_by_label("Select Fee proposal").check()
    expect(bar).to_be_visible()
    bar.get_by_role("button", name="Remind").click()
    expect(page.get_by_role("heading", name="Remind the recipients of 1 document?")).to_be_visible()
    page.get_by_role("button", name="Send reminder").click()
    expect(page.get_by_text("The reminders wait here")).to_be_visible()
    page.get_by_label("Order").select_option("Oldest first")
    page.get_by_role("button", name="Sort").click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("Board resolution")
    page.get_by_label("Search documents").fill("lease")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)


def test_nothing_is_wider_than_the_smallest_screen(visit: Visits, stage: BrowserStage, base: str) -> None:
    stage.do(
        stage.site.api.create(title="W" * 200, recipients=[{"name": "X" * 200, "email": "x@example.test"}])
    )
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage))
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("checkbox", name="Select W").check()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="Delete 1 document")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_script_and_style_weigh_little(visit: Visits, stage: BrowserStage, base: str) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), **DESK)
    sizes = page.evaluate(
        "() => performance.getEntriesByType('resource').filter((one) => /[.](js|css|svg)$/.test(one.name))"
        ".map((one) => one.encodedBodySize)"
    )
    assert len(sizes) >= 3 and 0 < sum(sizes) <= KILOBYTES * 1000


def fill(stage: BrowserStage, count: int) -> None:
    async def create() -> None:
        for n in range(count):
            await stage.site.api.create(title=f"Lease {n:02}")

    stage.do(create())


@pytest.mark.parametrize("how", ON_A_DESK)
def test_a_long_list_is_counted_turned_and_chosen_whole(
    visit: Visits, stage: BrowserStage, base: str, shot: Shot, how: dict[str, Any]
) -> None:
    fill(stage, 27)
    page = visit.at(f"{base}/documents", storage_state=signed_in(stage), **how)
    expect(page.get_by_text("27 documents", exact=True)).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("row")).to_have_count(3)
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
    page.get_by_role("link", name="Previous").click()
    expect(page.get_by_role("row")).to_have_count(26)
    page.get_by_role("button", name="Export CSV").scroll_into_view_if_needed()
    page.locator("summary", has_text="Go to date").click()
    shot(page, "office-documents-foot")
    page.keyboard.press("Escape")
    bar = page.get_by_role("region", name="Actions for the selected documents")
    page.get_by_label("Select Lease 03").check()
    expect(bar.get_by_label("Select all 27 that match")).to_be_hidden()
    page.get_by_label("Select Lease 03").uncheck()
    for box in page.locator("tbody .ck input").all():
        box.check()
    bar.get_by_label("Select all 27 that match").check()
    clean(page)
    shot(page, "office-documents-all")
    bar.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Delete 27 documents")).to_be_visible()


def test_a_list_goes_to_a_day_and_leaves_as_a_file(visit: Visits, stage: BrowserStage, base: str) -> None:
    furnish(stage)
    saved = "/documents/export: net::ERR_ABORTED"
    page = visit.at(f"{base}/documents?q=lease", excused=saved, storage_state=signed_in(stage), **DESK)
    with page.expect_download() as one:
        page.get_by_role("button", name="Export CSV").click()
    lines = Path(one.value.path()).read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("Title,Status,") and len(lines) == 2 and lines[1].startswith("Office lease")
    page.goto(f"{base}/documents")
    page.locator("summary", has_text="Go to date").click()
    page.get_by_label("Created", exact=True).fill("2020-01-01")
    page.get_by_role("main").get_by_role("button", name="Go to date").click()
    expect(page.get_by_role("heading", name="No more documents")).to_be_visible()
    page.get_by_role("link", name="Back to first page").click()
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("Sender").select_option("Maren Holt (you)")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("link", name="Remove filter: Sender: Maren Holt")).to_be_visible()


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_filters_are_saved_as_a_view(
    visit: Visits, stage: BrowserStage, base: str, shot: Shot, how: dict[str, Any]
) -> None:
    furnish(stage)
    page = visit.at(f"{base}/documents?view=waiting&q=agreement", storage_state=signed_in(stage), **how)
    page.locator("summary", has_text="Views").click()
    page.get_by_role("link", name="Save view").click()
    page.get_by_label("Name").fill("Agreements out for signature")
    page.get_by_label("Share with everyone in Alder & Finch").check()
    clean(page)
    shot(page, "office-view-form")
    page.get_by_role("button", name="Save view").click()
    expect(page.get_by_role("status")).to_have_text("View saved.")
    expect(page.get_by_role("row")).to_have_count(4)
    page.goto(f"{base}/documents")
    page.locator("summary", has_text="Views").click()
    shot(page, "office-views-menu")
    assert page.evaluate("document.querySelector('.viewmenu').getBoundingClientRect().right <= innerWidth")
    page.get_by_role("link", name="Agreements out for signature").click()
    expect(page.get_by_role("row")).to_have_count(4)
    page.locator("summary", has_text="Agreements out for signature").click()
    page.get_by_role("link", name="Edit views").click()
    clean(page)
    shot(page, "office-views")
    page.get_by_role("link", name="Edit Agreements").click()
    page.get_by_role("button", name="Delete view").click()
    expect(page.get_by_role("heading", name="No saved views yet")).to_be_visible()
