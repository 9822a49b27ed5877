"""What is entered is kept: after a reload, elsewhere, without a connection, in two tabs, when a session ends."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Visits, alive
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.journeys.api import a_request

ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}
BO = {"name": "Bo Weber", "email": "bo@example.test"}
CODE = "Blue-4711-heron"
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx
UNSAVED = "Not saved yet – no connection"
KINDS: dict[str, dict[str, Any]] = {
    "town": {"type": "text", "label": "Town"},
    "street": {"type": "text", "label": "Street"},
    "wishes": {"type": "text", "label": "Wishes", "multiline": True, "required": False},
    "hours": {"type": "number", "label": "Hours"},
    "payment": {"type": "radio", "label": "Payment", "options": ["Now", "Later"]},
    "wood": {"type": "dropdown", "label": "Wood", "options": ["Ash", "Oak"]},
    "start": {"type": "date", "label": "Start", "autofill": False},
    "early": {"type": "checkbox", "label": "Early"},
    "lights": {"type": "checkbox", "label": "Lights", "group": "extras"},
    "mirror": {"type": "checkbox", "label": "Mirror", "group": "extras"},
    "initials": {"type": "initials", "label": "Initials"},
    "signature": {"type": "signature", "label": "Signature"},
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    folder: Path = tmp_path_factory.mktemp("drafts") / "data"
    with a_stage(folder, organisation={"name": "Fernhill Gardens"}) as stage:
        yield stage


class Asked:
    """A document sent to Ada, who has these fields, and to Bo."""

    def __init__(self, stage: BrowserStage, *names: str, **more: Any) -> None:
        fields = [
            {"key": name, "page": 1, "x": 10, "y": 5 + 7 * n, **KINDS[name]} for n, name in enumerate(names)
        ]
        body = a_request(recipients=[{**ADA, "fields": fields, **more}, BO], send=True)
        self.stage = stage
        self.id = str(stage.do(stage.site.api.ok("POST", "/documents", body))["id"])
        stage.work("mail")
        self.form = f"{stage.link(ADA['email'])}#form"
        self.ids = {field["key"]: field["id"] for field in self.recipient["fields"]}

    @property
    def recipient(self) -> dict[str, Any]:
        """As the API tells it now."""
        found: dict[str, Any] = self.stage.do(self.stage.site.api.get(self.id))["recipients"][0]
        return found

    @property
    def trail(self) -> list[Any]:
        return self.stage.do(self.stage.site.api.trail(self.id))

    def control(self, page: Page, name: str) -> Locator:
        return page.locator(f"[data-field={self.ids[name]}]")

    def ink(self, page: Page, name: str) -> Locator:
        return page.locator(f"#v-{self.ids[name]} img")


def wait_until_saved(page: Page) -> None:
    expect(page.locator("#kept")).to_have_text("Saved")


def looked_at_again(page: Page) -> None:
    """As a browser tells it when somebody comes back to the tab."""
    page.evaluate("dispatchEvent(new Event('focus'))")


def learn_the_time(page: Page) -> None:
    """A page takes the time of the server from its answers; that of the page itself came late on a busy machine."""
    with page.expect_response("**/draft"):
        looked_at_again(page)


def sign(page: Page, asked: Asked, name: str, *, typed: bool) -> None:
    asked.control(page, name).click()
    if typed:
        page.locator("#tab-type").click()
    else:
        page.locator("#tab-draw").click()
        draw(page)
    page.locator("[data-action=adopt]").click()
    expect(asked.ink(page, name)).to_be_visible()
    if page.get_by_role("button", name="Form", exact=True).get_attribute("aria-pressed") == "false":
        page.get_by_role("button", name="Form", exact=True).click()


def draw(page: Page) -> None:
    box = page.locator("#pad").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    for n in range(20):
        page.mouse.move(box["x"] + 60 + 6 * n, box["y"] + 60 + (n % 5) * 9)
    page.mouse.up()


def fill_everything(page: Page, asked: Asked) -> None:
    for name, text in (
        ("town", "Harrowgate"),
        ("wishes", "Ring twice.\nThe dog is friendly."),
        ("hours", "7,5"),
    ):
        asked.control(page, name).fill(text)
    page.get_by_role("radio", name="Later").check()
    asked.control(page, "wood").select_option("Oak")
    asked.control(page, "start").fill("2027-03-01")
    for name in ("early", "mirror"):
        asked.control(page, name).check()
    sign(page, asked, "initials", typed=True)
    sign(page, asked, "signature", typed=False)
    wait_until_saved(page)


def everything_is_there(page: Page, asked: Asked) -> None:
    for name, text in (
        ("town", "Harrowgate"),
        ("wishes", "Ring twice.\nThe dog is friendly."),
        ("hours", "7,5"),
        ("wood", "Oak"),
        ("start", "2027-03-01"),
    ):
        expect(asked.control(page, name)).to_have_value(text)
    expect(page.get_by_role("radio", name="Later")).to_be_checked()
    for name, ticked in (("early", True), ("lights", False), ("mirror", True)):
        expect(asked.control(page, name)).to_be_checked(checked=ticked)
    for name in ("initials", "signature"):
        expect(asked.ink(page, name)).to_be_visible()


def finish(page: Page) -> None:
    if page.get_by_role("button", name="Review and finish").count() == 0:
        page.get_by_role("button", name="Document", exact=True).click()
    page.get_by_role("button", name="Review and finish").click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()


def ready_to_finish(page: Page, asked: Asked) -> None:
    """With a typed signature and a town, at the open sheet with its tick."""
    asked.control(page, "town").fill("Harrowgate")
    sign(page, asked, "signature", typed=True)
    wait_until_saved(page)
    page.get_by_role("button", name="Review and finish").click()
    page.locator("[data-action=consent]").check()


# ---------- reload, another device, another language, back ----------


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_everything_entered_is_there_after_a_reload_and_on_another_device_and_is_sealed_from_there(
    visit: Visits, stage: BrowserStage, shot: Callable[[Page, str], None], screen: dict[str, Any]
) -> None:
    asked = Asked(stage, *KINDS)
    page = visit.at(asked.form, **screen)
    fill_everything(page, asked)
    shot(page, "draft-1-saved")
    pictures = [asked.ink(page, name).get_attribute("src") for name in ("initials", "signature")]
    page.reload()
    everything_is_there(page, asked)
    other = visit.at(asked.form, **screen)
    everything_is_there(other, asked)
    assert [asked.ink(other, name).get_attribute("src") for name in ("initials", "signature")] == pictures
    expect(asked.control(other, "street")).to_have_value("")
    other.get_by_role("button", name="Document", exact=True).click()
    expect(other.locator("#next")).to_contain_text("Continue")
    shot(other, "draft-2-other-device")
    other.locator("#next").click()
    asked.control(other, "street").fill("14 Linden Row")
    wait_until_saved(other)
    shot(other, "draft-3-active")
    other.keyboard.press("Escape")
    finish(other)
    expect(other.locator("body")).to_have_attribute("data-state", "waiting")
    given = {field["key"]: field["value"] for field in asked.recipient["fields"]}
    assert (given["town"], given["street"], given["hours"]) == ("Harrowgate", "14 Linden Row", "7.5")
    assert (given["payment"], given["wood"], given["start"]) == ("Later", "Oak", "2027-03-01")
    assert (given["early"], given["lights"], given["mirror"]) == (True, False, True)


def test_a_signature_given_on_one_device_is_put_in_place_by_one_press_on_another(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "initials", "signature", "town")
    page = visit.at(asked.form)
    sign(page, asked, "signature", typed=True)
    wait_until_saved(page)
    other = visit.at(asked.form)
    expect(asked.ink(other, "signature")).to_be_visible()
    expect(asked.ink(other, "initials")).to_have_count(0)


def test_the_language_can_be_changed_in_the_middle_of_a_word(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form)
    asked.control(page, "town").fill("Harrow")
    page.locator("[popovertarget=menu]").click()
    page.locator("#menu [lang=de]").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(asked.control(page, "town")).to_have_value("Harrow")
    expect(page.locator("#kept")).to_have_text("Gespeichert")
    expect(asked.control(visit.at(asked.form), "town")).to_have_value("Harrow")


def test_the_back_button_leads_back_to_what_was_entered(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form)
    asked.control(page, "town").fill("Harrowgate")
    page.goto("about:blank")
    other = visit.at(asked.form)
    expect(asked.control(other, "town")).to_have_value("Harrowgate")
    asked.control(other, "town").fill("Leeds")
    wait_until_saved(other)
    page.go_back()
    expect(asked.control(page, "town")).to_have_value("Leeds")


def test_a_page_that_the_browser_kept_whole_catches_up(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town")
    page, other = visit.at(asked.form), visit.at(asked.form)
    asked.control(other, "town").fill("Leeds")
    wait_until_saved(other)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(asked.control(page, "town")).to_have_value("Leeds")
    expect(page.locator("#kept-say")).to_have_text("Updated with what you entered elsewhere")


def test_a_tab_that_is_left_sends_at_once_what_was_just_entered(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form, clock=True)  # which stands still, so that nothing is sent for its own sake
    expect(page.locator("#dock-text")).not_to_be_empty()
    asked.control(page, "town").fill("Harrowgate")
    with page.expect_response("**/draft"):
        page.evaluate(
            "Object.defineProperty(document, 'visibilityState', { value: 'hidden' });"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
    expect(asked.control(visit.at(asked.form), "town")).to_have_value("Harrowgate")


# ---------- the connection ----------


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_without_a_connection_a_line_says_what_is_not_saved_and_it_is_sent_when_it_is_back(
    visit: Visits, stage: BrowserStage, shot: Callable[[Page, str], None], screen: dict[str, Any]
) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form, excused=REFUSED, **screen)
    page.context.set_offline(True)
    asked.control(page, "town").fill("Harrowgate")
    expect(page.locator("#kept")).to_have_text(UNSAVED)
    expect(page.locator("#kept-say")).to_have_text(UNSAVED)
    shot(page, "draft-4-offline")
    page.context.set_offline(False)
    wait_until_saved(page)
    expect(page.locator("#kept-say")).to_have_text("Saved")
    expect(asked.control(visit.at(asked.form), "town")).to_have_value("Harrowgate")


def test_what_could_not_be_saved_outlives_a_reload_and_is_saved_after_it(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "signature")
    page = visit.at(asked.form, excused=REFUSED)
    page.route("**/draft", lambda route: route.abort())
    asked.control(page, "town").fill("Harrowgate")
    sign(page, asked, "signature", typed=False)
    expect(page.locator("#kept")).to_have_text(UNSAVED)
    picture = asked.ink(page, "signature").get_attribute("src")
    page.reload()
    expect(asked.control(page, "town")).to_have_value("Harrowgate")
    expect(asked.ink(page, "signature")).to_have_attribute("src", str(picture))
    expect(page.locator("#kept")).to_have_text(UNSAVED)
    page.unroute("**/draft")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until_saved(page)
    other = visit.at(asked.form)
    expect(asked.control(other, "town")).to_have_value("Harrowgate")
    expect(asked.ink(other, "signature")).to_be_visible()


def test_a_server_that_fails_is_asked_again_and_the_line_says_so(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form, excused=REFUSED, clock=True)
    page.route("**/draft", lambda route: route.fulfill(status=500, body="{}"))
    asked.control(page, "town").fill("Harrowgate")
    page.clock.run_for(2_000)
    expect(page.locator("#kept")).to_have_text("Not saved yet – we keep trying")
    page.unroute("**/draft")
    page.clock.run_for(5_000)
    wait_until_saved(page)


# ---------- two tabs, two devices ----------


def test_an_older_value_that_comes_late_gives_way_to_the_newer_one_of_another_device(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "street")
    phone, desk = visit.at(asked.form, excused=REFUSED), visit.at(asked.form, width=1280, height=800)
    for page in (phone, desk):
        learn_the_time(page)
    phone.context.set_offline(True)
    asked.control(phone, "town").fill("Leeds")
    asked.control(phone, "street").fill("14 Linden Row")
    expect(phone.locator("#kept")).to_have_text(UNSAVED)
    asked.control(desk, "town").fill("Harrowgate")
    wait_until_saved(desk)
    phone.context.set_offline(False)
    wait_until_saved(phone)
    expect(asked.control(phone, "town")).to_have_value("Harrowgate")
    looked_at_again(desk)
    expect(asked.control(desk, "street")).to_have_value("14 Linden Row")
    expect(asked.control(desk, "town")).to_have_value("Harrowgate")


def test_what_is_entered_last_wins_wherever_it_is_entered(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town", "early", "payment")
    one, two = visit.at(asked.form), visit.at(asked.form)
    for page in (one, two):
        learn_the_time(page)
    for page, town in ((one, "Leeds"), (two, "York"), (one, "Harrowgate")):
        asked.control(page, "town").fill(town)  # nobody has looked at the other tab in between
        wait_until_saved(page)
    for page, ticked, when in ((one, True, "Now"), (two, False, "Later")):
        looked_at_again(page)
        expect(asked.control(page, "town")).to_have_value("Harrowgate")
        expect(asked.control(page, "early")).to_be_checked(checked=not ticked)
        asked.control(page, "early").set_checked(ticked)
        page.get_by_role("radio", name=when).check()
        wait_until_saved(page)
    looked_at_again(one)
    expect(asked.control(one, "early")).not_to_be_checked()
    expect(one.get_by_role("radio", name="Later")).to_be_checked()


def test_what_comes_from_another_device_stands_in_the_open_review_and_is_agreed_to_anew(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "signature")
    page, other = visit.at(asked.form), visit.at(asked.form)
    ready_to_finish(page, asked)
    expect(page.locator("#review")).to_contain_text("Harrowgate")
    asked.control(other, "town").fill("York")
    wait_until_saved(other)
    looked_at_again(page)
    expect(page.locator("#review")).to_contain_text("York")
    expect(page.locator("[data-action=consent]")).not_to_be_checked()


def test_finishing_in_one_tab_turns_the_other_into_the_page_that_says_so(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "signature")
    page, watching, writing = visit.at(asked.form), visit.at(asked.form), visit.at(asked.form)
    ready_to_finish(page, asked)
    page.locator("[data-action=finish]").click()
    expect(page.locator("h1")).to_have_text("Thank you, you’ve signed")
    looked_at_again(watching)
    expect(watching.locator("h1")).to_have_text("Thank you, you’ve signed")
    asked.control(writing, "town").fill("too late")
    expect(writing.locator("h1")).to_have_text("Thank you, you’ve signed")
    assert asked.recipient["fields"][0]["value"] == "Harrowgate"


def test_a_corrected_link_turns_an_open_page_into_one_that_says_so(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form, excused=REFUSED)
    path = f"/documents/{asked.id}/recipients/{asked.recipient['id']}"
    stage.do(stage.site.api.ok("PATCH", path, {"email": "ada@example.org"}))
    asked.control(page, "town").fill("Harrowgate")
    expect(page.locator("h1")).to_have_text("We can’t find this document")


# ---------- finishing ----------


def test_a_save_under_way_ends_before_the_signature_is_sent_and_none_follows(
    visit: Visits, stage: BrowserStage
) -> None:
    """A save that arrived after the signature would be refused (409): the recipient has finished."""
    asked = Asked(stage, "town", "signature")
    page = visit.at(asked.form)
    ready_to_finish(page, asked)
    page.keyboard.press("Escape")
    held: list[Route] = []
    posts: list[str] = []
    page.route("**/draft", lambda route: held.append(route))
    page.on(
        "request",
        lambda request: posts.append(request.url.rsplit("/", 1)[-1]) if request.method == "POST" else None,
    )
    with page.expect_request("**/draft"):
        page.evaluate(
            "id => { const town = document.querySelector(`[data-field=${id}]`); town.value = 'Leeds';"
            " for (const type of ['input', 'change']) town.dispatchEvent(new Event(type, { bubbles: true })); }",
            asked.ids["town"],
        )
    page.clock.install(time=0)
    page.clock.pause_at(1_000)  # the page waits for the save, and not only for two seconds
    page.get_by_role("button", name="Review and finish").click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("[data-action=finish]")).to_have_attribute("aria-busy", "true")
    assert posts == ["draft"]
    with page.expect_request("**/complete"):
        held[0].continue_()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert posts == ["draft", "complete"]
    assert asked.recipient["fields"][0]["value"] == "Leeds"


def test_pressing_finish_twice_and_in_two_tabs_completes_once(visit: Visits, stage: BrowserStage) -> None:
    asked = Asked(stage, "town", "signature")
    page = visit.at(asked.form, excused=REFUSED)
    ready_to_finish(page, asked)
    other = visit.at(asked.form, excused=REFUSED)
    finish_in = "const b = document.querySelector('[data-action=finish]'); b.click(); b.click()"
    other.get_by_role("button", name="Review and finish").click()
    other.locator("[data-action=consent]").check()
    for each in (page, other):
        each.evaluate(finish_in)
    for each in (page, other):
        expect(each.locator("h1")).to_have_text("Thank you, you’ve signed")
    assert asked.trail.count("recipient.completed") == 1


def test_when_the_answer_to_finishing_is_lost_the_page_finds_out_that_it_is_done(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "signature")
    page = visit.at(asked.form, excused=REFUSED)
    ready_to_finish(page, asked)

    def lose(route: Route) -> None:
        assert route.fetch().ok
        route.abort()

    page.route("**/complete", lose)
    page.locator("[data-action=finish]").click()
    expect(page.locator("h1")).to_have_text("Thank you, you’ve signed")
    assert asked.trail.count("recipient.completed") == 1


def test_when_the_connection_goes_in_the_middle_of_finishing_it_is_told_and_can_be_tried_again(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "signature")
    page = visit.at(asked.form, excused=REFUSED)
    ready_to_finish(page, asked)

    def lose(route: Route) -> None:
        route.fetch()
        page.context.set_offline(True)
        route.abort()

    page.route("**/complete", lose)
    page.locator("[data-action=finish]").click()
    expect(page.locator("#finish-error")).to_contain_text("No connection")
    page.unroute("**/complete")
    page.context.set_offline(False)
    expect(page.locator("h1")).to_have_text("Thank you, you’ve signed")
    assert asked.trail.count("recipient.completed") == 1


# ---------- a session that ends ----------


def enter_code(page: Page) -> None:
    expect(page.locator("body")).to_have_attribute("data-state", "code")
    alive(page)
    page.locator("[data-field=code]").fill(CODE)
    page.locator("[data-action=enter-code]").click()


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_a_session_that_ends_is_told_and_after_the_code_everything_entered_is_there(
    visit: Visits, stage: BrowserStage, shot: Callable[[Page, str], None], screen: dict[str, Any]
) -> None:
    asked = Asked(stage, "town", "street", "signature", authentication="access_code", accessCode=CODE)
    page = visit.at(asked.form, **screen)
    enter_code(page)
    asked.control(page, "town").fill("Harrowgate")
    wait_until_saved(page)
    page.context.clear_cookies()
    asked.control(page, "street").fill("14 Linden Row")
    expect(page.locator("#again-title")).to_be_focused()
    expect(page.locator("#again")).to_contain_text("Everything you entered is saved")
    shot(page, "draft-5-again")
    page.locator("[data-action=again]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "code")
    assert "Harrowgate" not in page.content()
    enter_code(page)
    expect(asked.control(page, "town")).to_have_value("Harrowgate")
    expect(asked.control(page, "street")).to_have_value("14 Linden Row")
    wait_until_saved(page)
    expect(asked.control(page, "street")).to_have_value("14 Linden Row")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_session_that_ends_before_finishing_leads_to_the_code_and_back(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town", "signature", authentication="access_code", accessCode=CODE)
    page = visit.at(asked.form, excused=REFUSED)
    enter_code(page)
    ready_to_finish(page, asked)
    page.context.clear_cookies()
    page.locator("[data-action=finish]").click()
    expect(page.locator("#again-title")).to_be_focused()
    page.locator("[data-action=again]").click()
    enter_code(page)
    expect(asked.control(page, "town")).to_have_value("Harrowgate")
    expect(page.locator("#consent")).not_to_be_checked()
    finish(page)
    expect(page.locator("h1")).to_have_text("Thank you, you’ve signed")


# ---------- what a draft is not ----------


def test_a_page_that_is_only_looked_at_keeps_nothing_and_a_draft_leaves_no_trace(
    visit: Visits, stage: BrowserStage
) -> None:
    asked = Asked(stage, "town")
    page = visit.at(asked.form)
    with page.expect_response("**/draft"):
        looked_at_again(page)
    drafts = "SELECT 1 FROM draft WHERE recipient_id = :id"
    assert stage.do(stage.site.runtime.db.all(drafts, id=asked.recipient["id"])) == []
    asked.control(page, "town").fill("Harrowgate")
    wait_until_saved(page)
    looked = {"recipient.authenticated", "recipient.viewed"}
    assert set(asked.trail) - looked == {"document.created", "document.sent", "recipient.sent"}
    assert asked.recipient["fields"][0]["value"] is None
