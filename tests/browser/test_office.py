"""How people come to work here, in a real browser: set-up, invitations, second factor, forgotten passwords."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyotp
import pytest
from playwright.sync_api import Page, expect

from esign.actions.people import one_time_links
from esign.core.people.member import MemberRole
from tests.browser.conftest import Visits
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_axe import ALL, COLOURS, complaints
from tests.every import EVERY

PASSWORD = "copper kettle under nine maples"
NEW = "seven violet tractors hum"
REFUSED = "responded with a status of 4"  # what the browser's console says about a form that is shown again
Shot = Callable[[Page, str], None]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path, {"name": "esign"}) as stage:
        yield stage


def setup_link(stage: BrowserStage) -> str:
    runtime = stage.site.runtime
    token = stage.do(one_time_links.issue_setup_token(runtime.db, runtime.clock.now()))
    assert token
    return f"{stage.site.base}/set-up/{token}"


def find_mailed_link(stage: BrowserStage, email: str) -> str:
    """The newest link there."""
    stage.work("mail")
    found = re.search(rf"{re.escape(stage.site.base)}/(invitation|password)/\S+", stage.letter(email))
    assert found
    return found[0]


def set_up(page: Page) -> None:
    page.get_by_label("Organisation name").fill("Alder & Finch")
    page.get_by_label("Your name").fill("Maren Holt")
    page.get_by_label("Your email").fill("maren@example.test")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/server/address")


def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


def clean(page: Page) -> None:
    """axe-core finds nothing, in light and in dark; afterwards the page looks as before."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert complaints(page, ALL) == []
    if EVERY:  # walks of test_office_axe look at the dark in each run
        assert complaints(page, COLOURS, "dark") == []
    page.emulate_media(color_scheme="dark" if dark else "light")


