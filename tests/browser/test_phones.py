"""What phones do that a desk does not: input methods, digits of other scripts, browsers of some years ago."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from esign.core.document.document import FieldType as T
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient

Visit = Callable[..., Page]
OLD = """for (const name of ["popover", "showPopover", "hidePopover"]) delete HTMLElement.prototype[name];
delete AbortSignal.timeout;"""


def a_short_site() -> SigningSite:
    fields = (
        a_field("town", T.TEXT, 1, (10, 10, 40, 3), label="Town"),
        a_field("hours", T.NUMBER, 1, (10, 20, 40, 3), label="Hours"),
        a_field("phone", T.TEXT, 1, (10, 30, 40, 3), label="Phone", options={"pattern": "phone"}),
    )
    return SigningSite(a_document(a_recipient(fields)))


@pytest.mark.parametrize("how", [{"isComposing": True}, {"keyCode": 229}])
def test_enter_that_takes_a_word_of_an_input_method_does_not_leave_the_field(
    visit: Visit, how: dict[str, object]
) -> None:
    page = visit(a_short_site())
    page.locator("#next").tap()
    field = page.locator("#slot [data-field=fld_town]")
    field.fill("とうきょう")
    field.evaluate(
        "(one, how) => one.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, ...how }))",
        how,
    )
    expect(field).to_be_visible()
    field.press("Enter")
    expect(page.locator("#slot [data-field=fld_hours]")).to_be_visible()


@pytest.mark.parametrize(
    ("hours", "phone"),
    [
        ("٧٫٥", "٠١٥١ ٢٣٤ ٥٦٧٨"),
        ("۷,۵", "۰۱۵۱ ۲۳۴ ۵۶۷۸"),
        ("７．５", "０１５１　２３４　５６７８"),
        ("७.५", "०१५१ २३४ ५६७८"),
    ],
)
def test_digits_of_any_keyboard_are_taken(visit: Visit, hours: str, phone: str) -> None:
    page = visit(a_short_site())
    page.locator("#next").tap()
    for field, given in (("town", "Wexcombe"), ("hours", hours), ("phone", phone)):
        page.locator(f"#slot [data-field=fld_{field}]").fill(given)
        page.locator("#next").tap()
    for said in ("7.5", "0151 234 5678"):
        expect(page.locator("#review").get_by_text(said, exact=True)).to_be_visible()


def test_a_browser_without_popovers_has_its_menu(visit: Visit) -> None:
    page = visit(a_short_site())
    page.add_init_script(OLD)
    page.reload()
    menu, opener = page.locator("#menu"), page.locator("[popovertarget=menu]")
    expect(page.locator("#next")).to_be_enabled()
    opener.tap()
    expect(menu).to_be_visible()
    opener.tap()
    expect(menu).to_be_hidden()
    opener.tap()
    page.locator("#title").tap()
    expect(menu).to_be_hidden()
    opener.tap()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(opener).to_be_focused()
    opener.tap()
    menu.locator("[data-open='#decline']").tap()
    expect(page.locator("#decline")).to_be_visible()
    page.locator("#decline-done").tap()
    expect(page.locator("body")).to_have_attribute("data-state", "declined")
