"""The signer's journeys through the visible controls, on a phone and on a desk, in light and dark."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from esign.core.actor import Mode
from esign.core.document.document import FieldType, Status
from esign.core.errors import Detail, Problem
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.web.signing.site import (
    STATES,
    SigningSite,
    a_document,
    a_field,
    a_recipient,
    other,
)

Visit = Callable[..., Page]
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx


def step(page: Page, control: str) -> None:
    """Forward with the one button at the bottom, to the step of this control."""
    page.locator("#next").click()
    expect(page.locator(f"#dock [data-field={control}]:visible").first).to_be_visible()


def draw(page: Page) -> None:
    """A stroke on the pad, as a hand makes one."""
    box = page.locator("#pad").bounding_box()
    assert box is not None
    left, middle = box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.5
    page.mouse.move(left, middle)
    page.mouse.down()
    for n in range(1, 30):
        page.mouse.move(left + n * box["width"] * 0.02, middle + (n % 6 - 3) * box["height"] * 0.08)
    page.mouse.up()


def fill_everything(page: Page, shot: Callable[[Page, str], None]) -> None:
    """From the first look to the review, by the guided path."""
    shot(page, "sign-1-arrival")
    page.locator("[data-action=sign]:visible").click()
    page.locator("#slot [data-field=fld_address]").fill("14 Linden Row, Harrowgate HG4 1AB")
    shot(page, "sign-2-active")
    step(page, "fld_phone")
    page.locator("#slot [data-field=fld_phone]").fill("call me")
    page.locator("#next").click()
    expect(page.locator("#e-fld_phone")).to_contain_text("Please enter a phone number")
    expect(page.locator("#slot [data-field=fld_phone]")).to_be_focused()
    shot(page, "sign-3-problem")
    page.locator("#slot [data-field=fld_phone]").fill("0151 234 5678")
    expect(page.locator("#e-fld_phone")).to_be_hidden()
    step(page, "fld_hours")
    page.locator("#slot [data-field=fld_hours]").fill("7,5")
    step(page, "fld_wishes")
    page.locator("#slot [data-field=fld_wishes]").fill("Please ring twice.\nThe dog is friendly.")
    step(page, "fld_payment")
    page.get_by_label("All at the end").check()
    shot(page, "sign-4-choice")
    step(page, "fld_wood")
    page.locator("#slot [data-field=fld_wood]").select_option("Oak")
    step(page, "fld_start")
    page.locator("#slot [data-field=fld_start]").fill("2026-12-15")
    step(page, "fld_early")
    page.locator("#slot [data-field=fld_early]").check()
    step(page, "fld_extra1")
    for box in ("fld_extra1", "fld_extra3"):
        page.locator(f"#slot [data-field={box}]").check()
    shot(page, "sign-5-group")
    step(page, "fld_initials")
    page.locator("[data-action=sign]:visible").click()
    page.locator("#tab-type").click()
    expect(page.locator(".typed.hand-a")).to_have_text("JW")
    page.evaluate("document.fonts.ready")
    shot(page, "sign-6-type")
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_initials img")).to_be_visible()
    step(page, "fld_signature")
    page.locator("[data-action=sign]:visible").click()
    page.locator("#tab-draw").click()
    draw(page)
    shot(page, "sign-7-draw")
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_signature img")).to_be_visible()
    shot(page, "sign-8-placed")


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_a_stranger_fills_in_every_type_of_field_and_signs(
    visit: Visit, shot: Callable[[Page, str], None], screen: dict[str, int]
) -> None:
    site = SigningSite()
    page = visit(site, **screen)
    fill_everything(page, shot)

    page.locator("#next").click()
    expect(page.locator("#finish")).to_be_visible()
    assert [call[0] for call in site.calls] == ["view"]
    for words in (
        "14 Linden Row",
        "7.5",
        "All at the end",
        "Oak",
        "15 Dec 2026",
        "Lights, Mirror",
        "21 Nov 2026",
    ):
        expect(page.locator("#review")).to_contain_text(words)
    shot(page, "sign-9-finish")

    page.locator("[data-action=finish]").click()
    expect(page.locator("#consent-error")).to_be_visible()
    expect(page.locator("[data-action=consent]")).to_be_focused()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, you’ve signed")

    answers = site.calls[1][1]
    assert answers["fld_initials"] == {"kind": "typed", "text": "JW", "hand": "a"}
    assert answers["fld_signature"]["kind"] == "drawn"
    assert {key: value for key, value in answers.items() if not isinstance(value, dict)} == {
        "fld_name": "Jonas Weber",
        "fld_address": "14 Linden Row, Harrowgate HG4 1AB",
        "fld_phone": "0151 234 5678",
        "fld_hours": "7.5",
        "fld_wishes": "Please ring twice.\nThe dog is friendly.",
        "fld_payment": "All at the end",
        "fld_wood": "Oak",
        "fld_start": "2026-12-15",
        "fld_early": True,
        "fld_extra1": True,
        "fld_extra2": False,
        "fld_extra3": True,
    }


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_the_same_fields_can_be_filled_in_as_a_form(
    visit: Visit, shot: Callable[[Page, str], None], screen: dict[str, int]
) -> None:
    page = visit(SigningSite(), **screen)
    page.get_by_role("button", name="Form", exact=True).click()
    page.locator("[data-field=fld_address]").fill("14 Linden Row")
    page.locator("[data-field=fld_phone]").fill("call me")
    page.locator("[data-field=fld_hours]").fill("40")
    page.locator("[data-field=fld_wishes]").focus()
    expect(page.locator("#e-fld_hours")).to_contain_text("The largest number here is 12.")
    shot(page, "form")
    page.get_by_role("button", name="Document", exact=True).click()
    expect(page.locator("#f-fld_address")).to_contain_text("14 Linden Row")
    expect(page.locator("#f-fld_hours")).to_contain_class("problem")


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_every_field_on_the_page_can_be_pressed_and_shows_what_is_given(
    visit: Visit, shot: Callable[[Page, str], None], screen: dict[str, int]
) -> None:
    page = visit(SigningSite(), **screen)
    page.locator("#f-fld_wood").click()
    expect(page.locator("#slot [data-field=fld_wood]")).to_be_focused()
    page.locator("#f-fld_extra2").click()
    box = page.locator("#slot [data-field=fld_extra2]")
    if not box.is_checked():
        box.check()
    expect(page.locator("#f-fld_extra2")).to_contain_class("filled")
    expect(page.locator("#f-fld_extra1")).not_to_contain_class("filled")
    page.keyboard.press("Escape")
    expect(page.locator("#slot")).to_be_hidden()
    shot(page, "pressed")


def test_a_third_tick_in_a_group_of_at_most_two_is_told_at_the_group(visit: Visit) -> None:
    page = visit(SigningSite())
    page.get_by_role("button", name="Form", exact=True).click()
    for box in ("fld_extra1", "fld_extra2", "fld_extra3"):
        page.locator(f"[data-field={box}]").check()
    expect(page.locator("#e-fld_extra1")).to_have_text("Tick at most 2 of these boxes.")
    page.locator("[data-field=fld_extra3]").uncheck()
    expect(page.locator("#e-fld_extra1")).to_be_hidden()


def test_boxes_of_which_one_may_be_ticked_behave_as_choices(visit: Visit) -> None:
    boxes = tuple(
        a_field(
            f"box{n}",
            FieldType.CHECKBOX,
            1,
            (10 + n * 10, 10, 2.5, 2),
            options={"group": "g", "maxChecked": 1},
        )
        for n in range(3)
    )
    page = visit(SigningSite(a_document(a_recipient(boxes))))
    page.get_by_role("button", name="Form", exact=True).click()
    page.locator("[data-field=fld_box0]").check()
    page.locator("[data-field=fld_box2]").check()
    assert [page.locator(f"[data-field=fld_box{n}]").is_checked() for n in range(3)] == [False, False, True]


def one_text(**more: object) -> SigningSite:
    field = a_field("town", FieldType.TEXT, 1, (20, 20, 40, 3), label="Town", **more)
    signature = a_field("signature", FieldType.SIGNATURE, 1, (20, 60, 30, 6), label="Signature")
    return SigningSite(a_document(a_recipient((field, signature)), other()))


def to_the_review(page: Page, town: str = "Harrowgate") -> None:
    expect(page.locator("#dock-text")).not_to_be_empty()  # by the script, which hears presses from then on
    page.locator("[data-action=sign]:visible").click()
    page.locator("[data-field=fld_town]").fill(town)
    step(page, "fld_signature")
    page.locator("[data-action=sign]:visible").click()
    page.locator("#tab-type").click()
    page.locator("[data-action=adopt]").click()
    page.locator("[data-action=next]:visible").click()
    page.locator("[data-action=consent]").check()


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_what_the_service_refuses_is_told_at_the_field_and_in_a_summary_and_nothing_is_lost(
    visit: Visit, shot: Callable[[Page, str], None], screen: dict[str, int]
) -> None:
    site = one_text()
    page = visit(site, excused=REFUSED, **screen)
    to_the_review(page, "Bell\u0007town")
    page.locator("[data-action=finish]").click()
    town = page.locator("[data-field=fld_town]")
    expect(page.locator("#e-fld_town")).to_have_text("This text has characters that cannot be printed.")
    expect(town).to_be_focused()
    expect(page.locator("#problems")).to_contain_text("One answer needs a correction")
    shot(page, "refused")
    page.evaluate("scrollTo(0, 0)")
    shot(page, "refused-summary")
    town.fill("Harrowgate")
    expect(page.locator("#problems")).to_be_hidden()
    expect(page.locator("#f-fld_signature img")).to_be_visible()
    page.get_by_role("button", name="Review and finish").click()
    expect(page.locator("[data-action=consent]")).to_be_checked()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")


def test_a_signer_without_a_place_for_a_signature_is_asked_for_it_all_the_same(
    visit: Visit, shot: Callable[[Page, str], None]
) -> None:
    site = SigningSite(a_document(a_recipient(()), other()))
    page = visit(site)
    shot(page, "apart-1-arrival")
    page.locator("[data-action=next]:visible").click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("#e-signature")).to_have_text("Please sign here.")
    page.locator("[data-field=signature]").click()
    page.locator("#tab-type").click()
    page.locator("input[name=style][value=c]").check()
    page.locator("[data-action=adopt]").click()
    expect(page.locator("[data-field=signature] img")).to_be_visible()
    shot(page, "apart-2-review")
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert site.calls[-1][1] == {"signature": {"kind": "typed", "text": "Jonas Weber", "hand": "c"}}


def test_a_drawn_signature_that_stands_in_many_places_is_sent_once(visit: Visit) -> None:
    places = tuple(
        a_field(f"initials{n}", FieldType.SIGNATURE, 1, (10, 10 + n * 20, 20, 6), label=f"Signature {n}")
        for n in range(3)
    )
    site = SigningSite(a_document(a_recipient(places), other()))
    page = visit(site)
    page.locator("[data-action=sign]:visible").click()
    page.locator("[data-action=sign]:visible").click()
    draw(page)
    page.locator("[data-action=adopt]").click()
    for n in (1, 2):
        step(page, f"fld_initials{n}")
        page.locator("[data-action=sign]:visible").click()
        expect(page.locator(f"#f-fld_initials{n} img")).to_be_visible()
    page.locator("[data-action=next]:visible").click()
    page.locator("[data-action=consent]").check()
    with page.expect_request("**/complete") as request:
        page.locator("[data-action=finish]").click()
    sent = json.loads(request.value.post_data or "")["answers"]
    assert sent["fld_initials1"]["picture"] == sent["fld_initials2"]["picture"] == "fld_initials0"
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert len({answer["picture"] for answer in site.calls[-1][1].values()}) == 1


def test_a_name_gets_only_the_hands_that_can_write_it(visit: Visit) -> None:
    site = one_text()
    page = visit(site)
    page.locator("#f-fld_signature").click()
    page.locator("#tab-type").click()

    def list_offered(name: str) -> list[str]:
        page.locator("#typed-text").fill(name)
        return [
            str(one.get_attribute("value"))
            for one in page.locator("input[name=style]").all()
            if one.is_visible()
        ]

    assert list_offered("Jonas Weber") == ["a", "b", "c"]
    assert list_offered("Łukasz Žižka") == ["b", "c"]
    assert list_offered("Ольга") == ["c"]
    assert list_offered("محمد") == [""]
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_signature img")).to_be_visible()


def test_pressing_finish_twice_sends_once(visit: Visit) -> None:
    site = one_text()
    page = visit(site)
    to_the_review(page)
    page.evaluate("const b = document.querySelector('[data-action=finish]'); b.click(); b.click(); b.click()")
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert [call[0] for call in site.calls].count("complete") == 1


def test_without_a_connection_finishing_says_so_and_works_when_it_is_back(
    visit: Visit, shot: Callable[[Page, str], None]
) -> None:
    site = one_text()
    page = visit(site, excused=REFUSED)
    to_the_review(page)
    page.route("**/complete", lambda route: route.abort())
    finish = page.locator("[data-action=finish]")
    finish.click()
    expect(page.locator("#finish-error")).to_contain_text("Nothing is lost")
    expect(finish).to_be_enabled()
    expect(finish).to_have_text("Sign and finish")
    shot(page, "offline")
    page.unroute("**/complete")
    finish.click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert site.calls[-1][1]["fld_town"] == "Harrowgate"


def test_while_the_connection_is_gone_a_line_says_that_nothing_is_lost(visit: Visit) -> None:
    page = visit(one_text(), excused=REFUSED)
    page.context.set_offline(True)
    expect(page.locator("#toast")).to_have_text("No connection. What you entered stays on this page.")
    page.context.set_offline(False)
    expect(page.locator("#toast")).to_be_hidden()


def test_finishing_a_document_that_was_withdrawn_meanwhile_shows_that(visit: Visit) -> None:
    site = one_text()
    page = visit(site, excused=REFUSED)
    to_the_review(page)
    site.state, site.document = "cancelled", replace(site.document, status=Status.CANCELLED)
    site.refuse = Problem("document_not_sent", current_status="cancelled")
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "cancelled")


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_declining_takes_a_reason_and_a_second_press(
    visit: Visit, shot: Callable[[Page, str], None], screen: dict[str, int]
) -> None:
    site = SigningSite()
    page = visit(site, **screen)
    page.get_by_role("button", name="More options").click()
    shot(page, "menu")
    page.locator("#menu .decline").click()
    page.get_by_label("Your reason").fill("The window seat is gone.")
    shot(page, "decline")
    assert [call[0] for call in site.calls] == ["view"]
    page.locator("#decline [data-action=decline]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "declined")
    assert site.calls[-1][:2] == ("decline", "The window seat is gone.")


def test_declining_can_be_thought_better_of(visit: Visit) -> None:
    site = SigningSite()
    page = visit(site)
    page.locator("[data-action=decline]:visible").click()
    page.get_by_role("button", name="Keep reading").click()
    expect(page.locator("#decline")).to_be_hidden()
    assert [call[0] for call in site.calls] == ["view"]


@pytest.mark.parametrize("screen", ON_A_DESK)
@pytest.mark.parametrize("name", STATES)
def test_every_other_state_has_its_page(
    visit: Visit, shot: Callable[[Page, str], None], name: str, screen: dict[str, int]
) -> None:
    state, document = STATES[name]
    page = visit(SigningSite(document, state), **screen)
    expect(page.locator("body")).to_have_attribute("data-state", state)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, "state")


def test_a_page_that_waits_for_the_seal_becomes_the_page_with_the_download(visit: Visit) -> None:
    site = SigningSite(STATES["sealing"][1], "sealing")
    page = visit(site)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your signature is recorded")
    site.state, document = STATES["completed"]
    site.document = replace(document, file=replace(document.file, name="Straße „Nord“.pdf"))
    expect(page.locator("body")).to_have_attribute("data-state", "completed")
    with page.expect_download() as download:
        page.locator("[data-action=download]").click()
    assert download.value.suggested_filename == "Straße „Nord“-sealed.pdf"


def test_a_seal_that_takes_long_is_called_safe(visit: Visit, shot: Callable[[Page, str], None]) -> None:
    page = visit(SigningSite(STATES["sealing"][1], "sealing"), clock=True)
    page.clock.fast_forward(31_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your signature is safe")
    shot(page, "state-sealing-late")


def test_only_a_page_with_a_script_counts_as_viewed(visit: Visit) -> None:
    site = SigningSite()
    page = visit(site, java_script_enabled=False, excused=": csp")
    expect(page.locator(".ask noscript")).to_be_visible()
    assert site.calls == []


def test_nothing_offers_to_be_pressed_before_the_script_hears_it(visit: Visit) -> None:
    page = visit(one_text(), java_script_enabled=False, excused=": csp")
    idle = page.locator("#next, [data-view], [data-see], [data-open]")
    assert idle.count() == 6 and all(one.is_disabled() for one in idle.all())
    alive = visit(one_text()).locator("#next, [data-view], [data-see], [data-open]")
    assert all(one.is_enabled() for one in alive.all())


def test_a_page_that_learns_twice_of_its_end_comes_anew_once(visit: Visit) -> None:
    page = visit(one_text())
    loads = list[str]()
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    with page.expect_navigation():
        page.evaluate("""async () => {
          const { reload } = await import(new URL("dom.js", document.querySelector("script[type=module]").src));
          setTimeout(() => { reload(); reload(); });
        }""")
    page.wait_for_load_state("networkidle")
    assert len(loads) == 1


def test_the_journey_can_be_made_with_the_keyboard_alone(visit: Visit) -> None:
    site = one_text()
    page = visit(site, width=1280, height=800)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Go to the next step")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-field=fld_town]")).to_be_focused()
    page.keyboard.type("Harrowgate")
    page.keyboard.press("Enter")
    expect(page.locator("[data-field=fld_signature]:visible")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#tab-type")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#typed-text")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#finish-title")).to_be_focused()
    page.locator("[data-action=consent]").focus()
    page.keyboard.press("Space")
    page.locator("[data-action=finish]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")


def test_a_test_document_says_on_its_page_that_it_has_no_legal_effect(
    visit: Visit, shot: Callable[[Page, str], None]
) -> None:
    page = visit(SigningSite(a_document(mode=Mode.TEST)))
    expect(page.get_by_text("Test: this document has no legal effect")).to_be_visible()
    shot(page, "test-mode")


def test_long_words_and_many_options_stay_inside_the_narrowest_screen(
    visit: Visit, shot: Callable[[Page, str], None]
) -> None:
    options = [f"Option number {n} with some words" for n in range(20)]
    long = "Rahmenlieferungsvereinbarungsbedingungen" * 3
    fields = (
        a_field("choice", FieldType.RADIO, 1, (10, 20, 40, 30), label=long, options={"options": options}),
        a_field("text", FieldType.TEXT, 1, (10, 62, 20, 2.4), label=long),
    )
    me = replace(a_recipient(fields), name=long)
    page = visit(SigningSite(a_document(me, replace(other(), name=long), title=long)), width=320, height=640)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.locator("[data-action=sign]:visible").click()
    page.get_by_label("Option number 19").check()
    expect(page.locator("#next")).to_be_in_viewport(ratio=1)
    step(page, "fld_text")
    page.locator("#slot [data-field=fld_text]").fill("Donaudampfschifffahrtsgesellschaft")
    words = page.locator("#f-fld_text .f-text")
    assert words.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    shot(page, "long")


def test_a_signature_that_is_refused_at_the_end_is_asked_for_again(visit: Visit) -> None:
    site = SigningSite(a_document(a_recipient(()), other()))
    page = visit(site, excused=REFUSED)
    page.locator("[data-action=next]:visible").click()
    page.locator("[data-field=signature]").click()
    page.locator("#tab-type").click()
    page.locator("[data-action=adopt]").click()
    page.locator("[data-action=consent]").check()
    site.refuse = Problem(
        "invalid_request", details=[Detail("/answers/signature", "We can’t print 龘 here.", "format")]
    )
    page.locator("[data-action=finish]").click()
    expect(page.locator("#e-signature")).to_have_text("We can’t print 龘 here.")
    expect(page.locator("[data-field=signature]")).to_be_focused()
    site.refuse = None
    page.locator("[data-field=signature]").click()
    page.locator("#typed-text").fill("Jonas")
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#e-signature")).to_be_hidden()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")


def test_what_people_wrote_is_shown_as_text(visit: Visit) -> None:
    evil = "<img src=x onerror=alert(1)>\"'}</style><script>alert(1)</script>{{7*7}}"
    field = a_field("text", FieldType.TEXT, 1, (10, 10, 30, 3), label=evil, placeholder=evil, value=evil)
    choice = a_field(
        "radio", FieldType.RADIO, 1, (10, 30, 30, 8), label=evil, options={"options": [evil, "b"]}
    )
    mine = replace(a_recipient((field, choice)), name=evil)
    document = a_document(mine, replace(other(), name=evil), title=evil, message=evil)
    page = visit(SigningSite(document))
    page.locator("[data-action=sign]:visible").click()
    page.locator("#slot [data-field=fld_radio]").first.check()
    page.locator("[data-action=next]:visible").click()
    expect(page.locator("#review")).to_contain_text(evil)
    assert page.evaluate("document.title") == f"Sign: {evil}"
    assert page.locator("img[src=x]").count() == 0
