"""What approvers and readers see and do, and the code before a document, on a phone and on a desk."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from esign.core.document.challenge import ChallengeStanding, ChallengeStep
from esign.core.document.document import Document, FieldType, Recipient, RecipientStatus, Role, Status
from esign.core.instant import HOUR, MINUTE, SECOND
from tests.browser.conftest import alive
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.web.signing.site import CODE, NOW, SigningSite, a_document, a_field, a_recipient, all_fields, other

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx


def approver(*fields: FieldType) -> Recipient:
    places = tuple(a_field(kind, kind, 1, (11, 30 + 6 * n, 30, 4)) for n, kind in enumerate(fields))
    return a_recipient(places, role=Role.APPROVER)


def after(name: str, status: RecipientStatus = RecipientStatus.CREATED) -> Recipient:
    sent: dict[str, Any] = {} if status is RecipientStatus.CREATED else {"sent_at": NOW - HOUR}
    return replace(other(), id=f"rcp_{name}", name=name, status=status, **sent)


def to_approve(*fields: FieldType) -> Document:
    return a_document(approver(*fields), after("Mira Okafor"), replace(after("Ana Lindqvist"), role=Role.CC))


def to_read() -> Document:
    signer = replace(a_recipient(all_fields(), order=1), id="rcp_ana", name="Ana Lindqvist")
    return a_document(a_recipient((), role=Role.VIEWER), signer, after("Mira Okafor"))


# ---------- approving ----------


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_an_approver_reads_ticks_and_approves_and_gives_no_signature(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    site = SigningSite(to_approve())
    page = visit(site, **screen)
    expect(page.locator(".ask")).to_contain_text("asks you to approve")
    expect(page.locator(".people")).to_contain_text("You, Jonas Weber, approve now")
    expect(page.locator("#dock-text")).to_contain_text("You’re not signing anything")
    shot(page, "approve-1-arrival")
    page.locator("#next").click()
    expect(page.locator("#finish-title")).to_have_text("Approve this document?")
    expect(page.locator("[data-field=signature]")).to_have_count(0)
    page.locator("[data-action=approve]").click()
    expect(page.locator("#consent-error")).to_have_text("Tick the box to show that you approve.")
    shot(page, "approve-2-missing")
    page.locator("[data-action=consent]").check()
    shot(page, "approve-3-sheet")
    page.locator("[data-action=approve]").click()
    expect(page.locator("h1")).to_have_text("Thank you, you’ve approved")
    expect(page.locator(".steps")).to_contain_text("You approved")
    shot(page, "approve-4-done")
    assert [call[0] for call in site.calls] == ["view", "complete"] and site.calls[1][1] == {}


def test_an_approver_may_fill_in_some_fields_and_leave_others(visit: Visit, shot: Shot) -> None:
    kinds = (FieldType.TEXT, FieldType.SIGNATURE, FieldType.CHECKBOX, FieldType.RADIO)
    fields = tuple(
        a_field(
            kind,
            kind,
            1,
            (11, 30 + 8 * n, 30, 6),
            required=True,
            label=kind.capitalize(),
            options={"options": ["a", "b"]} if kind is FieldType.RADIO else {},
        )
        for n, kind in enumerate(kinds)
    )
    site = SigningSite(a_document(a_recipient(fields, role=Role.APPROVER), other()))
    page = visit(site)
    expect(page.locator(".facts")).to_contain_text("4 fields you may fill in")
    page.locator("#f-fld_text").click()
    page.locator("#slot [data-field=fld_text]").fill("Only the second floor")
    shot(page, "approve-5-field")
    for _ in range(3):
        page.locator("#next").click()
        expect(page.locator("#next")).to_have_text(re.compile("Skip"))
    for _ in range(2):
        page.locator("#next").click()
    expect(page.locator("#review")).to_contain_text("Only the second floor")
    shot(page, "approve-6-review")
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=approve]").click()
    expect(page.locator("h1")).to_have_text("Thank you, you’ve approved")
    assert site.calls[-1][1]["fld_text"] == "Only the second floor"


def test_an_approver_may_decline(visit: Visit, shot: Shot) -> None:
    site = SigningSite(to_approve())
    page = visit(site)
    page.locator(".end [data-action=decline]").click()
    expect(page.locator("#decline-title")).to_have_text("Decline to approve?")
    page.locator("#reason").fill("The price is wrong.")
    shot(page, "approve-7-decline")
    page.locator("#decline [data-action=decline]").click()
    expect(page.locator("h1")).to_have_text("You declined to approve")
    assert site.calls[-1][:2] == ("decline", "The price is wrong.")


def test_approving_needs_no_mouse(visit: Visit) -> None:
    site = SigningSite(to_approve())
    page = visit(site, width=1280, height=800)
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.locator(".skip[href='#next']")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#finish-title")).to_be_focused()
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.locator("#consent")).to_be_focused()
    page.keyboard.press("Space")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Thank you, you’ve approved")


# ---------- reading ----------


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_a_reader_reads_and_downloads_and_has_nothing_to_press_but_that(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    site = SigningSite(to_read())
    page = visit(site, **screen)
    expect(page.locator(".ask")).to_contain_text("sends you this to read")
    expect(page.locator("#dock")).to_contain_text("Nothing for you to sign")
    shot(page, "read-1-arrival")
    page.locator("#page-2").scroll_into_view_if_needed()
    shot(page, "read-2-page")
    for act in ("sign", "finish", "approve", "decline", "consent"):
        expect(page.locator(f"[data-action={act}]")).to_have_count(0)
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    with page.expect_download() as download:
        page.locator("[data-action=download]").click()
    assert download.value.suggested_filename == "agreement.pdf"
    page.locator("[data-zoom='1']:visible").first.click() if screen["width"] > 600 else None
    assert [call[0] for call in site.calls] == ["view"]


@pytest.mark.parametrize("state", ["sealing", "completed", "declined", "expired", "cancelled"])
def test_every_state_has_its_page_for_a_reader(visit: Visit, shot: Shot, state: str) -> None:
    done: dict[str, Any] = {"status": RecipientStatus.COMPLETED, "completed_at": NOW}
    document = to_read()
    people = tuple(replace(one, **done) if one.acting else one for one in document.recipients)
    if state == "declined":
        people = (
            people[0],
            replace(people[1], status=RecipientStatus.DECLINED, completed_at=None),
            people[2],
        )
    ended = replace(document, status=Status(state), closed_at=NOW, recipients=people)
    page = visit(SigningSite(ended, state))
    assert "You signed" not in page.locator("main").inner_text()
    shot(page, f"read-{state}")


# ---------- the code before the document ----------


def make_guarded_port(method: str, standing: ChallengeStanding, **more: Any) -> SigningSite:
    recipient = a_recipient((), authentication=method)
    site = SigningSite(a_document(recipient, other(), **more), "code")
    site.standing = standing
    return site


STANDINGS = {
    "ask": ("email_code", ChallengeStanding(ChallengeStep.ASK, at=NOW)),
    "enter": ("email_code", ChallengeStanding(ChallengeStep.ENTER, 5, NOW + 42 * SECOND, NOW + 10 * MINUTE)),
    "expired": ("email_code", ChallengeStanding(ChallengeStep.EXPIRED, at=NOW)),
    "spent": ("email_code", ChallengeStanding(ChallengeStep.SPENT, at=NOW + 20 * SECOND)),
    "tomorrow": ("email_code", ChallengeStanding(ChallengeStep.EXPIRED, at=NOW + 11 * HOUR)),
    "agreed": ("access_code", ChallengeStanding(ChallengeStep.ENTER, 5)),
    "agreed_wait": ("access_code", ChallengeStanding(ChallengeStep.WAIT, at=NOW + 14 * MINUTE)),
    "agreed_blocked": ("access_code", ChallengeStanding(ChallengeStep.BLOCKED)),
}


@pytest.mark.parametrize("screen", ON_A_DESK)
@pytest.mark.parametrize("name", STANDINGS)
def test_each_step_of_a_code_has_its_page_and_tells_nothing_of_the_document(
    visit: Visit, shot: Shot, name: str, screen: dict[str, Any]
) -> None:
    page = visit(make_guarded_port(*STANDINGS[name]), **screen)
    expect(page.locator("h1")).to_be_visible()
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    assert "14 Linden Row" not in page.content() and "jonas.weber" not in page.content()
    shot(page, f"code-{name}")


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_a_code_by_mail_is_asked_for_entered_wrongly_and_then_rightly(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    site = make_guarded_port("email_code", ChallengeStanding(ChallengeStep.ASK, at=NOW))
    page = visit(site, excused=REFUSED, **screen)
    assert site.calls == []
    page.locator("[data-action=send-code]").click()
    expect(page.locator("#question-title")).to_be_focused()
    expect(page.locator("#question-title")).to_have_text("Send a code to j•••r@example.com?")
    assert site.calls == []
    shot(page, "code-question")
    page.locator("[data-action=send-code-confirm]").click()
    expect(page.locator("h1")).to_have_text("Check your email")
    alive(page)
    field = page.locator("[data-field=code]")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#code-error")).to_have_text("Please enter your code.")
    field.fill("12345")
    expect(page.locator("#code-error")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("#code-error")).to_have_text("The code has six digits.")
    field.fill("000 000")
    page.locator("[data-action=enter-code]").click()
    expect(page.locator("#code-error")).to_contain_text("You can try 4 more times")
    expect(field).to_be_focused()
    shot(page, "code-wrong")
    field.fill(f"{CODE[:3]} {CODE[3:]}")
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("Joinery agreement, 14 Linden Row")
    assert [call[0] for call in site.calls][:3] == ["send_code", "authenticate", "authenticate"]


def ask_for_code(visit: Visit, **how: Any) -> tuple[SigningSite, Page, Locator]:
    site = make_guarded_port("email_code", ChallengeStanding(ChallengeStep.ASK, at=NOW))
    page = visit(site, **how)
    return site, page, page.locator("[data-action=send-code]")


def press_with_a_finger(page: Page, button: Locator) -> None:
    """Down, a moment, and up, as a finger does it."""
    box = button.bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    page.evaluate("() => new Promise((then) => setTimeout(then, 80))")
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def press_with_the_mouse(page: Page, button: Locator) -> None:
    box = button.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 10, steps=12)
    page.mouse.down()
    page.mouse.up()


def press_with_the_keyboard(page: Page, button: Locator) -> None:
    page.keyboard.press("Tab")
    while not button.evaluate("(one) => one === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")


@pytest.mark.parametrize("press", [press_with_a_finger, press_with_the_mouse, press_with_the_keyboard])
def test_one_press_of_a_person_sends_the_code(visit: Visit, press: Callable[[Page, Locator], None]) -> None:
    site, page, button = ask_for_code(visit, width=360 if press is press_with_a_finger else 1280)
    press(page, button)
    expect(page.locator("h1")).to_have_text("Check your email")
    assert [call[0] for call in site.calls] == ["send_code"]


@pytest.mark.parametrize("press", ["(one) => one.click()", None, "focused"])
def test_a_press_that_no_hand_made_asks_first(visit: Visit, press: str | None) -> None:
    site, page, button = ask_for_code(visit, width=1280)
    if press == "focused":
        button.focus()
        page.keyboard.press("Enter")
    elif press:
        button.evaluate(press)
    else:
        button.click()
    expect(page.locator("#question-title")).to_be_focused()
    assert site.calls == []


def test_who_is_asked_for_a_code_learns_what_to_do_with_a_wrong_address(visit: Visit) -> None:
    _, page, _ = ask_for_code(visit)
    expect(page.locator("main")).to_contain_text(
        "Isn’t that your address? Ask Northlight Joinery to change it. Write to Northlight Joinery"
    )
    link = page.get_by_role("link", name="Write to Northlight Joinery")
    expect(link).to_have_attribute("href", "mailto:office@northlight.example")


def test_the_fifth_wrong_code_shows_that_a_new_one_is_needed(visit: Visit) -> None:
    site = make_guarded_port("email_code", ChallengeStanding(ChallengeStep.ENTER, 1, NOW, NOW + 10 * MINUTE))
    page = visit(site, excused=REFUSED)
    page.locator("[data-field=code]").fill("000000")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Too many wrong codes")
    alive(page)
    page.locator("[data-action=send-code]").click()
    page.locator("[data-action=send-code-confirm]").click()
    expect(page.locator("h1")).to_have_text("Check your email")


def test_a_new_code_can_be_had_when_its_time_has_come(visit: Visit, shot: Shot) -> None:
    site = make_guarded_port(
        "email_code", ChallengeStanding(ChallengeStep.ENTER, 5, NOW + 42 * SECOND, NOW + 10 * MINUTE)
    )
    page = visit(site, clock=True)
    again = page.locator("[data-action=send-code]")
    expect(again).to_be_disabled()
    expect(again).to_contain_text("(in 0:4")
    page.clock.run_for(43_000)
    site.clock.advance(seconds=43)
    expect(again).to_be_enabled()
    expect(again.locator(".count")).to_be_hidden()
    again.click()
    with page.expect_navigation():  # it looks the same before and after
        page.locator("[data-action=send-code-confirm]").click()
    expect(page.locator("h1")).to_have_text("Check your email")
    assert [call[0] for call in site.calls] == ["send_code"]


def test_without_a_connection_the_code_stays_where_it_was_typed(visit: Visit) -> None:
    site = make_guarded_port("access_code", ChallengeStanding(ChallengeStep.ENTER, 5))
    page = visit(site, excused=REFUSED)
    page.context.set_offline(True)
    page.locator("[data-field=code]").fill(CODE)
    page.keyboard.press("Enter")
    expect(page.locator("#code-error")).to_contain_text("No connection")
    expect(page.locator("[data-field=code]")).to_have_value(CODE)
    page.context.set_offline(False)
    page.locator("[data-action=enter-code]").click()
    expect(page.locator("#title")).to_have_text("Joinery agreement, 14 Linden Row")


def test_a_page_whose_proof_has_ended_becomes_the_page_of_the_code(visit: Visit) -> None:
    site = make_guarded_port("access_code", ChallengeStanding(ChallengeStep.ENTER, 5))
    site.state = "open"
    page = visit(site)
    expect(page.locator("#next")).to_be_visible()
    site.state = "code"
    page.reload()
    expect(page.locator("h1")).to_have_text("Enter your code")
