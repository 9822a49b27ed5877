"""Drawing on a phone for the page at a desk, with two real browsers at a real server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.document.handoff import LIVES, Handoff
from esign.store.document import phone_handoffs
from esign.system.entropy import make_token
from tests.browser.conftest import Visits
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_axe import assert_clean
from tests.browser.test_journey import action, expect_state, send_document
from tests.browser.test_signing import draw
from tests.every import choose

ADA = ("Ada Lovelace", "ada@example.test")
DESK: dict[str, Any] = {"width": 1280, "height": 800}
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    folder: Path = tmp_path_factory.mktemp("handoff")
    with a_stage(folder / "data", organisation={"name": "Northlight Joinery"}) as stage:
        yield stage


def a_contract(locale: str = "en") -> dict[str, Any]:
    from esign.demo import contract

    body = contract.build_create_body()
    place = {"page": 1, "x": 12, "y": 80, "width": 34, "height": 7}
    fields = [{"type": "signature", **place}, {"type": "initials", **place, "x": 60, "width": 20}]
    person = {"name": ADA[0], "email": ADA[1], "fields": fields, "locale": locale}
    return {**body, "title": "Joinery agreement", "recipients": [person]}


def at_the_desk(stage: BrowserStage, visit: Visits, *, locale: str = "en", **how: Any) -> tuple[str, Page]:
    """A document that was sent, and the page of its signer with the sheet open."""
    document = send_document(stage, a_contract(locale))
    page = visit.at(stage.link(ADA[1]), **{**DESK, **how})
    action(page, "sign").click()
    action(page, "sign").click()
    expect(page.locator("#pad")).to_be_visible()
    return document, page


def scan_code(desk: Page, visit: Visits, **how: Any) -> Page:
    """Whoever points a camera at the code."""
    code = desk.locator("#handoff-code")
    expect(code.locator("img")).to_be_visible()
    return visit.at(str(code.get_attribute("href")), **how)


def says(desk: Page, words: str) -> None:
    expect(desk.locator("#handoff-say")).to_have_text(words)


LOOKS = {
    "light": ({"dark": False}, "en", "Your phone is ready. Draw there."),
    "dark": ({"dark": True}, "en", "Your phone is ready. Draw there."),
    "right-to-left": ({"dark": False}, "ar", "هاتفكم جاهز. ارسموا عليه."),
}


@pytest.mark.parametrize("look", choose(["right-to-left"], ["light", "dark"]))
def test_a_signature_drawn_on_a_phone_is_proposed_at_the_desk_and_taken_there(
    stage: BrowserStage, visit: Visits, shots: Path, look: str
) -> None:
    how, locale, ready = LOOKS[look]

    def shot(page: Page, name: str) -> None:
        page.screenshot(path=shots / f"handoff-{name}-{look}.png", animations="disabled")

    document, desk = at_the_desk(stage, visit, locale=locale, excused="Failed to load resource", **how)
    shot(desk, "1-offer")
    desk.locator("#to-phone").click()
    phone = scan_code(desk, visit, **how)
    shot(desk, "2-code")
    expect_state(phone, "phone")
    expect(phone.locator("main")).to_contain_text(ADA[0])
    expect(phone.locator("main")).to_contain_text("Joinery agreement")
    says(desk, ready)
    shot(desk, "3-ready")
    draw(phone)
    shot(phone, "4-phone")
    if look == "light":
        assert_clean(phone, "the phone's page")
        assert_clean(desk, "the code at the desk")
    action(phone, "send").tap()
    expect_state(phone, "closed")
    expect(phone.get_by_role("heading", level=1)).to_be_visible()
    shot(phone, "5-sent")
    expect(desk.locator("#handoff")).to_have_attribute("data-handoff", "received")
    shot(desk, "6-received")
    assert stage.do(stage.site.api.status(document)) == "sent"
    expect(desk.locator(".field.ink img")).to_have_count(0)
    action(desk, "adopt").click()
    expect(desk.locator(".field.ink img")).to_have_count(1)
    desk.locator("#next").click()
    action(desk, "sign").click()
    desk.locator("#tab-type").click()
    action(desk, "adopt").click()
    desk.locator("#next").click()
    action(desk, "consent").check()
    action(desk, "finish").click()
    expect_state(desk, "sealing")
    [person] = stage.do(stage.site.api.get(document))["recipients"]
    assert [field["value"] for field in person["fields"]] == [{"kind": "drawn"}, {"kind": "typed"}]
    phone.reload()
    expect(phone.locator("main")).not_to_contain_text("Joinery")


def test_a_code_that_a_newer_one_replaced_has_expired_and_another_can_be_had(
    stage: BrowserStage, visit: Visits, shots: Path
) -> None:
    _, desk = at_the_desk(stage, visit)
    desk.locator("#to-phone").click()
    scan_code(desk, visit)
    other = visit.at(desk.url, **DESK)
    action(other, "sign").click()
    action(other, "sign").click()
    other.locator("#to-phone").click()
    expect(other.locator("#handoff-code img")).to_be_visible()
    says(desk, "This code has expired.")
    desk.screenshot(path=shots / "handoff-expired.png")
    action(desk, "adopt").click()
    expect(desk.locator("#adopt-error")).to_have_text("Draw on your phone first, or draw here.")
    desk.get_by_role("button", name="New code").click()
    phone = scan_code(desk, visit)
    draw(phone)
    action(phone, "send").tap()
    says(desk, "This came from your phone.")
    desk.get_by_role("button", name="Draw it again").click()
    says(desk, "Waiting for your phone…")
    expect(desk.locator("#handoff-code")).to_be_focused()
    desk.get_by_role("button", name="Draw here instead").click()
    expect(desk.locator("#pad")).to_be_visible()
    draw(desk)
    action(desk, "adopt").click()
    expect(desk.locator(".field.ink img")).to_have_count(1)


def test_a_phone_does_not_offer_to_draw_on_a_phone(stage: BrowserStage, visit: Visits) -> None:
    _, page = at_the_desk(stage, visit, width=360, height=740)
    expect(page.locator("#to-phone")).to_be_hidden()


def test_a_phone_that_has_drawn_nothing_is_told_so_and_sends_nothing(
    stage: BrowserStage, visit: Visits
) -> None:
    _, desk = at_the_desk(stage, visit)
    desk.locator("#to-phone").click()
    phone = scan_code(desk, visit)
    action(phone, "send").tap()
    expect(phone.locator("#phone-error")).to_have_text("Draw on the line first, with a finger, pen or mouse.")
    draw(phone)
    phone.locator("#clear").click()
    phone.locator("#undo").click()
    expect(phone.locator("#phone-error")).to_be_hidden()
    action(phone, "send").tap()
    says(desk, "This came from your phone.")


def test_a_lost_connection_loses_no_drawing(stage: BrowserStage, visit: Visits) -> None:
    _, desk = at_the_desk(stage, visit, excused="Failed to load resource")
    desk.locator("#to-phone").click()
    phone = scan_code(desk, visit, excused="Failed to load resource")
    says(desk, "Your phone is ready. Draw there.")
    phone.route("**/ink", lambda route: route.abort())
    desk.route("**/handoff/*", lambda route: route.abort())
    draw(phone)
    action(phone, "send").tap()
    expect(phone.locator("#phone-error")).to_contain_text("Nothing is lost")
    expect(action(phone, "send")).to_be_enabled()
    phone.unroute("**/ink")
    action(phone, "send").tap()
    expect_state(phone, "closed")
    desk.unroute("**/handoff/*")
    desk.route("**/handoff/*", lambda route: route.fulfill(body='{"state": '), times=1)  # broken off
    says(desk, "This came from your phone.")
    expect(desk.locator(".broken")).to_be_hidden()


def test_a_document_that_was_withdrawn_takes_no_drawing(
    stage: BrowserStage, visit: Visits, shots: Path
) -> None:
    document, desk = at_the_desk(stage, visit, excused="Failed to load resource")
    desk.locator("#to-phone").click()
    phone = scan_code(desk, visit, excused="Failed to load resource")
    draw(phone)
    stage.do(stage.site.api.ok("POST", f"/documents/{document}/cancel"))
    action(phone, "send").tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("We don’t recognise this code")
    phone.screenshot(path=shots / "handoff-unknown.png")
    expect_state(desk, "cancelled")


def test_a_code_that_is_too_old_says_what_to_do(stage: BrowserStage, visit: Visits, shots: Path) -> None:
    document = send_document(stage, a_contract())
    [person] = stage.do(stage.site.api.get(document))["recipients"]
    token, runtime = make_token(), stage.site.runtime
    past = Handoff(person["id"], document, "hnd_1", "signature", runtime.clock.now() - LIVES)
    stage.do(runtime.db.write(lambda tx: phone_handoffs.begin(tx, token, past)))
    phone = visit.at(f"{stage.site.base}/h/{token}")
    expect(phone.get_by_role("heading", level=1)).to_have_text("This code has expired")
    expect(phone.locator("body")).not_to_contain_text("Joinery")
    assert_clean(phone, "the page of an old code")
    phone.screenshot(path=shots / "handoff-phone-expired.png")


def test_without_scripts_the_phone_says_what_it_needs(stage: BrowserStage, visit: Visits) -> None:
    _, desk = at_the_desk(stage, visit)
    desk.locator("#to-phone").click()
    phone = scan_code(desk, visit, java_script_enabled=False, excused=": csp")
    expect(phone.locator("noscript")).to_be_visible()
    expect(phone.locator("#draw-pad")).to_be_hidden()
    says(desk, "Waiting for your phone…")


def test_a_phone_on_its_side_has_room_to_draw_and_keeps_what_is_drawn(
    stage: BrowserStage, visit: Visits, shots: Path
) -> None:
    _, desk = at_the_desk(stage, visit)
    desk.locator("#to-phone").click()
    phone = scan_code(desk, visit, width=360, height=740)
    draw(phone)
    dots = phone.locator("#pad").evaluate("pad => pad.width")
    phone.set_viewport_size({"width": 740, "height": 360})
    expect(phone.locator("#pad")).not_to_have_js_property("width", dots)
    expect(action(phone, "send")).to_be_in_viewport(ratio=1)
    phone.screenshot(path=shots / "handoff-phone-lying.png")
    action(phone, "send").click()
    says(desk, "This came from your phone.")
