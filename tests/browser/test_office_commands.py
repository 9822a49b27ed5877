"""The command palette and the keyboard shortcuts in a real browser: keys, finger, screen reader, lost connections."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from esign.core.actor import Mode
from tests.browser.conftest import Visits
from tests.browser.furnished import furnish, signed_in
from tests.browser.screens import ON_A_DESK
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_office import clean

DESK: dict[str, Any] = {"width": 1280, "height": 800}
LOST = "Failed to load resource"
GIVEN_UP = "net::ERR_ABORTED"  # an older question to the palette, and what a page that is left had asked for
SAYS_HOW_MANY = """() => {
  const found = [...document.querySelectorAll("#commands [role=option]")];
  return found.length > 1
    && document.getElementById("commands-say").textContent === `${found.length} results`;
}"""
Shot = Callable[[Page, str], None]
Opens = Callable[..., Page]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("commands"), {"name": "Alder & Finch"}) as stage:
        furnish(stage)
        yield stage


@pytest.fixture(scope="module")
def session(stage: BrowserStage) -> dict[str, Any]:
    return signed_in(stage)


@pytest.fixture
def opened(visit: Visits, stage: BrowserStage, session: dict[str, Any]) -> Opens:
    def open(path: str = "/documents", **how: Any) -> Page:
        page = visit.at(
            f"{stage.site.base}{path}", **{"storage_state": session, "excused": GIVEN_UP, **DESK, **how}
        )
        page.locator("html.js").wait_for()
        return page

    return open


def palette(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Search")


def box(page: Page) -> Locator:
    return palette(page).get_by_role("combobox")


def wait_for_route(page: Page, held: list[Route]) -> Route:
    """The request that a route holds, once it is there."""
    for _ in range(500):
        if held:
            return held[0]
        page.wait_for_timeout(10)
    raise AssertionError("nothing was asked for")


def options(page: Page) -> Locator:
    return palette(page).get_by_role("option")


def selected(page: Page) -> Locator:
    """The option that a screen reader hears, which is the one that looks chosen."""
    name = box(page).get_attribute("aria-activedescendant")
    return page.locator(f"#{name}[aria-selected=true]")


@pytest.mark.parametrize("how", ON_A_DESK)
def test_a_document_is_found_and_opened(opened: Opens, shot: Shot, how: dict[str, Any]) -> None:
    page = opened(**how)
    page.get_by_role("button", name="Search", exact=True).click()
    expect(box(page)).to_be_focused()
    expect(options(page).first).to_have_text(
        "Office lease renewal 2027Seal delayed · \u2068Ada Byron\u2069 and \u2068Jo Li\u2069"
    )
    shot(page, "commands-empty")
    clean(page)
    page.keyboard.type("lindqvist")
    expect(options(page)).to_have_count(1)
    expect(page.locator("#commands-say")).to_have_text("1 result")
    shot(page, "commands-found")
    clean(page)
    options(page).first.click()
    page.wait_for_url("**/documents/doc_*")
    expect(page.get_by_role("heading", level=1)).to_have_text("Consultancy agreement, Lindqvist Survey")


CLOSED_AND_OPENED = """() => {
  const key = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
  key();
  key();
  const input = document.activeElement;
  input.value = "webh";
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
}"""


def test_what_is_typed_at_once_after_it_was_closed_and_opened_again_stays(opened: Opens) -> None:
    page = opened("/settings/usage")
    page.keyboard.press("Control+k")
    expect(options(page).first).to_be_visible()
    page.evaluate(CLOSED_AND_OPENED)  # before the browser tells of the closing
    expect(options(page).first).to_have_text("WebhooksSetting")
    expect(box(page)).to_have_value("webh")


def test_everything_is_done_with_keys(opened: Opens) -> None:
    page = opened("/settings/usage")
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Control+k")
    expect(box(page)).to_be_focused()
    expect(options(page).first).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(selected(page)).to_have_text("Verify a PDFPage")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(selected(page)).to_contain_text("Consultancy agreement, Lindqvist Survey")
    page.keyboard.press("Escape")
    expect(palette(page)).to_be_hidden()
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Meta+K")
    page.keyboard.type("web")
    expect(options(page).first).to_have_text("WebhooksSetting")
    page.keyboard.press("Control+k")
    expect(palette(page)).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("webh")
    expect(options(page).first).to_have_text("WebhooksSetting")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings/webhooks")


def test_enter_means_the_answer_to_what_was_typed(opened: Opens) -> None:
    page = opened()
    held: list[Route] = []
    page.keyboard.press("Control+k")
    expect(options(page).first).to_contain_text("Office lease renewal")
    page.route("**/palette?q=outbox", lambda route: held.append(route))
    with page.expect_request("**/palette?q=outbox"):
        page.keyboard.type("outbox")
        page.keyboard.press("Enter")
    assert page.url.endswith("/documents")
    wait_for_route(page, held).continue_()
    page.wait_for_url("**/settings/outbox")


def test_an_older_answer_never_comes_over_a_newer_one(opened: Opens) -> None:
    page = opened()
    held: list[Route] = []
    page.keyboard.press("Control+k")
    expect(options(page).first).to_be_visible()
    page.route("**/palette?q=webhook", lambda route: held.append(route))
    with page.expect_request("**/palette?q=webhook"):
        box(page).fill("webhook")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("q=webhook")):
        box(page).fill("usage")
    expect(options(page).first).to_have_text("UsageSetting")


def test_an_action_is_sent_as_a_form(opened: Opens, stage: BrowserStage) -> None:
    page = opened("/account", storage_state=signed_in(stage, "Swati Rao"))
    page.keyboard.press("Control+k")
    page.keyboard.type("test mode")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Mode")).to_be_visible()
    expect(page.get_by_text("You’re in test mode.")).to_be_visible()
    assert page.url.endswith("/account")
    page.keyboard.press("Control+k")
    expect(options(page).filter(has_text="Office lease")).to_have_count(0)
    page.keyboard.type("sign out")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sign-in*")


def test_what_is_lost_or_not_there_is_said(opened: Opens, stage: BrowserStage) -> None:
    page = opened(excused=LOST, storage_state=signed_in(stage, "Nils Ode"))
    page.keyboard.press("Control+k")
    page.keyboard.type("no such <b>thing</b>")
    expect(page.locator("#commands-none")).to_have_text("No results for “no such <b>thing</b>”")
    page.route("**/palette?*", lambda route: route.abort())
    box(page).fill("usage")
    expect(page.locator("#commands-none")).to_have_text("Search isn’t available. Check your connection.")
    expect(page.locator("#commands-say")).to_have_text("Search isn’t available. Check your connection.")
    page.unroute("**/palette?*")
    page.context.clear_cookies()
    box(page).fill("plan")
    expect(page.locator("#commands-none")).to_have_text("You’re signed out. Sign in to search.")


def test_a_hostile_title_is_text(opened: Opens, stage: BrowserStage) -> None:
    title = '"><img src=x onerror=alert(1)>\u202e' + "W" * 90
    made = stage.do(stage.site.api.create(title=title))
    page = opened(width=360, height=740)
    page.get_by_role("button", name="Search", exact=True).click()
    page.keyboard.type("onerror")
    expect(options(page)).to_have_count(1)
    assert page.evaluate("document.querySelector('#commands').scrollWidth <= innerWidth")
    stage.do(stage.site.api.ok("DELETE", f"/documents/{made}"))


def test_each_page_shows_its_own_keys(opened: Opens, shot: Shot) -> None:
    page = opened()
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.keyboard.press("?")
    expect(keys.get_by_text("Search documents", exact=True)).to_be_visible()
    shot(page, "keys")
    clean(page)
    page.keyboard.press("Escape")
    page.goto(page.url.replace("/documents", "/account"))
    page.keyboard.press("?")
    expect(keys.get_by_text("On this page")).to_be_hidden()
    expect(keys.get_by_text("Show these shortcuts")).to_be_visible()
    keys.get_by_role("button", name="Close").click()
    page.keyboard.press("/")
    expect(palette(page)).to_be_visible()
    palette(page).get_by_role("button", name="Keyboard shortcuts").click()
    expect(palette(page)).to_be_hidden()
    expect(keys).to_be_visible()


def test_single_keys_do_nothing_where_one_types_and_can_be_turned_off(opened: Opens) -> None:
    page = opened()
    search = page.get_by_label("Search documents")
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.type("/?k")
    expect(search).to_have_value("/?k")
    expect(page.locator("dialog[open]")).to_have_count(0)
    search.blur()
    page.keyboard.press("Control+/")
    page.keyboard.press("Alt+?")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.locator("html[data-keys=off]").wait_for()
    page.keyboard.press("?")
    page.keyboard.press("/")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(search).not_to_be_focused()
    page.keyboard.press("Control+k")
    palette(page).get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Single-key shortcuts").check()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(search).to_be_focused()


def test_a_screen_reader_hears_groups_and_how_many_there_are(opened: Opens) -> None:
    page = opened()
    page.keyboard.press("Control+k")
    with page.expect_response("**/palette?*con*"):
        box(page).fill("con")
    expect(options(page).first).to_be_visible()
    expect(box(page)).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("listbox", name="Results").get_by_role("group", name="Documents")).to_be_visible()
    page.wait_for_function(SAYS_HOW_MANY)
    assert page.get_by_role("status").filter(has_text="results").count() == 1


def test_test_mode_finds_its_own(opened: Opens, stage: BrowserStage) -> None:
    page = opened("/documents", storage_state=signed_in(stage, "Tess Ude", mode=Mode.TEST))
    with page.expect_response("**/palette?*") as answer:
        page.keyboard.press("Control+k")
    groups = json.loads(answer.value.body())["groups"]
    assert [group["name"] for group in groups] == ["Go to"]


def test_without_a_script_there_is_no_dead_button(
    opened: Opens, visit: Visits, stage: BrowserStage, session: dict[str, Any]
) -> None:
    page = visit.at(f"{stage.site.base}/documents", storage_state=session, java_script_enabled=False, **DESK)
    expect(page.get_by_role("link", name="Templates")).to_be_visible()
    expect(page.locator("[data-commands]")).to_be_hidden()
