"""What stands in the place of a field before it is filled in, and how a long name is typed."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from esign.core.document.document import FieldType
from esign.core.document.field_types import FIELD_TYPES
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient, other

Visit = Callable[..., Page]
INITIALS = FIELD_TYPES[FieldType.INITIALS]
LONG = "María del Carmen Fernández-Villaverde y Ortiz de Zárate, Countess of Montalbán and Alcalá de Henares"
CUT = "(words) => words.scrollWidth > words.clientWidth"


def a_site(name: str = "Jonas Weber") -> SigningSite:
    size = (INITIALS.width, INITIALS.height)
    fields = (
        a_field("initials", FieldType.INITIALS, 1, (10, 10, *size)),
        a_field("hours", FieldType.NUMBER, 1, (10, 30, 30, 3), label="Hours", options={"decimals": 0}),
        a_field("wishes", FieldType.TEXT, 1, (10, 40, 40, 8), label="Wishes", options={"multiline": True}),
        a_field("signature", FieldType.SIGNATURE, 1, (10, 60, 25, 6)),
    )
    their = replace(other(), fields=(a_field("theirs", FieldType.INITIALS, 1, (60, 10, *size)),))
    return SigningSite(a_document(replace(a_recipient(fields), name=name), their))


@pytest.mark.parametrize("width", [320, 360, 412, 768, 1280])
def test_initials_of_the_default_size_show_their_whole_name_or_a_pen(visit: Visit, width: int) -> None:
    page = visit(a_site(), width=width, height=800)
    place = page.locator("#f-fld_initials")
    words, pen = place.locator(".f-text"), place.locator("svg")
    page.wait_for_function("() => document.querySelector('#f-fld_initials').clientWidth > 0")
    shown = words.evaluate("(one) => getComputedStyle(one).clipPath === 'none'")
    assert not (shown and words.evaluate(CUT))
    expect(pen).to_be_visible(visible=not shown or pen.is_visible())
    expect(place).to_have_accessible_name("Initials, required, empty")
    theirs = page.locator("#f-fld_theirs .f-text")
    assert not theirs.evaluate(CUT) or theirs.evaluate("(one) => getComputedStyle(one).clipPath !== 'none'")


def test_the_sheet_for_initials_asks_for_initials(visit: Visit) -> None:
    page = visit(a_site())
    page.locator("#next").click()
    expect(page.locator("#next")).to_have_text("Add initials(1 of 4)")
    expect(page.locator("#slot").get_by_role("button")).to_have_count(0)
    page.locator("#next").click()
    sheet = page.get_by_role("dialog", name="Your initials")
    expect(sheet).to_contain_text("Draw your initials here")
    expect(sheet.get_by_role("img", name="Area to draw your initials")).to_be_visible()
    expect(sheet.get_by_text("signature")).to_have_count(0)


def test_a_whole_number_is_asked_for_without_decimals(visit: Visit) -> None:
    page = visit(a_site())
    page.locator("#f-fld_hours").click()
    page.locator("#slot [data-type=number]").fill("many")
    page.locator("#next").click()
    expect(page.locator("#slot .error")).to_have_text("Please enter a whole number.")


def test_several_lines_begin_below_the_edge_and_a_full_box_is_used_whole(visit: Visit) -> None:
    page = visit(a_site(), width=1280, height=900)
    page.locator("#f-fld_wishes").click()
    box, place = page.locator("#slot textarea"), page.locator("#f-fld_wishes")
    words = place.locator(".f-text")
    box.fill("Please ring twice.\nThe dog is friendly.")
    above = "(one) => Number(one.style.getPropertyValue('--above'))"
    assert words.evaluate(above) == 2
    box.fill("\n".join(["Ring twice"] * 40))
    assert 0 <= words.evaluate(above) < 1


def test_a_long_name_is_typed_on_several_lines_and_its_end_is_told(visit: Visit) -> None:
    page = visit(a_site(LONG))
    page.locator("#f-fld_signature").click()
    page.locator("#tab-type").click()
    seen = page.locator("#p-type .style:has(:checked) .typed")
    assert len(str(seen.evaluate("(one) => one.textContent")).split("\n")) == 4
    full = page.locator("#typed-full")
    expect(full).to_have_role("status")
    expect(full).to_have_text("That’s all that fits: 100 characters. Shorten it or draw it instead.")
    page.locator("#typed-text").fill("María Fernández")
    expect(full).to_be_empty()
    expect(seen).to_have_text("María Fernández")
    page.locator("#typed-text").fill(LONG[:70])
    page.locator("#adopt-done").click()
    tall = page.locator("#f-fld_signature img").evaluate("(one) => one.naturalHeight / one.naturalWidth")
    assert tall > 0.15, "on lines"
