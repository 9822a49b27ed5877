"""The letters in a real browser, which is what many mail readers are."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from esign.core.language import LANGUAGES
from tests.browser.conftest import ARGS, CHROMIUM
from tests.mail.samples import letters

ENDS = """cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  const { left, right } = text.getBoundingClientRect();
  return { left, right };
}"""
SHOTS = os.environ.get("ESIGN_SHOTS")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield opened
        opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 680])
def test_every_letter_fits_and_can_be_read(browser: Browser, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 640}, color_scheme=scheme)  # type: ignore[arg-type]
    for name, letter in letters().items():
        page.set_content(letter.html)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        ink, ground = (
            page.evaluate(f"getComputedStyle(document.querySelector('{place}')).{style}")
            for place, style in (("h1", "color"), (".card", "backgroundColor"))
        )
        assert (ink, ground) == {
            "light": ("rgb(27, 35, 48)", "rgb(255, 255, 255)"),
            "dark": ("rgb(233, 235, 240)", "rgb(28, 33, 43)"),
        }[scheme]
        for button in page.locator("a.btn-a").all():
            box = button.bounding_box()
            assert box is not None and box["height"] >= 44, name
            assert box["width"] > 280 or width > 480, name
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/mail-{name}-{width}-{scheme}.png", full_page=True)
    page.close()


@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_letter_fits_in_every_language(browser: Browser, tag: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740}, device_scale_factor=2)
    for name, letter in letters(tag).items():
        page.set_content(letter.html)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
        assert page.evaluate("document.documentElement.lang") == tag
        for row in page.locator("tr:has(> td.line)").all():
            label, fact = (cell.evaluate(ENDS) for cell in row.locator("td").all())
            assert label["right"] + 8 <= fact["left"] or fact["right"] + 8 <= label["left"], name
        if SHOTS and "_" not in name:
            page.screenshot(path=f"{SHOTS}/mail-{name}-360-{tag}.png", full_page=True)
    page.close()
