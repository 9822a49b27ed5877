"""The letters in a real browser, which is what many mail readers are."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from esign.core.language import LANGUAGES
from esign.mail.sheet import InlinePicture
from esign.mail.words import LetterWords, load_words
from esign.mail.write_letter import write_letter
from esign.web.signing.handoff import build_data_url
from tests import pseudo
from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.layout import find_faults
from tests.logos import TEAL, file_of
from tests.mail.samples import INVITATION, letters, vary

LINES = """() => {
  const place = (cell) => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    const { left, right } = text.getBoundingClientRect();
    return { left, right };
  };
  return [...document.querySelectorAll("tr:has(> td.line)")]
    .map((row) => [...row.querySelectorAll("td")].map(place));
}"""
SHOTS = os.environ.get("TESTS_SHOTS")


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
        for label, fact in page.evaluate(LINES):
            assert label["right"] + 8 <= fact["left"] or fact["right"] + 8 <= label["left"], name
        if SHOTS and "_" not in name:
            page.screenshot(path=f"{SHOTS}/mail-{name}-360-{tag}.png", full_page=True)
    page.close()


def load_pseudo(locale: str, time_zone: str, *, rich: bool) -> LetterWords:
    words = load_words(locale, time_zone, rich=rich)
    return replace(words, phrases=pseudo.translate(words.phrases))


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_texts_that_are_two_fifths_longer_are_not_cut(browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 740})
    for name, letter in letters("en", load_pseudo).items():
        page.set_content(letter.html)
        assert find_faults(page) == [], name
        for label, fact in page.evaluate(LINES):
            assert label["right"] + 8 <= fact["left"], name
        assert max(map(len, letter.text.splitlines())) <= 78 or name == "awkward", name
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("width", "height"), [(640, 160), (160, 160), (640, 20)], ids=["wide", "square", "line"]
)
def test_a_logo_lies_on_white_and_keeps_its_shape(
    browser: Browser, width: int, height: int, scheme: Literal["light", "dark"]
) -> None:
    logo = InlinePicture("logo@esign", file_of(Image.new("RGB", (width, height), TEAL)), width, height)
    letter = write_letter(vary(INVITATION, organisation={"name": "W" * 60}, logo=logo))
    page = browser.new_page(viewport={"width": 360, "height": 640}, color_scheme=scheme)
    page.set_content(letter.html.replace("cid:logo@esign", build_data_url("image/png", logo.png)))
    shown = page.locator("img")
    box = shown.bounding_box()
    assert box and box["width"] / box["height"] == pytest.approx(width / height, rel=0.1)
    assert box["width"] <= 160 and box["height"] <= 40
    assert shown.evaluate("image => image.naturalWidth") == width
    assert (
        shown.evaluate("image => getComputedStyle(image.closest('td')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert shown.get_attribute("alt") == "W" * 60
    assert page.locator("td", has_text=re.compile("^W{60}$")).count() == (0 if width > height else 1)
    page.close()
