"""A signer who switches to German, one who is asked in Arabic, and what they see, on a phone and on a desk."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.document import consent
from esign.core.document.document import FieldType, Role
from esign.core.language import LANGUAGES
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.every import choose
from tests.web.signing.site import STATES, SigningSite, a_document, a_field, a_recipient, all_fields, other

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
SPOKEN = choose(["ja", "ar"], ["de"])
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"


def short(locale: str | None = None) -> SigningSite:
    fields = (
        a_field("hours", FieldType.NUMBER, 1, (28, 30, 30, 3), label="Hours", options={"min": 1, "max": 2.5}),
        a_field("signature", FieldType.SIGNATURE, 1, (11, 70, 40, 6), label="Signature"),
    )
    return SigningSite(a_document(replace(a_recipient(fields), locale=locale), other()))


def sign_by_typing(page: Page) -> None:
    page.locator("#next").click()
    expect(page.locator("#adopt")).to_be_visible()
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    page.locator("#next").click()
    expect(page.locator("#finish")).to_be_visible()


def finish(page: Page) -> None:
    page.locator("[data-action=finish]").click()
    expect(page.locator("#consent-error")).to_be_visible()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).not_to_have_attribute("data-state", "open")


def test_a_signer_switches_to_german_and_signs_in_it(visit: Visit) -> None:
    site = short()
    page = visit(site)
    page.locator("[popovertarget=menu]").click()
    page.get_by_role("link", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.reload()
    expect(page.locator("#dock-text")).to_contain_text("2 Felder auszufüllen")
    page.locator("#next").click()
    page.locator("#slot [data-field=fld_hours]").fill("3")
    page.locator("#next").click()
    expect(page.locator("#slot .error")).to_have_text("Die größte Zahl ist hier 2,5.")
    page.locator("#slot [data-field=fld_hours]").fill("2,5")
    page.locator("#next").click()
    sign_by_typing(page)
    expect(page.locator("#finish-title")).to_have_text("Prüfen und unterschreiben")
    finish(page)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("h1")).to_have_text("Danke, Sie haben unterschrieben")
    assert next(call for call in site.calls if call[0] == "complete")[2] == consent.hash_wording("de")


def test_a_recipient_is_asked_in_arabic_and_signs_from_right_to_left(visit: Visit) -> None:
    site = short("ar")
    page = visit(site)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("#dock-text")).to_contain_text("حقلان للتعبئة")
    mark, menu = (page.locator(f".bar {part}").bounding_box() for part in (".mark", "[popovertarget=menu]"))
    assert mark is not None and menu is not None and mark["x"] > menu["x"]
    page.locator("#next").click()
    page.locator("#slot [data-field=fld_hours]").fill("2")
    page.locator("#next").click()
    assert page.evaluate(SIDEWAYS) <= 0
    sign_by_typing(page)
    finish(page)
    expect(page.locator("h1")).to_have_text("شكرًا لكم، تم توقيعكم")
    assert next(call for call in site.calls if call[0] == "complete")[2] == consent.hash_wording("ar")


@pytest.mark.parametrize("tag", SPOKEN)
@pytest.mark.parametrize("screen", ON_A_DESK)
def test_its_pages_fit_and_are_kept_as_pictures(
    visit: Visit, shot: Shot, screen: dict[str, Any], tag: str
) -> None:
    page = visit(short(tag), **screen)
    shot(page, f"{tag}-1-arrival")
    page.locator("[popovertarget=menu]").click()
    expect(page.locator("#menu [aria-current]")).to_have_text(LANGUAGES[tag].name)
    shot(page, f"{tag}-2-menu")
    page.keyboard.press("Escape")
    page.locator("#next").click()
    page.locator("#slot [data-field=fld_hours]").fill("2")
    page.locator("#next").click()
    page.locator("#next").click()
    shot(page, f"{tag}-3-signature")
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    page.locator("#next").click()
    shot(page, f"{tag}-4-finish")
    assert page.evaluate(SIDEWAYS) <= 0


@pytest.mark.parametrize("tag", SPOKEN)
@pytest.mark.parametrize("screen", ON_A_PHONE)
@pytest.mark.parametrize("name", ["not_yet", "completed", "unknown"])
def test_its_states_fit_and_may_be_switched_back(
    visit: Visit, shot: Shot, screen: dict[str, Any], tag: str, name: str
) -> None:
    state, document = STATES[name]
    page = visit(SigningSite(document, state), **screen)
    page.locator("[popovertarget=menu]").click()
    page.get_by_role("link", name=LANGUAGES[tag].name).click()
    expect(page.locator("html")).to_have_attribute("lang", tag)
    assert page.evaluate(SIDEWAYS) <= 0
    shot(page, f"{tag}-{name}")
    page.locator("[popovertarget=menu]").click()
    page.get_by_role("link", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize("tag", LANGUAGES)
def test_no_button_or_line_is_wider_than_a_phone(visit: Visit, tag: str) -> None:
    me = replace(a_recipient(all_fields()), locale=tag)
    page = visit(SigningSite(a_document(me, other())), width=320)
    assert page.evaluate(SIDEWAYS) <= 0
    page = visit(
        SigningSite(a_document(replace(a_recipient(()), locale=tag, role=Role.APPROVER), other())), width=320
    )
    assert page.evaluate(SIDEWAYS) <= 0
