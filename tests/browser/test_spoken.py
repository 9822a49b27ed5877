"""The signing pages as a screen reader reads them, held against what is written down in tests/browser/spoken.

With the variable TESTS_SPOKEN the tests write down what is read now; the change is then read as any other.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.spoken import read_aloud
from tests.browser.test_access import three_fields
from tests.browser.walks import WALKS

Visit = Callable[..., Page]
FOLDER = Path(__file__).with_name("spoken")
DESK = {"width": 1280, "height": 800, "reduced_motion": "reduce"}
HEADING = re.compile(r"^ *heading “.*” \(level (\d)", re.MULTILINE)
LANDMARKS = ("banner", "main", "contentinfo")


def sign(page: Page) -> Iterator[tuple[str, str]]:
    """(stop, what is read there) from the arrival to the last question."""
    expect(page.locator("#dock-text")).not_to_be_empty()
    yield "arrival", read_aloud(page)
    page.locator("#next").click()
    page.locator("#slot input").fill("Wexcombe")
    page.keyboard.press("Enter")
    expect(page.locator("[data-kept=saved]")).to_be_visible()
    yield "choice", read_aloud(page)
    page.locator("[data-view=form]").click()
    yield "form", read_aloud(page)
    page.locator("#answers .put").click()
    yield "signature", read_aloud(page)
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    page.locator("#answers [value=b]").check()
    page.locator("#answers [type=checkbox]").check()
    page.locator("#next").click()
    page.locator("#finish-done").click()
    expect(page.locator("#consent-error")).to_be_visible()
    yield "finish", read_aloud(page)


def look(page: Page) -> Iterator[tuple[str, str]]:
    yield "page", read_aloud(page)


PAGES: Mapping[str, tuple[Callable[[], Any], Callable[[Page], Iterator[tuple[str, str]]]]] = {
    "sign": (lambda: three_fields(), sign),
    "code": (lambda: WALKS["code-enter"].start("en"), look),
    "completed": (lambda: WALKS["state-completed"].start("en"), look),
    "expired": (lambda: WALKS["state-expired"].start("en"), look),
    "read": (lambda: WALKS["read"].start("en"), look),
}


@pytest.mark.parametrize("name", PAGES)
def test_it_is_read_in_order_with_names_roles_and_states(visit: Visit, name: str) -> None:
    start, stops = PAGES[name]
    page = visit(start(), **DESK)
    page.wait_for_load_state("networkidle")
    for stop, said in stops(page):
        written = FOLDER / f"{name}-{stop}.txt"
        if os.environ.get("TESTS_SPOKEN"):
            written.write_text(said, "utf-8")
        assert said == written.read_text("utf-8"), stop
        assert_well_built(said)


def assert_well_built(said: str) -> None:
    """One heading of the first level and one of each landmark; no level is left out, no control is without a name."""
    levels = [int(level) for level in HEADING.findall(said)]
    if "dialog “" in said:
        assert levels[0] == 2, "the title of a dialog"
    else:
        assert levels[0] == 1 and levels.count(1) == 1
        assert said.count("\n  main\n") == 1 and said.count("\n  banner\n") == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = re.findall(
        r"^ *(?:button|link|textbox|combobox|radio|checkbox|tab|dialog|radiogroup)(?: \(.*)?$", said, re.M
    )
    assert unnamed == []


def test_what_changes_is_said_by_a_live_region(visit: Visit) -> None:
    """Each is there before it is filled, or a screen reader does not hear of it."""
    page = visit(three_fields(), **DESK)
    live = (
        "() => [...document.querySelectorAll('[role=status], [role=alert]')].map((one) => [one.id, one.role])"
    )
    assert dict(page.evaluate(live)) == {
        **dict.fromkeys(
            ("problems", "consent-error", "finish-error", "adopt-error", "decline-error"), "alert"
        ),
        **dict.fromkeys(("say", "kept-say", "toast", "handoff-say", "typed-full", "drop-said"), "status"),
        "": "alert",  # that the page does not work
    }
