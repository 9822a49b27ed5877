"""Signing by the keyboard alone, by names alone, at every zoom, without motion, in forced colours."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from esign.core.document.document import FieldType
from tests.browser.focus import Focus, read_focus
from tests.browser.sample import a_contract_site, the_contract
from tests.browser.walks import WALKS
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient, other

Visit = Callable[..., Page]
DESK: dict[str, Any] = {"width": 1280, "height": 800}
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"


def ready(page: Page) -> Page:
    """Once the script hears presses."""
    expect(page.locator("#dock-text")).not_to_be_empty()
    return page


def press(page: Page, key: str) -> Focus | None:
    """What has the focus afterwards; wherever it is, it can be seen."""
    page.keyboard.press(key)
    held = read_focus(page)
    assert held is None or (held.ring and held.seen), (key, held)
    return held


def tab_to(page: Page, there: Locator, key: str = "Tab") -> None:
    for _ in range(40):
        press(page, key)
        if there.evaluate("(one) => one === document.activeElement"):
            return
    raise AssertionError(f"{key} does not lead to {there}")


# ---------- the keyboard alone ----------


def three_fields() -> SigningSite:
    box = (11.4, 30, 30, 3)
    fields = (
        a_field("town", FieldType.TEXT, 1, box, label="Town"),
        a_field("pay", FieldType.RADIO, 1, (11.4, 40, 40, 8), label="Pay", options={"options": ["a", "b"]}),
        a_field("read", FieldType.CHECKBOX, 1, (11.4, 55, 2.4, 1.7), label="Read", required=True),
        a_field("ink", FieldType.SIGNATURE, 2, (11.4, 70, 34, 6), label="Signature"),
    )
    return SigningSite(a_document(a_recipient(fields), other()))


@pytest.mark.parametrize("screen", [{}, DESK], ids=["phone", "desk"])
def test_from_arrival_to_done_without_a_mouse(visit: Visit, screen: dict[str, Any]) -> None:
    server = three_fields()
    page = ready(visit(server, reduced_motion="reduce", **screen))
    following = page.locator("#next")
    tab_to(page, page.locator(".skip[href='#next']"))
    press(page, "Enter")
    expect(following).to_be_focused()
    press(page, "Enter")
    expect(page.locator("#slot [data-field=fld_town]")).to_be_focused()
    page.keyboard.type("Wexcombe")
    press(page, "Enter")
    expect(page.locator("#slot [value=a]")).to_be_focused()
    press(page, "Space")
    press(page, "ArrowDown")
    expect(page.locator("#slot [value=b]")).to_be_checked()
    tab_to(page, following)
    press(page, "Space")
    expect(page.locator("#slot [data-field=fld_read]")).to_be_focused()
    press(page, "Space")
    press(page, "Enter")
    expect(following).to_be_focused()
    expect(following).to_have_text("Sign here(4 of 4)")
    press(page, "Enter")
    chosen = page.locator("#adopt [role=tab][aria-selected=true]")
    expect(chosen).to_be_focused()
    while chosen.get_attribute("id") != "tab-type":
        press(page, "ArrowRight")
        expect(chosen).to_be_focused()
    tab_to(page, page.locator("#adopt-done"))
    press(page, "Enter")
    expect(following).to_be_focused()
    expect(following).to_have_text("Review and finish")
    press(page, "Enter")
    expect(page.locator("#finish-title")).to_be_focused()
    tab_to(page, page.locator("#consent"))
    press(page, "Space")
    tab_to(page, page.locator("#finish-done"))
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert {"fld_town": "Wexcombe", "fld_pay": "b", "fld_read": True}.items() <= server.calls[-1][1].items()


@pytest.mark.parametrize("view", ["page", "form"])
def test_no_stop_traps_the_keyboard_and_the_way_back_is_the_same(visit: Visit, view: str) -> None:
    page = ready(visit(a_contract_site(the_contract()), reduced_motion="reduce", **DESK))
    page.locator(f"[data-view={view}]").press("Enter")

    def around(key: str) -> list[str]:
        stops = []
        while held := press(page, key):
            stops.append(held.what)
            assert len(stops) < 80, stops
        return stops

    around("Tab")
    forth = around("Tab")
    assert len(forth) == len(set(forth)) > 10 and forth[0] == "A Skip to the document"
    assert around("Shift+Tab") == forth[::-1]


@pytest.mark.parametrize(
    ("opener", "sheet", "back"),
    [
        ("#f-fld_ink", "adopt", "#next"),
        (".end [data-open]", "decline", ".end [data-open]"),
        ("#menu .decline", "decline", "[popovertarget=menu]"),
    ],
)
def test_a_sheet_keeps_the_focus_and_escape_gives_it_back(
    visit: Visit, opener: str, sheet: str, back: str
) -> None:
    page = ready(visit(three_fields(), reduced_motion="reduce", **DESK))
    if "menu" in opener:
        page.locator("[popovertarget=menu]").press("Enter")
    page.locator(opener).press("Enter")
    for key in ("Tab",) * 12 + ("Shift+Tab",) * 12:
        held = press(page, key)
        assert held is None or held.within == sheet, held
    press(page, "Escape")
    expect(page.locator(f"#{sheet}")).to_be_hidden()
    expect(page.locator(back)).to_be_focused()


def test_escape_leaves_the_field_and_lands_on_its_place(visit: Visit) -> None:
    page = ready(visit(three_fields(), reduced_motion="reduce", **DESK))
    page.locator("#f-fld_town").press("Enter")
    expect(page.locator("#slot [data-field=fld_town]")).to_be_focused()
    press(page, "Escape")
    expect(page.locator("#f-fld_town")).to_be_focused()


def test_the_menu_and_the_code_need_no_mouse(visit: Visit) -> None:
    page = ready(visit(three_fields(), **DESK))
    page.locator("[popovertarget=menu]").focus()
    press(page, "Enter")
    press(page, "Tab")
    expect(page.locator("#menu :is(a, button)").first).to_be_focused()
    press(page, "Escape")
    expect(page.locator("[popovertarget=menu]")).to_be_focused()
    page = visit(WALKS["code-enter"].start("en"), excused=REFUSED, **DESK)
    expect(page.locator("#code")).to_be_focused()
    page.keyboard.type("123")
    press(page, "Enter")
    expect(page.get_by_role("alert")).to_have_text("The code has six digits.")


# ---------- names alone, and what is read aloud ----------


def test_the_form_can_be_signed_by_the_names_of_its_controls(visit: Visit) -> None:
    server = a_contract_site(the_contract())
    page = ready(visit(server))
    name = page.get_by_role
    expect(name("heading", level=1)).to_have_text("A year in the courtyard garden")
    name("button", name="Form", exact=True).click()
    form = name("form", name="Fields to fill in")
    expect(form).to_be_visible()
    form.get_by_role("button", name="Add your initials Initials").first.click()
    sheet = name("dialog", name="Your initials")
    sheet.get_by_role("tab", name="Type").click()
    sheet.get_by_role("button", name="Use this").click()
    expect(name("status").first).to_have_text("Initials: in place")
    form.get_by_role("textbox", name="Where the garden is, and how we get in").fill("18 Market Row")
    watering = form.get_by_role("radiogroup", name="Watering between our visits")
    watering.get_by_role("radio", name="We leave it to the weather").check()
    planters = form.get_by_role("textbox", name="Number of planters")
    planters.fill("400")
    planters.press("Tab")
    form.get_by_role("combobox", name="First visit in").select_option("May")
    expect(planters).to_have_accessible_description("From 1 to 40 The largest number here is 40.")
    expect(planters).to_have_attribute("aria-invalid", "true")
    planters.fill("14")
    form.get_by_role("checkbox", name="Herbs for the kitchen").check()
    form.get_by_role("button", name="Add your initials Initials").click()
    form.get_by_role("button", name="Add your signature Signature").click()
    sheet = name("dialog", name="Your signature")
    sheet.get_by_role("tab", name="Type").click()
    sheet.get_by_role("radio", name="Flowing").check()
    sheet.get_by_role("button", name="Use this").click()
    expect(name("progressbar", name="Progress")).to_have_attribute(
        "aria-valuetext", "7 of 7 required fields filled in"
    )
    name("button", name="Review and finish").click()
    last = name("dialog", name="Review and sign")
    last.get_by_role("checkbox", name="I agree to sign").check()
    last.get_by_role("button", name="Sign and finish").click()
    expect(name("heading", level=1)).to_have_text("Thank you, you’ve signed")
    assert server.calls[-1][0] == "complete"


def test_where_one_is_and_what_is_wrong_is_read_aloud(visit: Visit) -> None:
    page = ready(visit(three_fields(), excused=REFUSED, **DESK))
    say = page.locator("#say")
    expect(say).to_have_role("status")
    page.locator("#next").click()
    expect(say).to_have_text("Town, field 1 of 4")
    page.keyboard.type("Bell\u0007")
    page.keyboard.press("Enter")
    expect(say).to_have_text("Pay, field 2 of 4")
    page.locator("#slot [value=a]").check()
    page.keyboard.press("Enter")
    page.locator("#slot [data-field=fld_read]").check()
    page.keyboard.press("Enter")
    page.locator("#next").click()
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    expect(say).to_have_text("Signature, field 4 of 4")
    page.locator("#next").click()
    page.locator("#finish-done").click()
    expect(page.get_by_role("alert")).to_have_text("Tick the box to show that you agree.")
    page.locator("#consent").check()
    page.locator("#finish-done").click()
    summary = page.get_by_role("alert").filter(has=page.get_by_role("heading"))
    expect(summary).to_contain_text("One answer needs a correction")
    expect(page.locator("#slot [data-field=fld_town]")).to_be_focused()
    expect(page.locator("#slot [data-field=fld_town]")).to_have_accessible_description(
        "This text has characters that cannot be printed."
    )


def test_a_value_that_does_not_fit_is_read_aloud_where_the_focus_stays(visit: Visit) -> None:
    page = ready(visit(a_contract_site(the_contract())))
    page.locator("#f-fld_planters").click()
    page.keyboard.type("400")
    page.keyboard.press("Enter")
    expect(page.locator("#say")).to_have_text("The largest number here is 40.")
    expect(page.locator("#slot [data-field=fld_planters]")).to_be_focused()
