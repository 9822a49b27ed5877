"""A page that cannot be drawn: the reader is told so in words, and offered the file; the other pages are shown."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits
from tests.web.signing.site import SigningSite, a_document

SHOWN = """(place) => {
  const img = document.querySelector(place);
  return img.src.includes("/pages/") && img.naturalWidth > 0;
}"""
SIZES = {"desk": (1280, 800), "phone": (360, 740)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("number", [1, 2])
def test_a_page_that_cannot_be_shown_says_so(
    visit: Visits, shot: Callable[[Page, str], None], size: str, number: int
) -> None:
    site = SigningSite(a_document())
    site.undrawable = {number}
    width, height = SIZES[size]
    page = visit(site, width=width, height=height, excused="400")
    note = page.locator(f".unshown:has(+ #page-{number})")
    page.locator(f"#page-{number}").scroll_into_view_if_needed()
    expect(note).to_contain_text("This page cannot be shown here.")
    expect(note.get_by_role("link")).to_have_attribute("href", re.compile(r"/s/[^/]+/original\.pdf$"))
    expect(page.locator(f"#page-{number} > img")).to_have_attribute("alt", "")
    page.locator(f"#page-{3 - number}").scroll_into_view_if_needed()
    page.wait_for_function(SHOWN, arg=f"#page-{3 - number} > img:not(.filled)")
    expect(page.locator(".unshown")).to_have_count(1)
    note.scroll_into_view_if_needed()
    shot(page, f"unshown-{number}-{size}")
