"""The documentation in a browser: read on a phone and from right to left, searched by the keyboard alone."""

from collections.abc import Callable, Iterator
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits
from tests.browser.stage import a_stage
from tests.browser.test_axe import assert_clean


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_stage(tmp_path_factory.mktemp("manual"), {"name": "Northlight"}) as stage:
        address = f"{stage.site.base}/docs"
        urlopen(address).close()  # the first request loads the templates
        yield address


def test_the_keyboard_finds_a_message_and_leads_to_its_remedy(visit: Visits, address: str) -> None:
    page = visit.at(address, width=1280, height=800)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("esign: the data folder /srv/x belongs to another user; run esign as its owner")
    page.keyboard.press("Enter")
    first = page.locator(".manual-results a").first
    expect(first).to_contain_text("belongs to another user")
    first.focus()
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="belongs to another user")
    expect(heading).to_be_in_viewport()
    box = heading.bounding_box()
    assert box is not None and box["y"] >= 56, "the bar lies over the heading"


def test_the_contents_of_a_phone_open_and_lead_on_without_script(visit: Visits, address: str) -> None:
    page = visit.at(f"{address}/mail", java_script_enabled=False)
    link = page.get_by_role("link", name="Backup", exact=True)
    expect(link).to_be_hidden()
    page.get_by_text("Contents", exact=True).tap()
    link.tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Backup")


def test_in_arabic_the_frame_runs_from_right_to_left_and_the_text_from_left_to_right(
    visit: Visits, address: str, shot: Callable[[Page, str], None]
) -> None:
    page = visit.at(f"{address}/backup", locale="ar")
    assert page.evaluate("getComputedStyle(document.querySelector('.manual-bar')).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.querySelector('.prose')).direction") == "ltr"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_clean(page, "arabic")
    shot(page, "manual-ar")
