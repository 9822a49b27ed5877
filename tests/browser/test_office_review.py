"""The review of a draft in a real browser: its pages, its emails, and what each recipient will see."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.demo import contract
from tests.browser.conftest import Visits, alive
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_axe import ALL, complaints
from tests.browser.test_journey import action
from tests.browser.test_office import clean

DESK: dict[str, Any] = {"width": 1280, "height": 800}
SIGNATURE = {"type": "signature", "page": 1, "x": 10, "y": 40, "width": 30, "height": 6, "label": "Signature"}
NOTE = {
    "type": "text",
    "page": 3,
    "x": 10,
    "y": 60,
    "width": 30,
    "height": 4,
    "label": "Town",
    "required": False,
}
PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lovelace", "email": "ada@example.test", "fields": [SIGNATURE, NOTE]},
    {"name": "Bo Weber", "email": "bo@example.test", "role": "viewer", "locale": "de"},
    {"name": "藤原 葵", "email": "aoi@example.test", "fields": [SIGNATURE | {"y": 60}]},
]
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("review"), {"name": "Alder & Finch"}) as stage:
        yield stage


@pytest.fixture(scope="module")
def session(stage: BrowserStage) -> dict[str, Any]:
    return signed_in(stage)


def a_draft(stage: BrowserStage, **more: Any) -> str:
    """The path of a new draft."""
    body = contract.build_create_body() | {"recipients": PEOPLE, "externalId": None} | more
    return f"/documents/{stage.do(stage.site.api.ok('POST', '/documents', body))['id']}"


def read_trail(stage: BrowserStage, path: str) -> list[str]:
    found = stage.do(stage.site.api.ok("GET", f"{path}/audit"))["data"]
    return [one["type"] for one in found]


@pytest.mark.parametrize("how", ON_A_DESK)
def test_a_review_leads_to_each_page_and_shows_each_email(
    visit: Visits, stage: BrowserStage, session: dict[str, Any], shot: Shot, how: dict[str, Any]
) -> None:
    path = a_draft(stage)
    page = visit.at(f"{stage.site.base}{path}/review", storage_state=session, **how)
    letter = page.frame_locator("#letter")
    page.locator("#letter").scroll_into_view_if_needed()
    expect(letter.get_by_text("Here is our agreement")).to_be_visible()
    page.get_by_label("Recipient", exact=True).select_option(label="Bo Weber · Views · Deutsch")
    expect(letter.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#mail-to")).to_have_text("bo@example.test")
    expect(page.locator("#mail-subject")).to_contain_text("A year in the courtyard garden")
    page.evaluate("scrollTo(0, 0)")
    shot(page, "review")
    clean(page)
    page.get_by_role("link", name="Page 3 1 field").click()
    page.wait_for_url("**/fields#page-3")
    page.locator("body[data-ready]").wait_for(state="attached")
    expect(page.locator("#page-3 .fld")).to_be_in_viewport()


def test_the_emails_can_be_chosen_without_a_script(
    visit: Visits, stage: BrowserStage, session: dict[str, Any]
) -> None:
    address = f"{stage.site.base}{a_draft(stage)}/review"
    page = visit.at(address, storage_state=session, java_script_enabled=False, **DESK)
    page.get_by_label("Recipient", exact=True).select_option(index=1)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("#mail-to")).to_have_text("bo@example.test")
    expect(page.frame_locator("#letter").locator("html")).to_have_attribute("lang", "de")


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_a_preview_is_the_page_of_the_recipient_and_sends_nothing(
    visit: Visits, stage: BrowserStage, session: dict[str, Any], shot: Shot, how: dict[str, Any]
) -> None:
    path = a_draft(stage)
    before = read_trail(stage, path)
    page = visit.at(f"{stage.site.base}{path}/review", storage_state=session, **how)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_role("link", name="View as Ada Lovelace").click()
    alive(page)
    banner = page.get_by_role("complementary", name="Preview")
    expect(banner).to_contain_text("Preview: this is what Ada Lovelace will see.")
    shot(page, "preview")
    assert complaints(page, ALL) == []
    action(page, "sign").click()
    expect(banner).to_be_in_viewport()
    top, bar = banner.bounding_box(), page.locator("header.bar").bounding_box()
    assert top and bar and (top["y"], bar["y"]) == (0, top["height"]), "the bar sticks below the banner"
    action(page, "sign").click()
    expect(page.get_by_role("button", name="phone")).to_have_count(0)
    page.get_by_role("tab", name="Type").click()
    action(page, "adopt").click()
    action(page, "next").click()
    page.get_by_role("textbox", name="Town").fill("Harrowgate")
    action(page, "next").click()
    action(page, "consent").check()
    action(page, "finish").click()
    expect(page.locator("#finish-error")).to_contain_text("Nothing was signed or sent.")
    shot(page, "preview-finish")
    page.keyboard.press("Escape")
    action(page, "decline").click()
    page.locator("#decline-done").click()
    expect(page.locator("#decline-error")).to_contain_text("Nothing was signed or sent.")
    page.keyboard.press("Escape")
    assert set(sent) == {"GET"}
    banner.get_by_role("link", name="Back to review").click()
    page.wait_for_url("**/review")
    assert read_trail(stage, path) == before
    document = stage.do(stage.site.api.get(path.removeprefix("/documents/")))
    assert document["status"] == "draft" and document["recipients"][0]["fields"][1]["value"] is None


def test_a_name_in_letters_that_only_the_server_draws_is_shown_in_those_of_the_browser(
    visit: Visits, stage: BrowserStage, session: dict[str, Any]
) -> None:
    page = visit.at(f"{stage.site.base}{a_draft(stage)}/review", storage_state=session, **DESK)
    page.get_by_role("link", name="View as 藤原 葵").click()
    alive(page)
    action(page, "sign").click()
    action(page, "sign").click()
    page.get_by_role("tab", name="Type").click()
    action(page, "adopt").click()
    expect(page.locator(".field.ink.filled img")).to_be_visible()


def test_a_preview_in_another_language_keeps_its_banner(
    visit: Visits, stage: BrowserStage, session: dict[str, Any], shot: Shot
) -> None:
    path = a_draft(stage)
    page = visit.at(f"{stage.site.base}{path}/review", storage_state=session, width=360, height=740)
    page.get_by_role("link", name="View as Ada Lovelace").click()
    alive(page)
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="العربية").click()
    alive(page)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.get_by_role("complementary", name="Preview")).to_contain_text("this is what Ada Lovelace")
    shot(page, "preview-ar")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
