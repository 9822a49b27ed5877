"""The navigation of the office: one edge for all titles, everything in sight on a small laptop, settings by group."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.office_addresses import list_addresses
from tests.browser.office_walks import OFFICE, WalkedOffice, an_office_of
from tests.browser.stage import a_stage
from tests.every import EVERY, choose

LAPTOP: ViewportSize = {"width": 1366, "height": 625}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WalkedOffice]:
    with a_stage(tmp_path_factory.mktemp("office"), {"name": "Alder & Finch"}) as stage:
        yield an_office_of(stage)


def open_office(visit: Visits, office: WalkedOffice, path: str, **how: Any) -> Page:
    return visit.at(f"{office.stage.site.base}{path}", **{"storage_state": office.state, **LAPTOP, **how})


EDGE = """() => {
  const title = document.querySelector(".shell main h1");
  return title && [Math.round(title.getBoundingClientRect().left), title.textContent];
}"""


# Where boxes end: cards, notes, bars and the actions beside the title. A box counts that nothing stands beside on the
# right, and that is in no other box.
ENDS = """() => {
  const box = ".card, .note, .next, .drop, .tabs, .head > .acts, .main:not(:has(.page.sections)) > .testbar";
  const rects = [...document.querySelectorAll(".shell .main :is(" + box + ")")]
    .filter(one => one.checkVisibility() && !one.parentElement.closest("dialog, .menu-list, " + box))
    .map(one => {
      const {left, right} = one.getBoundingClientRect();
      const {top, bottom} = (one.closest(".split") ?? one).getBoundingClientRect();  // its columns differ in length
      return {left, right, top, bottom};
    }).filter(one => one.right > one.left);
  const beside = (one, other) => other.left >= one.right - 1 && other.top < one.bottom && other.bottom > one.top;
  return rects.filter(one => !rects.some(other => beside(one, other))).map(one => Math.round(one.right));
}"""


WIDTHS = sorted(choose([360, 1280, 1920], [1100, 1366]))
WIDE = (1280, 1920)


def measure_edges(page: Page) -> tuple[list[int], dict[int, list[int]]]:
    """Where the title begins at each width, and where boxes end at wide ones, in pixels from the left."""
    edges, ends = [], {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        edges.append(page.evaluate(EDGE)[0])
        if width in WIDE:
            ends[width] = page.evaluate(ENDS)
    page.set_viewport_size(LAPTOP)
    return edges, ends


def has_one_end(ends: list[int]) -> bool:
    """Return whether all boxes end at the same place. A pixel is left to rounding."""
    return not ends or max(ends) - min(ends) <= 1


def list_stops(page: Page, office: WalkedOffice) -> Iterator[str]:
    """Every page that an address leads to; with TESTS_EVERY every stop of the walks."""
    if EVERY:
        for name, walk in OFFICE.items():
            if name != "office-signed-out":
                yield from (f"{name} {stop}" for stop in walk(page, office))
    else:
        for path in list_addresses(office):
            office.go(page, path)
            yield path


@pytest.mark.slow
def test_all_titles_and_boxes_stand_on_one_edge_at_every_width(visit: Visits, office: WalkedOffice) -> None:
    page = open_office(visit, office, "/documents", excused="Failed to load")
    edges, _ = measure_edges(page)
    found, boxes = set(), 0
    for stop in list_stops(page, office):
        if (title := page.evaluate(EDGE)) is not None:
            begins, ends = measure_edges(page)
            assert begins == edges, (stop, title)
            assert all(map(has_one_end, ends.values())), (stop, title, ends)
            found.add(title[1])
            boxes += len(ends[WIDE[0]])
    assert len(found) > (50 if EVERY else 47), "nearly every page of the office has a title of its own"
    assert boxes > 150, "boxes were measured"


def test_everything_of_the_navigation_is_in_sight_on_a_small_laptop(
    visit: Visits, office: WalkedOffice
) -> None:
    test = signed_in(office.stage, "Tess Test", MemberRole.OWNER, Mode.TEST)
    page = open_office(visit, office, "/documents", storage_state=test)
    for role, name in (
        ("link", "New document"),
        ("link", "Documents"),
        ("link", "Templates"),
        ("link", "Address book"),
        ("link", "Verify a PDF"),
        ("link", "Test messages"),
        ("link", "Settings"),
        ("button", "Live"),
        ("link", "Your account: Tess Test Owner"),
        ("button", "Sign out"),
    ):
        part = page.locator(".side").get_by_role(role, name=name)  # type: ignore[arg-type]
        expect(part).to_be_in_viewport(ratio=1)
    side = page.locator(".side")
    assert side.evaluate("side => side.scrollHeight <= side.clientHeight")


def test_settings_lead_to_the_first_page_and_list_all_by_group(visit: Visits, office: WalkedOffice) -> None:
    page = open_office(visit, office, "/documents")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Organisation", level=1)).to_be_visible()
    menu = page.get_by_role("navigation", name="Settings")
    expect(menu).to_have_count(1)
    assert menu.get_by_role("heading").all_inner_texts() == [
        *("Organisation", "Developers", "Activity", "Server", "You")
    ]
    for name in menu.get_by_role("link").all_inner_texts():
        menu.get_by_role("link", name=name, exact=True).click()
        expect(menu.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
        expect(page.locator("nav#nav").get_by_role("link", name="Settings")).to_have_attribute(
            "aria-current", "true"
        )


def test_members_see_only_what_they_may(visit: Visits, office: WalkedOffice) -> None:
    member = signed_in(office.stage, "Milo Member", MemberRole.MEMBER)
    page = open_office(visit, office, "/documents", storage_state=member)
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Your account", level=1)).to_be_visible()
    links = page.get_by_role("navigation", name="Settings").get_by_role("link")
    assert links.all_inner_texts() == ["Your account"]
    viewer = signed_in(office.stage, "Vera Viewer", MemberRole.VIEWER)
    page = open_office(visit, office, "/documents", storage_state=viewer)
    assert page.locator("#nav").get_by_role("link").all_inner_texts() == [
        *("Documents\n2\n, 2 need attention", "Templates", "Verify a PDF", "Settings", "Documentation")
    ]


@pytest.mark.parametrize("script", [True, False])
def test_the_settings_fold_into_a_menu_on_a_phone(
    visit: Visits, office: WalkedOffice, *, script: bool
) -> None:
    page = open_office(visit, office, "/members", width=360, height=740, java_script_enabled=script)
    expect(page.get_by_role("navigation", name="Settings")).to_have_count(0)
    page.get_by_text("All settings").click()
    menu = page.get_by_role("navigation", name="Settings")
    menu.get_by_role("link", name="Audit log").scroll_into_view_if_needed()
    menu.get_by_role("link", name="Audit log").click()
    expect(page.get_by_role("heading", name="Audit log", level=1)).to_be_visible()
    if script:
        page.get_by_role("button", name="Menu").click()
    page.locator("#nav").get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents", level=1)).to_be_visible()
