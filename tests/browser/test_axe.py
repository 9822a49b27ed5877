"""axe-core finds nothing to complain of: every page and state, phone and desk, light and dark, in every language.

The dark is looked at on a phone, and a desk only in English. With the variable ESIGN_EVERY (`packaging/test every`),
both are looked at everywhere.
"""

import json
import os
from collections.abc import Iterator
from importlib import resources
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from esign.core.language import LANGUAGES
from tests.browser.conftest import Visits
from tests.browser.screens import PAINTED, SETTLED
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.walks import BESIDE, WALKS
from tests.web.signing.site import SigningSite

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
RULES = {"target-size": {"enabled": True}}  # off unless it is named
ALL = {"runOnly": {"type": "tag", "values": TAGS}, "rules": RULES}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}  # nothing else changes in the dark
ALL_BUT_COLOURS = {**ALL, "rules": {**RULES, "color-contrast": {"enabled": False}}}
OTHERS = [tag for tag in LANGUAGES if tag not in ("en", "ar")]
# Between them they have most sentences; other walks have the same controls with other words.
SPOKEN = ("look", "approve", "code-question", "state-completed")
EVERY = bool(os.environ.get("ESIGN_EVERY"))
WAYS = [("phone", "en"), ("phone", "ar"), ("desk", "en"), *([("desk", "ar")] if EVERY else [])]
WIDTHS: dict[str, dict[str, Any]] = {
    "phone": {"width": 360, "height": 740},
    "desk": {"width": 1280, "height": 800},
}


def complaints(page: Page, rules: dict[str, Any], scheme: Literal["light", "dark"] = "light") -> list[Any]:
    """What axe-core finds on the page as it stands."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(SETTLED if scheme == "light" else PAINTED)  # in the dark nothing has moved since
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    asked = {**rules, "resultTypes": ["violations"]}
    found = page.evaluate(f"axe.run({json.dumps(asked)}).then((result) => result.violations)")
    return [(one["id"], [(node["html"], node["failureSummary"]) for node in one["nodes"]]) for one in found]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("axe"), {"name": "Northlight"}) as stage:
        yield stage


def assert_clean(page: Page, stop: str, *, dark: bool = True) -> None:
    assert complaints(page, ALL) == [], stop
    if dark or EVERY:
        assert complaints(page, COLOURS, "dark") == [], f"{stop} in the dark"


@pytest.mark.parametrize(("screen", "tag"), WAYS)
@pytest.mark.parametrize("name", WALKS)
def test_no_rule_is_broken_on_the_way_of_a_signer(visit: Visits, name: str, screen: str, tag: str) -> None:
    walk = WALKS[name]
    # without motion nothing is measured half faded
    page = visit(walk.start(tag), locale=tag, reduced_motion="reduce", **WIDTHS[screen], **walk.how)
    for stop in walk.stops(page):
        assert_clean(page, stop, dark=screen == "phone")


@pytest.mark.parametrize("tag", OTHERS)
@pytest.mark.parametrize("name", SPOKEN)
def test_no_rule_is_broken_in_any_other_language(visit: Visits, name: str, tag: str) -> None:
    """On a phone, where longer words have the least room, and in light: what a language changes are words."""
    walk = WALKS[name]
    page = visit(walk.start(tag), locale=tag, reduced_motion="reduce", **WIDTHS["phone"], **walk.how)
    assert page.evaluate("document.documentElement.lang") == tag
    for stop in walk.stops(page):
        assert complaints(page, ALL_BUT_COLOURS) == [], stop


@pytest.mark.parametrize("name", BESIDE)
def test_no_rule_is_broken_on_the_pages_beside_it(visit: Visits, stage: BrowserStage, name: str) -> None:
    page = visit.at(f"{stage.site.base}{BESIDE[name]}", **WIDTHS["desk"])
    assert_clean(page, name)
    if name != "api" or EVERY:  # the longest page takes half a minute
        page.set_viewport_size({"width": 360, "height": 740})
        assert complaints(page, ALL_BUT_COLOURS) == []


def test_a_broken_rule_is_found(visit: Visits) -> None:
    page = visit(SigningSite())
    page.evaluate("document.querySelector('h1').style.color = '#ddd'")
    assert [rule for rule, _ in complaints(page, ALL)] == ["color-contrast"]
