"""axe-core finds nothing to complain of: every page and state, phone and desk, light and dark, in every language.

In each run, all walks are gone in English on a phone, in the dark as far as the table SEEN_IN_DARK says; one at a desk
in light; and in every other language one of those that have most sentences. `packaging/test every` goes all on both in
light and dark, in Arabic too, and each of these in each language.
"""

import json
from collections.abc import Iterator
from importlib import resources
from itertools import cycle, product
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from esign.core.language import LANGUAGES
from tests.browser.conftest import Visits
from tests.browser.screens import PAINTED, SETTLED
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.walks import BESIDE, WALKS
from tests.every import EVERY, choose
from tests.web.signing.site import SigningSite

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
RULES = {"target-size": {"enabled": True}}  # off unless it is named
ALL = {"runOnly": {"type": "tag", "values": TAGS}, "rules": RULES}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}  # nothing else changes in the dark
ALL_BUT_COLOURS = {**ALL, "rules": {**RULES, "color-contrast": {"enabled": False}}}
OTHERS = [tag for tag in LANGUAGES if tag != "en"]
# Between them they have most sentences; other walks have the same controls with other words.
SPOKEN = ("look", "approve", "code-question", "state-completed")
# Walks that between them meet every part of the pages: in the dark each of their stops, of the others the first.
SEEN_IN_DARK = ("sign", "kinds", "code-question", "state-completed")
IN_TURN = [*zip(cycle(SPOKEN), OTHERS, strict=False)]
WAYS = [(name, "phone", "en") for name in WALKS]
WAYS += [("look", "desk", "en")]
MORE = [
    (name, screen, tag) for name in WALKS for screen, tag in (("desk", "en"), ("phone", "ar"), ("desk", "ar"))
]
# One operation and one object in eight of the description of the API, which are alike: all take minutes.
THIN_OUT = "document.querySelectorAll('.operation, .object').forEach((one, at) => at % 8 && one.remove())"
WIDTHS: dict[str, dict[str, Any]] = {
    "phone": {"width": 360, "height": 740},
    "desk": {"width": 1280, "height": 800},
}


# What was opened or asked for last. Behind it stands the page as it was looked at before.
ON_TOP = """document.querySelector("dialog[open], :popover-open")
  ?? document.querySelector("#slot [data-step]")?.closest("#dock") ?? document"""


def complaints(page: Page, rules: dict[str, Any], scheme: Literal["light", "dark"] = "light") -> list[Any]:
    """What axe-core finds on the page as it stands; in each run only on what is on top, if anything is."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(SETTLED if scheme == "light" else PAINTED)  # in the dark nothing has moved since
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    asked = {**rules, "resultTypes": ["violations"], "selectors": False}  # the HTML says where it is
    place = "document" if EVERY else ON_TOP
    found = page.evaluate(f"axe.run({place}, {json.dumps(asked)}).then((result) => result.violations)")
    return [(one["id"], [(node["html"], node["failureSummary"]) for node in one["nodes"]]) for one in found]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("axe"), {"name": "Northlight"}) as stage:
        yield stage


def assert_clean(page: Page, stop: str, *, dark: bool = True) -> None:
    assert complaints(page, ALL) == [], stop
    if dark or EVERY:
        assert complaints(page, COLOURS, "dark") == [], f"{stop} in the dark"


@pytest.mark.parametrize(("name", "screen", "tag"), choose(WAYS, [one for one in MORE if one not in WAYS]))
def test_no_rule_is_broken_on_the_way_of_a_signer(visit: Visits, name: str, screen: str, tag: str) -> None:
    walk = WALKS[name]
    # without motion nothing is measured half faded
    page = visit(walk.start(tag), locale=tag, reduced_motion="reduce", **WIDTHS[screen], **walk.how)
    for at, stop in enumerate(walk.stops(page)):
        assert_clean(page, stop, dark=screen == "phone" and (at == 0 or name in SEEN_IN_DARK))


@pytest.mark.parametrize(("name", "tag"), choose(IN_TURN, sorted({*product(SPOKEN, OTHERS)} - {*IN_TURN})))
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
    if not EVERY:
        page.evaluate(THIN_OUT)
    assert_clean(page, name)
    page.set_viewport_size({"width": 360, "height": 740})
    assert complaints(page, ALL_BUT_COLOURS) == []


def test_a_broken_rule_is_found(visit: Visits) -> None:
    page = visit(SigningSite())
    page.evaluate("document.querySelector('h1').style.color = '#ddd'")
    assert [rule for rule, _ in complaints(page, ALL)] == ["color-contrast"]
