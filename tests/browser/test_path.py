"""The guided path at its best on a phone: fitting keyboards, the field above them, honest progress, taking back."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from esign.core.document.document import Document, Field, FieldType
from tests.browser.sample import a_contract_site, the_contract
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient, other

Visit = Callable[..., Page]
KEYBOARD = 300  # px
# The browser lays the keyboard over the page and tells so, as Safari does.
COVERED = """(by) => {
  Object.defineProperty(visualViewport, "height", { get: () => innerHeight - by, configurable: true });
  visualViewport.dispatchEvent(new Event("resize"));
}"""
SEEN = """(place) => {
  const [bar, dock] = [".bar", "#dock"].map((part) => document.querySelector(part).getBoundingClientRect());
  const { top, bottom } = place.getBoundingClientRect();
  return top >= bar.bottom && bottom <= dock.top;
}"""


def make_asking_port(*fields: Field) -> SigningSite:
    return SigningSite(a_document(a_recipient(fields), other()))


def in_the_bar(page: Page) -> Locator:
    return page.locator("#slot [data-field]").first


def forward(page: Page) -> None:
    page.locator("#next").click()


# ---------- controls that fit ----------

FITTING: dict[str, tuple[FieldType, dict[str, Any], dict[str, str]]] = {
    "name": (FieldType.NAME, {"autofill": False}, {"autocomplete": "name"}),
    "email": (FieldType.EMAIL, {"autofill": False}, {"type": "email", "autocomplete": "email"}),
    "whole": (FieldType.NUMBER, {"min": 0, "decimals": 0}, {"inputmode": "numeric"}),
    "broken": (FieldType.NUMBER, {"min": 0, "decimals": 2}, {"inputmode": "decimal"}),
    "date": (FieldType.DATE, {"autofill": False, "min": "2026-12-01"}, {"type": "date", "min": "2026-12-01"}),
    "phone": (FieldType.TEXT, {"pattern": "phone"}, {"type": "tel", "autocomplete": "tel"}),
    "digits": (FieldType.TEXT, {"pattern": "digits"}, {"inputmode": "numeric"}),
    "postal": (FieldType.TEXT, {"pattern": "postal"}, {"autocomplete": "postal-code"}),
}


def test_each_type_asks_with_the_keyboard_that_fits(visit: Visit) -> None:
    fields = (
        a_field(name, kind, 1, (10, 10 + 5 * n, 30, 3), label=name, options=options)
        for n, (name, kind, options, _) in enumerate((name, *rest) for name, rest in FITTING.items())
    )
    page = visit(make_asking_port(*fields))
    for name, (_, _, expected) in FITTING.items():
        control = page.locator(f"[data-field=fld_{name}]")
        given = {attribute: control.get_attribute(attribute) for attribute in expected}
        assert given == expected and control.get_attribute("enterkeyhint") == "next", name


def test_a_number_that_may_be_negative_keeps_a_keyboard_with_a_minus(visit: Visit) -> None:
    page = visit(make_asking_port(a_field("change", FieldType.NUMBER, 1, (10, 10, 30, 3), label="Change")))
    assert page.locator("[data-field=fld_change]").get_attribute("inputmode") is None


# ---------- above the keyboard ----------


@pytest.mark.parametrize("screen", [{}, {"width": 1280, "height": 800}, {"width": 740, "height": 360}])
def test_the_active_field_stands_between_bar_and_dock_wherever_it_lies(
    visit: Visit, screen: dict[str, int]
) -> None:
    page = visit(a_contract_site(the_contract()), reduced_motion="reduce", **screen)
    expect(page.locator("#dock-text")).not_to_be_empty()
    for place in page.locator("button.field").all():
        place.evaluate("(one) => one.click()")
        page.keyboard.press("Escape") if page.locator("#adopt").is_visible() else None
        assert place.evaluate(SEEN), place.get_attribute("id")


@pytest.mark.parametrize("screen", [{"width": 360, "height": 740}, {"width": 390, "height": 844}])
def test_a_keyboard_over_the_page_hides_neither_the_bar_nor_the_field(
    visit: Visit, screen: dict[str, int]
) -> None:
    page = visit(a_contract_site(the_contract()), reduced_motion="reduce", **screen)
    page.locator("#f-fld_planters").click()
    expect(in_the_bar(page)).to_be_focused()
    page.evaluate(COVERED, KEYBOARD)
    dock, place = page.locator("#dock"), page.locator("#f-fld_planters")
    page.wait_for_function(
        "(bottom) => Math.abs(document.querySelector('#dock').getBoundingClientRect().bottom - bottom) < 1",
        arg=screen["height"] - KEYBOARD,
    )
    box = dock.bounding_box()
    assert box is not None and box["y"] > 0
    assert place.evaluate(SEEN)
    page.evaluate(COVERED, 0)
    expect(page.locator("#next")).to_be_in_viewport(ratio=1)


def test_a_page_that_shrinks_for_the_keyboard_keeps_the_field_in_sight(visit: Visit) -> None:
    page = visit(a_contract_site(the_contract()), reduced_motion="reduce")
    assert "interactive-widget=resizes-content" in str(
        page.locator("meta[name=viewport]").get_attribute("content")
    )
    page.locator("#f-fld_wishes").click()
    page.set_viewport_size({"width": 360, "height": 740 - KEYBOARD})
    page.wait_for_function(f"() => ({SEEN})(document.querySelector('#f-fld_wishes'))")
    expect(page.locator("#next")).to_be_in_viewport(ratio=1)


def test_the_bar_of_addresses_that_comes_and_goes_moves_nothing(visit: Visit) -> None:
    page = visit(a_contract_site(the_contract()), reduced_motion="reduce")
    page.locator("#f-fld_planters").click()
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(COVERED, 56)
    page.wait_for_function("() => document.documentElement.style.getPropertyValue('--kb') === '56px'")
    assert page.evaluate("scrollY") == 0


# ---------- the way ----------


def with_name_and_town() -> Document:
    fields = (
        a_field("name", FieldType.NAME, 1, (10, 10, 30, 3), label="Name"),
        a_field("town", FieldType.TEXT, 1, (10, 20, 30, 3), label="Town"),
        a_field("pay", FieldType.RADIO, 1, (10, 30, 30, 6), label="Payment", options={"options": ["a", "b"]}),
        a_field("note", FieldType.TEXT, 1, (10, 40, 30, 3), label="Note", required=False),
        a_field("ink", FieldType.SIGNATURE, 1, (10, 60, 30, 6), label="Signature"),
    )
    return a_document(a_recipient(fields), other())


def test_progress_begins_with_nothing_and_counts_what_the_signer_did(visit: Visit) -> None:
    page = visit(SigningSite(with_name_and_town()))
    meter = page.get_by_role("progressbar")
    expect(meter).to_have_attribute("aria-valuenow", "0")
    expect(meter).to_have_attribute("aria-valuemax", "3")
    expect(meter).to_have_attribute("aria-valuetext", "0 of 3 required fields filled in")
    page.locator("[data-view=form]").click()
    page.get_by_role("textbox", name="Town").fill("Wexcombe")
    expect(meter).to_have_attribute("aria-valuenow", "1")
    page.get_by_role("textbox", name="Name").fill("")
    expect(meter).to_have_attribute("aria-valuetext", "1 of 4 required fields filled in")


def test_next_passes_over_what_was_filled_in_already(visit: Visit) -> None:
    page = visit(SigningSite(with_name_and_town()))
    page.locator("#f-fld_pay").click()
    page.get_by_label("b", exact=True).check()
    page.keyboard.press("Escape")
    forward(page)
    expect(in_the_bar(page)).to_have_attribute("data-field", "fld_town")
    in_the_bar(page).fill("Wexcombe")
    forward(page)
    expect(in_the_bar(page)).to_have_attribute("data-field", "fld_note")
    expect(page.locator("#next")).to_have_text("Skip(4 of 5)")
    page.get_by_role("button", name="Previous").click()
    expect(in_the_bar(page)).to_have_attribute("data-field", "fld_pay")


def test_a_choice_and_a_signature_can_be_taken_back(visit: Visit) -> None:
    server = SigningSite(with_name_and_town())
    page = visit(server)
    page.locator("#f-fld_pay").click()
    clear = page.get_by_role("button", name="Clear Payment")
    expect(clear).to_be_hidden()
    page.get_by_label("a", exact=True).check()
    clear.click()
    expect(page.get_by_label("a", exact=True)).not_to_be_checked()
    expect(page.get_by_label("a", exact=True)).to_be_focused()
    expect(page.locator("#say")).to_have_text("Payment, required, empty")
    expect(page.locator("#f-fld_pay .chosen")).to_have_count(0)
    page.locator("#f-fld_ink").click()
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    expect(page.locator("#f-fld_ink img")).to_be_visible()
    page.get_by_role("button", name="Clear Signature").click()
    expect(page.locator("#f-fld_ink img")).to_have_count(0)
    expect(page.locator("#next")).to_have_text("Sign here(5 of 5)")
    expect(page.locator("#kept")).to_have_attribute("data-kept", "saved")
    page.reload()
    expect(page.locator("#dock-text")).not_to_be_empty()
    expect(page.locator("#f-fld_ink img")).to_have_count(0)
    expect(page.locator("#f-fld_pay .chosen")).to_have_count(0)


def test_a_choice_of_the_sender_that_is_taken_out_is_sent_as_empty(visit: Visit) -> None:
    choice = a_field(
        "pay",
        FieldType.RADIO,
        1,
        (28, 46, 54, 7.2),
        label="Payment",
        required=False,
        value="a",
        options={"options": ["a", "b"]},
    )
    server = make_asking_port(
        choice, a_field("ink", FieldType.SIGNATURE, 1, (11, 70, 40, 6), label="Signature")
    )
    page = visit(server)
    page.locator("#f-fld_pay").click()
    page.get_by_role("button", name="Clear Payment").click()
    page.locator("#f-fld_ink").click()
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    forward(page)
    expect(page.locator("#review")).to_contain_text("Left empty")
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).not_to_have_attribute("data-state", "open")
    [answers] = [call[1] for call in server.calls if call[0] == "complete"]
    assert answers["fld_pay"] == ""