@pytest.mark.parametrize("how", ON_A_DESK)
def test_from_the_printed_link_to_a_member_who_has_joined(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    page = visit.at(setup_link(stage), excused=REFUSED, **how)
    shot(page, "office-set-up")
    clean(page)
    page.get_by_label("Your email").fill("maren@")
    page.evaluate("document.forms[0].noValidate = true")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Organisation name")).to_be_focused()
    shot(page, "office-set-up-wrong")
    clean(page)
    set_up(page)
    shot(page, "office-server-address")
    clean(page)
    expect(page.get_by_text("Only this machine can open")).to_be_visible()
    page.get_by_role("link", name="Continue").click()
    page.get_by_label("Mail server", exact=True).fill("no.such.invalid")
    page.get_by_label("Sender").fill("sign@example.com")
    page.get_by_role("button", name="Send me a test email").click()
    expect(page.get_by_text("There is no server named no.such.invalid.")).to_be_visible()
    shot(page, "office-server-mail")
    clean(page)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Seal a test page").click()
    expect(page.get_by_text("The test page was sealed and verified.")).to_be_visible(timeout=30_000)
    shot(page, "office-server-seal")
    clean(page)
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("heading", name="Send your first document")).to_be_visible()
    page.get_by_role("link", name="Invite your colleagues").click()
    page.get_by_label("Invite by email").fill("bo@example.test")
    page.get_by_label("Name", exact=True).fill("Bo Berg")
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Member invited, but not emailed.")
    shot(page, "office-members")
    clean(page)
    page.get_by_label("Actions for Bo Berg").click()
    shot(page, "office-members-menu")
    clean(page)
    page.keyboard.press("Escape")
    link = find_mailed_link(stage, "bo@example.test")
    joined = visit.at(link, excused=REFUSED, **how)
    shot(joined, "office-invitation")
    clean(joined)
    joined.get_by_label("New password").fill(PASSWORD)
    joined.get_by_role("button", name="Join").click()
    joined.wait_for_url("**/documents")
    expect(joined.get_by_role("status")).to_have_text("Welcome! You joined the organisation.")
    joined.goto(f"{stage.site.base}/account")
    shot(joined, "office-account")
    clean(joined)
    page.reload()
    page.get_by_label("Actions for Bo Berg").click()
    page.get_by_role("link", name="Remove").click()
    shot(page, "office-remove")
    clean(page)
    page.get_by_role("button", name="Remove member").click()
    expect(page.get_by_role("status")).to_have_text("Member removed and signed out.")
    joined.reload()
    expect(joined.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_an_authenticator_is_set_up_and_asked_for(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    page = visit.at(setup_link(stage), excused=REFUSED, **how)
    set_up(page)
    page.goto(f"{stage.site.base}/account/second-factor")
    shot(page, "office-factor")
    clean(page)
    totp = pyotp.TOTP((page.locator("#key").text_content() or "").replace(" ", ""))
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_label("Code")).to_be_focused()
    clean(page)
    now = stage.site.runtime.clock.now
    page.get_by_label("Code").fill(totp.at(now() // 1000))
    page.get_by_role("button", name="Turn on").click()
    expect(page.locator("#codes li")).to_have_count(10)
    codes = page.locator("#codes li").all_text_contents()
    shot(page, "office-codes")
    clean(page)
    page.get_by_role("link", name="I’ve saved them").click()
    page.get_by_role("link", name="Manage second factor").click()
    shot(page, "office-factor-on")
    clean(page)
    page.context.clear_cookies()
    page.goto(f"{stage.site.base}/members")
    shot(page, "office-sign-in")
    clean(page)
    sign_in(page, "maren@example.test", "not this one")
    expect(page.get_by_role("alert")).to_contain_text("That email address and password don’t match.")
    expect(page.get_by_label("Email")).to_have_value("maren@example.test")
    shot(page, "office-sign-in-wrong")
    clean(page)
    sign_in(page, "maren@example.test")
    expect(page.get_by_label("Code")).to_be_focused()
    shot(page, "office-code")
    clean(page)
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/members")


def test_a_forgotten_password_is_chosen_by_mail_and_other_browsers_are_signed_out(
    visit: Visits, stage: BrowserStage, shot: Shot
) -> None:
    page = visit.at(setup_link(stage), excused=REFUSED, width=1280, height=800)
    set_up(page)
    other = visit.at(f"{stage.site.base}/", excused=REFUSED)
    shot(other, "office-start")
    clean(other)
    other.get_by_role("link", name="Sign in").click()
    other.get_by_role("link", name="Forgot your password?").click()
    shot(other, "office-forgot")
    clean(other)
    other.get_by_label("Email").fill("maren@example.test")
    other.get_by_role("button", name="Send link").click()
    expect(other.get_by_role("heading", name="Emails aren’t going out")).to_be_visible()
    shot(other, "office-forgot-sent")
    clean(other)
    other.goto(find_mailed_link(stage, "maren@example.test"))
    shot(other, "office-reset")
    clean(other)
    other.get_by_label("New password").fill(NEW)
    other.get_by_role("button", name="Save password").click()
    expect(other.get_by_role("status")).to_have_text("Password saved. Sign in with it.")
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(other, "maren@example.test", NEW)
    other.wait_for_url("**/documents")
    other.goto(f"{stage.site.base}/password/{'x' * 43}")
    shot(other, "office-gone")
    clean(other)
    sign_in(page, "maren@example.test", NEW)
    page.wait_for_url("**/server/address")
    page.goto(f"{stage.site.base}/account")
    page.get_by_role("button", name="Sign out all others").click()
    expect(page.get_by_role("status")).to_have_text("All other browsers are signed out.")
    other.goto(f"{stage.site.base}/account")
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("You’re signed out.")
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_pages_work_without_a_script_and_with_the_keyboard_alone(
    visit: Visits, stage: BrowserStage
) -> None:
    page = visit.at(setup_link(stage), excused=REFUSED, java_script_enabled=False)
    set_up(page)
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_text("Nothing here has legal effect.")).to_be_visible()
    keys = visit.at(f"{stage.site.base}/sign-in", excused=REFUSED, width=1280, height=800)
    keys.keyboard.press("Tab")
    expect(keys.get_by_role("link", name="Skip to content")).to_be_focused()
    keys.get_by_label("Email").focus()
    keys.keyboard.type("maren@example.test")
    keys.keyboard.press("Tab")
    keys.keyboard.type(PASSWORD)
    keys.keyboard.press("Enter")
    keys.wait_for_url("**/documents")


def test_what_moves_out_of_the_way_on_a_phone_comes_back(
    visit: Visits, stage: BrowserStage, shot: Shot
) -> None:
    page = visit.at(setup_link(stage), excused=REFUSED)
    set_up(page)
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("link", name="Your account")).to_be_visible()
    shot(page, "office-menu")
    clean(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_a_role_may_not_see_is_told_on_a_page(visit: Visits, stage: BrowserStage, shot: Shot) -> None:
    page = visit.at(setup_link(stage), excused=REFUSED)
    set_up(page)
    body = {"email": "vi@example.test", "name": "Vi", "role": MemberRole.VIEWER.value}
    stage.do(stage.site.api.ok("POST", "/members", body))
    page.goto(find_mailed_link(stage, "vi@example.test"))
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_text("Welcome! You joined the organisation.")).to_be_visible()
    page.goto(f"{stage.site.base}/members")
    shot(page, "office-refused")
    clean(page)
