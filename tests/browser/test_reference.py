"""The page of the API in a browser: on a phone and on a desk, in light and dark, with the keyboard alone."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits
from tests.browser.screens import ON_A_PHONE
from tests.browser.stage import a_stage

DESK: dict[str, Any] = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_stage(tmp_path_factory.mktemp("reference"), {"name": "Northlight"}) as stage:
        yield f"{stage.site.base}/api"


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_it_is_as_wide_as_the_screen_and_shows_where_a_link_leads(
    visit: Visits, address: str, screen: dict[str, Any], shot: Callable[[Page, str], None]
) -> None:
    page = visit.at(address, **screen)
    for place in ("start", "createDocument", "errors", "events", "object-RecipientInput"):
        page.goto(f"{address}#{place}")
        heading = page.locator(f"[id='{place}']")
        expect(heading).to_be_in_viewport()
        box = heading.bounding_box()
        assert box is not None and box["y"] >= 60, "the bar lies over the heading"
        shot(page, f"api-{place}")
    assert page.evaluate("document.documentElement.scrollWidth") == screen["width"]


def test_the_contents_lie_beside_the_text_and_say_where_one_is(visit: Visits, address: str) -> None:
    page = visit.at(address, **DESK)
    page.get_by_role("navigation").get_by_role("link", name="Send a document").click()
    expect(page.locator("#sendDocument")).to_be_in_viewport()
    here = page.locator(".contents [aria-current]")
    expect(here).to_contain_text("Send a document")
    expect(here).to_be_in_viewport()


def test_the_contents_of_a_phone_open_and_close_behind_a_choice(visit: Visits, address: str) -> None:
    page = visit.at(address)
    link = page.get_by_role("navigation").get_by_role("link", name="Cancel a document")
    expect(link).to_be_hidden()
    page.get_by_text("Contents", exact=True).tap()
    link.tap()
    expect(page.locator("#cancelDocument")).to_be_in_viewport()
    expect(link).to_be_hidden()


def test_the_keyboard_skips_the_contents_and_opens_an_example(visit: Visits, address: str) -> None:
    page = visit.at(address, **DESK)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    example = page.locator("article:has(#getDocument) details")
    example.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(example.locator("pre")).to_contain_text('"createdAt"')


def test_a_call_can_be_copied_whole(visit: Visits, address: str) -> None:
    page = visit.at(address, **DESK, permissions=["clipboard-write"])
    button = page.get_by_role("button", name="Copy: Call with curl: Send a document")
    button.click()
    expect(button).to_have_text("Copied")
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").press("Control+V")
    copied = page.locator("article:has(#sendDocument) .code").first.text_content() or ""
    expect(page.locator("textarea")).to_have_value(copied)
    assert copied.startswith("curl -s -X POST") and "$DOCUMENT/send" in copied


def test_without_scripts_everything_is_there(visit: Visits, address: str) -> None:
    page = visit.at(address, **DESK, java_script_enabled=False)
    expect(page.get_by_role("navigation").get_by_role("link", name="List documents")).to_be_visible()
    expect(page.get_by_role("heading", name="Create a document", exact=True)).to_be_attached()
