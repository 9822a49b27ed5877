"""Signing pages in a language whose texts are two fifths longer: nothing is cut on a phone, a tablet or a desk."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page

from esign.web.signing.words import SigningWords, WordLibrary
from tests import pseudo
from tests.browser.layout import find_faults
from tests.browser.walks import WALKS
from tests.every import choose
from tests.web.signing.site import SigningSite

Visit = Callable[..., Page]
SIZES = dict(choose([(360, 740), (1280, 800)], [(768, 1024)]))


def speak_pseudo(site: SigningSite) -> SigningSite:
    """The same site; who is asked in English reads the longer language."""
    found = WordLibrary.load()
    english = found.languages["en"]
    longer = SigningWords(english.language, pseudo.translate(english.catalogue))
    site.library = replace(found, languages={**found.languages, "en": longer})
    return site


@pytest.mark.parametrize("name", choose([name for name in WALKS if name != "sign"], ["sign"]))
def test_texts_that_are_longer_are_not_cut(visit: Visit, name: str) -> None:
    walk = WALKS[name]
    page = visit(speak_pseudo(walk.start("en")), reduced_motion="reduce", **walk.how)
    for stop in walk.stops(page):
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            assert find_faults(page) == [], (stop, width)
        page.set_viewport_size({"width": 360, "height": 740})


def test_the_page_is_in_the_longer_language(visit: Visit) -> None:
    page = visit(speak_pseudo(WALKS["look"].start("en")))
    words = page.locator("#dock-text").inner_text()
    assert words.startswith("11 fíííéélds") or words.startswith("11 f"), words
    assert "fields" not in words
