"""Letters of 100 to 400 % on a phone, logos of any form in the bar: nothing is cut, covered or out of reach."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.layout import find_faults, measure_dock, text_sizes
from tests.browser.sample import a_contract_site, the_contract
from tests.browser.walks import WALKS
from tests.every import choose

Visit = Callable[..., Page]
SIZES = choose([2, 4], [1, 1.5])  # the root goes no further than a tenth of the width: on this phone to 225 %
# of the screen: about a third for the bar at the bottom; choices take more where all of them then have room
HIGHEST = {1: 0.47, 1.5: 0.4, 2: 0.38, 4: 0.44}
WALKED = [
    *choose(["look", "kinds"], ["sign"]),
    *("correct", "lose", "approve", "read"),
    *("code-enter", "code-ask", "code-agreed", "code-wait"),
    *("state-not_yet", "state-sealing_late", "state-completed", "state-renew", "state-languages"),
    "fault-unavailable",
]
LOGOS = {"8 to 1": (2400, 300), "3 to 1": (900, 300), "square": (300, 300), "upright": (200, 600)}
LONG_NAME = "Brotherhood of Northlight Joinery, Cabinet Makers and Window Fitters Ltd"
BOX = "(one) => one.getBoundingClientRect().toJSON()"


@pytest.mark.parametrize("name", WALKED)
def test_large_letters_cut_and_cover_nothing(visit: Visit, name: str) -> None:
    walk = WALKS[name]
    page = visit(walk.start("en"), reduced_motion="reduce", **walk.how)
    with text_sizes(page) as size:
        for stop in walk.stops(page):
            for times in SIZES:
                size.set(times)
                assert find_faults(page) == [], (stop, times)
                assert measure_dock(page) <= HIGHEST[times], (stop, times)
            size.set(1)


@pytest.mark.parametrize("times", [2, 4])
def test_very_large_letters_fit_a_desk_too(visit: Visit, times: int) -> None:
    walk = WALKS["kinds"]
    page = visit(walk.start("en"), reduced_motion="reduce", width=1280, height=800, text=times)
    for stop in walk.stops(page):
        assert find_faults(page) == [], stop


def test_a_root_in_the_size_of_the_browser_is_what_the_test_sets(visit: Visit) -> None:
    page = visit(WALKS["look"].start("en"), text=2)
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    assert page.evaluate("matchMedia('(max-width: 11.25em)').matches")


def test_what_is_asked_for_is_seen_in_the_bar_however_large_the_letters(visit: Visit) -> None:
    page = visit(WALKS["sign"].start("en"), reduced_motion="reduce", text=2)
    for field in ("fld_garden-address", "fld_watering", "fld_kitchen-herbs", "fld_wishes"):
        page.locator(f"#f-{field}").evaluate("(one) => one.click()")
        control = page.locator("#slot [data-field]").first
        shown = control.locator("xpath=ancestor-or-self::*[self::label or self::textarea]").last
        slot, box = page.locator("#slot").evaluate(BOX), shown.evaluate(BOX)
        assert box["top"] >= slot["top"] - 1, field
        assert min(box["bottom"], box["top"] + 60) <= slot["bottom"] + 1, field


def test_where_one_view_has_room_its_button_keeps_the_focus(visit: Visit) -> None:
    page = visit(WALKS["look"].start("en"), text=2)
    page.get_by_role("button", name="Form", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Document", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Form", exact=True)).to_be_focused()


# ---------- the bar at the top ----------


def a_site_with_logo(form: str) -> Any:
    made = a_contract_site(the_contract())
    made.organisation = replace(made.organisation, name=LONG_NAME)
    made.use_logo(*LOGOS[form])
    return made


def apart(one: Locator, other: Locator) -> bool:
    a, b = one.evaluate(BOX), other.evaluate(BOX)
    return bool(
        min(a["right"], b["right"]) <= max(a["left"], b["left"])
        or min(a["bottom"], b["bottom"]) <= max(a["top"], b["top"])
    )


@pytest.mark.parametrize("form", choose(["8 to 1", "upright"], ["3 to 1", "square"]))
def test_the_bar_is_one_row_and_leads_to_the_menu(visit: Visit, form: str) -> None:
    page = visit(a_site_with_logo(form))
    bar, menu, logo = page.locator(".bar"), page.locator("[popovertarget=menu]"), page.locator(".bar .logo")
    for width in (320, 360, 430, 768, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        assert bar.evaluate(BOX)["height"] <= 66, width
        assert find_faults(page) == [], width
        if width > 352:
            size = logo.evaluate(BOX)
            assert 18 <= size["width"] <= 136 and 12 <= size["height"] <= 40, width
            assert apart(logo, page.locator(".seg")), width
        page.mouse.wheel(0, 900)
        expect(page.locator("#where")).to_have_css("opacity", "1")
        assert apart(page.locator("#where"), menu), width
        menu.click()
        page.locator("#menu").get_by_role("button", name="Decline to sign").click()
        expect(page.locator("#decline")).to_be_visible()
        page.keyboard.press("Escape")
        page.evaluate("scrollTo(0, 0)")


def test_the_zoom_is_the_first_to_go(visit: Visit) -> None:
    page = visit(a_site_with_logo("3 to 1"))
    zoom = page.locator("[data-zoom='1']")
    expect(zoom).to_be_hidden()
    for one in (page.locator(".bar .logo"), page.locator(".seg"), page.locator("[popovertarget=menu]")):
        expect(one).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 480, "height": 740})
    expect(zoom).to_be_in_viewport(ratio=1)
