"""What a link shows when there is nothing to fill in: each state, what may be done there, and how it goes on."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.document.document import MailDelivery, Role
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR
from esign.core.language import LANGUAGES
from tests.browser.conftest import alive
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.web.signing.site import NOW, STATES, SigningSite

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx


def at(name: str) -> SigningSite:
    state, document = STATES[name]
    return SigningSite(document, state)


# ---------- a new link for an expired document ----------


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_a_new_link_is_asked_for_in_two_steps(visit: Visit, shot: Shot, screen: dict[str, Any]) -> None:
    site = at("expired")
    page = visit(site, **screen)
    page.locator("[data-action=renew]").click()
    expect(page.locator("#renew-title")).to_be_focused()
    expect(page.locator("#renew-title")).to_have_text("Ask Mira Okafor for a new link?")
    shot(page, "renew-1-question")
    assert site.calls == []
    page.locator("[data-action=renew-confirm]").click()
    expect(page.locator("h1")).to_have_text("We’ve asked for a new link")
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator("body")).to_have_attribute("data-state", "expired-asked")
    expect(page.locator("[data-action]")).to_have_count(0)
    shot(page, "renew-2-asked")
    assert [call[0] for call in site.calls] == ["ask"]


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_question_fits_a_small_phone_in_every_language(visit: Visit, shot: Shot, tag: str) -> None:
    page = visit(at("expired"), width=320)
    page.goto(f"{page.url}?lang={tag}")
    alive(page)
    page.locator("[data-action=renew]").click()
    box = page.locator("#renew-done").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 320
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    shot(page, "renew-question")


def test_who_presses_the_only_button_and_leaves_has_asked_for_nothing(visit: Visit) -> None:
    site = at("expired")
    page = visit(site)
    buttons = page.locator("main button:visible")
    expect(buttons).to_have_count(1)
    buttons.click()
    page.locator("#renew").get_by_role("button", name="Cancel").click()
    expect(page.locator("#renew")).to_be_hidden()
    expect(buttons).to_be_focused()
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-state", "expired")
    assert site.calls == []


def test_asking_needs_no_mouse_and_a_lost_connection_costs_nothing(visit: Visit) -> None:
    site = at("expired")
    page = visit(site, excused=REFUSED, width=1280, height=800)
    page.locator("[data-action=renew]").focus()
    page.keyboard.press("Enter")
    page.context.set_offline(True)
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(page.locator("#renew-done")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#renew-error")).to_contain_text("No connection")
    expect(page.locator("#renew-done")).to_be_focused()
    page.context.set_offline(False)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("We’ve asked for a new link")
    assert [call[0] for call in site.calls] == ["ask"]


def test_who_asked_long_ago_sees_when_and_may_ask_again(visit: Visit, shot: Shot) -> None:
    site = at("expired")
    site.asked_at = NOW - DAY
    page = visit(site)
    expect(page.locator("main")).to_contain_text("You asked for a new link on 20 November 2026, 14:05.")
    expect(page.locator("[data-action=renew]")).to_be_visible()
    shot(page, "renew-3-again")


def test_who_has_signed_what_expired_is_not_told_to_sign(visit: Visit) -> None:
    page = visit(at("expired_done"))
    expect(page.locator(".lead")).to_contain_text("There’s nothing you need to do")
    expect(page.locator("[data-action]")).to_have_count(0)


def test_without_a_script_there_is_an_address_to_write_to_and_no_dead_button(visit: Visit) -> None:
    page = visit(at("expired"), java_script_enabled=False, excused=": csp")
    expect(page.locator("main button")).to_be_hidden()
    expect(page.locator("main a[href^=mailto]")).to_be_visible()


# ---------- machines ----------


@pytest.mark.parametrize("name", STATES)
def test_a_machine_that_presses_one_button_of_a_page_does_nothing_by_it(visit: Visit, name: str) -> None:
    site = at(name)
    page = visit(site)
    address = page.url
    buttons = page.locator("button:visible")
    for n in range(buttons.count()):
        page.goto(address)
        alive(page)
        buttons.nth(n).click()
    assert site.calls == []


# ---------- going on afterwards ----------

ELSEWHERE = "https://a-customer-portal.with-a-long-name.departments.northlight.example/thanks?for=signing"


@pytest.mark.parametrize("screen", ON_A_DESK)
@pytest.mark.parametrize("name", ["done_waiting", "sealing", "completed"])
def test_who_has_finished_may_go_on_and_sees_where_it_leads(
    visit: Visit, shot: Shot, name: str, screen: dict[str, Any]
) -> None:
    state, document = STATES[name]
    page = visit(SigningSite(replace(document, redirect_url=ELSEWHERE), state), **screen)
    onward = page.locator("[data-action=continue]")
    expect(onward).to_have_text(re.compile("^Continue to .*a-customer-portal.with-a-long-name"))
    expect(onward).to_have_attribute("href", ELSEWHERE)
    expect(page.locator(".btn.primary")).to_have_count(1)
    onward.scroll_into_view_if_needed()
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    shot(page, f"onward-{name}")


def test_nobody_is_led_away_by_itself_and_who_only_reads_is_not_asked_to_go(visit: Visit) -> None:
    state, document = STATES["completed"]
    page = visit(SigningSite(document, state), clock=True)
    address = page.url
    page.clock.run_for(120_000)
    assert page.url == address
    reader = replace(document.recipients[0], role=Role.VIEWER, completed_at=None)
    page = visit(SigningSite(document.with_recipient(reader), state))
    expect(page.locator("[data-action=download]")).to_be_visible()
    expect(page.locator("[data-action=continue]")).to_have_count(0)


# ---------- while it is sealed ----------


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_a_seal_that_was_tried_in_vain_is_told_as_it_is(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    page = visit(at("sealing_late"), **screen)
    expect(page.locator("h1")).to_have_text("Your signature is safe")
    expect(page.locator(".steps")).to_contain_text("Tried 2 times so far")
    shot(page, "sealing-tried")


def test_a_service_that_is_away_is_said_to_be_and_is_asked_again_until_it_is_done(
    visit: Visit, shot: Shot
) -> None:
    site = at("sealing")
    page = visit(site, excused=REFUSED, clock=True)
    expect(page.locator("#away")).to_be_hidden()
    page.context.set_offline(True)
    for _ in range(2):
        with page.expect_event("requestfailed"):
            page.clock.run_for(2_000)
    expect(page.locator("#away")).to_contain_text("this page keeps trying")
    shot(page, "sealing-away")
    page.context.set_offline(False)
    site.state, site.document = STATES["completed"]
    page.clock.run_for(10_000)
    expect(page.locator("h1")).to_have_text("Everyone has signed")


@pytest.mark.parametrize(
    ("delivery", "words"),
    [
        (MailDelivery.QUEUED, "A copy is on its way to"),
        (MailDelivery.ACCEPTED, "We emailed a copy to"),
        (MailDelivery.FAILED, "We couldn’t deliver your copy to"),
        (MailDelivery.KEPT, "We couldn’t deliver your copy to"),
    ],
)
def test_what_became_of_the_copy_is_told_as_it_is(visit: Visit, delivery: MailDelivery, words: str) -> None:
    state, document = STATES["completed"]
    me = replace(document.recipients[0], delivery=delivery, delivery_at=NOW + HOUR)
    page = visit(SigningSite(document.with_recipient(me), state))
    expect(page.locator(".lead")).to_contain_text(words)


@pytest.mark.parametrize("screen", ON_A_DESK)
@pytest.mark.parametrize("name", STATES)
def test_every_state_reads_from_right_to_left(
    visit: Visit, shot: Shot, name: str, screen: dict[str, Any]
) -> None:
    site = at(name)
    page = visit(site, **screen)
    page.goto(f"{page.url}?lang=ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    shot(page, f"ar-{name}")


# ---------- when something is wrong ----------


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_an_address_with_nothing_behind_it_has_a_page(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    page = visit(at("expired"), excused=REFUSED, **screen)
    page.goto(page.url + "/nothing/here")
    expect(page.locator("h1")).to_have_text("Page not found")
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    shot(page, "fault-missing")


@pytest.mark.parametrize("tag", LANGUAGES)
def test_who_asks_too_often_reads_how_long_to_wait(visit: Visit, shot: Shot, tag: str) -> None:
    site = at("expired")
    page = visit(site, excused=REFUSED)
    site.broken = Problem("rate_limited", retry_after=540)
    page.goto(f"{page.url}?lang={tag}")
    expect(page.locator("body")).to_have_attribute("data-state", "error")
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    shot(page, f"fault-busy-{tag}")
    site.broken = None
    page.locator("[data-action=try-again]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "expired")
    assert page.evaluate("document.documentElement.lang") == tag


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_a_failure_of_ours_is_called_one_and_has_a_number(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    site = at("completed")
    page = visit(site, excused=REFUSED, **screen)
    site.broken = Problem("internal_error")
    page.reload()
    expect(page.locator("h1")).to_have_text("Something went wrong on our side")
    expect(page.locator("code")).to_have_text("req_1")
    shot(page, "fault-broken")


def test_who_presses_too_often_is_asked_to_wait_where_they_are(visit: Visit, shot: Shot) -> None:
    site = at("expired")
    page = visit(site, excused=REFUSED)
    site.refuse = Problem("rate_limited", retry_after=20)
    page.locator("[data-action=renew]").click()
    page.locator("[data-action=renew-confirm]").click()
    expect(page.locator("#renew-error")).to_contain_text("Please wait a minute")
    shot(page, "renew-4-busy")
    site.refuse = None
    page.locator("[data-action=renew-confirm]").click()
    expect(page.locator("h1")).to_have_text("We’ve asked for a new link")
