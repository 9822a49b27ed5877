"""The navigation of the office: one edge for all titles, everything in sight on a small laptop, settings by group."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.office_walks import OFFICE, WalkedOffice, an_office_of
from tests.browser.stage import a_stage

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


WIDTHS = (360, 1100, 1366, 1920)


def measure_edges(page: Page) -> list[int]:
    """Where the title begins at each width, in pixels from the left."""
    edges = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        edges.append(page.evaluate(EDGE)[0])
    page.set_viewport_size(LAPTOP)
    return edges


@pytest.mark.slow
def test_all_titles_stand_on_one_edge_at_every_width(visit: Visits, office: WalkedOffice) -> None:
    page = open_office(visit, office, "/documents", excused="Failed to load")
    edges = measure_edges(page)
    found = set()
    for name, walk in OFFICE.items():
        if name == "office-signed-out":
            continue
        for stop in walk(page, office):
            if (title := page.evaluate(EDGE)) is not None:
                assert measure_edges(page) == edges, (name, stop, title)
                found.add(title[1])
    assert len(found) > 50, "nearly every page of the office has a title of its own"


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
        *("Documents\n2\n, 2 need attention", "Templates", "Verify a PDF", "Settings")
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
