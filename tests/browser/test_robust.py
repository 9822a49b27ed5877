"""Whatever is entered, changed or missing ends in a clear state: a sentence where it is wrong, and nothing lost."""

from collections.abc import Callable, Iterator
from typing import Any
from unicodedata import category, normalize

import pytest
from playwright.sync_api import Page, Route, expect

from esign.core.document.document import Field, FieldType, Role
from tests.browser.conftest import Visits
from tests.browser.screens import ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.journeys.api import a_request
from tests.pdf.sealing import SCRIPTS, text_of
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient, other

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx


# ---------- wrong values ----------

T = FieldType
# Type, options, what is entered, and the sentence about it.
WRONG: dict[str, tuple[FieldType, dict[str, Any], str, str]] = {
    "signature": (T.SIGNATURE, {}, "", "Please sign here."),
    "initials": (T.INITIALS, {}, "", "Add your initials here."),
    "name": (T.NAME, {"autofill": False}, "n" * 201, "Please enter at most 200 characters."),
    "nobody": (T.NAME, {"autofill": False}, "  ", "Please fill this in."),
    "email": (T.EMAIL, {"autofill": False}, "jonas@office", "Please enter an email address"),
    "early": (T.DATE, {"autofill": False, "min": "2026-12-14"}, "2026-12-13", "14 December 2026"),
    "late": (T.DATE, {"autofill": False, "max": "2027-06-30"}, "2027-07-01", "30 June 2027"),
    "short": (T.TEXT, {"minLength": 5}, "four", "Please enter at least 5 characters."),
    "long": (T.TEXT, {"maxLength": 5}, "six 👍👍", "Please enter at most 5 characters."),
    "digits": (T.TEXT, {"pattern": "digits"}, "12a", "Use digits only."),
    "letters": (T.TEXT, {"pattern": "letters"}, "R2", "Use letters only."),
    "alphanumeric": (T.TEXT, {"pattern": "alphanumeric"}, "a-b", "Use letters and digits only."),
    "phone": (T.TEXT, {"pattern": "phone"}, "call me", "Please enter a phone number"),
    "postal": (T.TEXT, {"pattern": "postal"}, "§", "Please enter a postcode, such as SW1A 1AA."),
    "words": (T.NUMBER, {}, "seven", "Please enter a number"),
    "small": (T.NUMBER, {"min": 1}, "0", "The smallest number here is 1."),
    "large": (T.NUMBER, {"max": 12}, "12.5", "The largest number here is 12."),
    "whole": (T.NUMBER, {"decimals": 0}, "1.5", "Please enter a whole number."),
    "exact": (T.NUMBER, {"decimals": 2}, "1.555", "Use at most 2 decimal places"),
    "tick": (T.CHECKBOX, {}, "", "Please tick this box."),
    "radio": (T.RADIO, {"options": ["a", "b"]}, "", "Please choose one of the options."),
    "dropdown": (T.DROPDOWN, {"options": ["a", "b"]}, "", "Please choose one of the options."),
}
FEW: dict[str, Any] = {"group": "few", "minChecked": 2}
MANY: dict[str, Any] = {"group": "many", "maxChecked": 2}


def a_place(number: int, name: str, kind: FieldType, options: dict[str, Any], **more: Any) -> Field:
    box = (10, 3 + 3.3 * number, 25, 2.8)
    return a_field(name, kind, 1, box, **{"label": name, "required": True, "options": options, **more})


def every_rule() -> SigningSite:
    """Each kind of wrong value has a field; two groups of boxes, of which too few and too many are ticked."""
    places = [a_place(n, name, *rule[:2]) for n, (name, rule) in enumerate(WRONG.items())]
    for group in (FEW, MANY):
        for n in range(3):
            places.append(a_place(len(places), f"{group['group']}{n}", T.CHECKBOX, group, required=False))
    return SigningSite(a_document(a_recipient(tuple(places)), other()))


def enter_everything_wrong(page: Page) -> dict[str, str]:
    """What stands in the controls afterwards."""
    for name, (kind, _, given, _) in WRONG.items():
        if given and kind not in (T.SIGNATURE, T.INITIALS):
            page.locator(f"#answers [data-field=fld_{name}]").fill(given)
    for name in ("few0", "many0", "many1", "many2"):
        page.locator(f"#answers [data-field=fld_{name}]").check()
    return standing(page)


def standing(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.locator("#answers [data-field]:is(input, select, textarea)").evaluate_all(
        "(all) => Object.fromEntries(all.map((one, at) => [at + one.dataset.field, one.value + one.checked]))"
    )
    return found


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_wrong_values_get_a_sentence_each_and_one_list_and_nothing_is_lost(
    visit: Visit, shot: Shot, screen: dict[str, Any]
) -> None:
    site = every_rule()
    page = visit(site, **screen)
    expect(page.locator("body[data-alive]")).to_be_visible()
    page.get_by_role("button", name="Form", exact=True).click()
    entered = enter_everything_wrong(page)
    page.locator("#next").click()
    problems = page.locator("#problems")
    expect(problems.locator("li")).to_have_count(len(WRONG) + 2)
    for at, (name, (_, _, _, sentence)) in enumerate(WRONG.items()):
        expect(page.locator(f"#e-fld_{name}")).to_contain_text(sentence)
        expect(problems.locator("li").nth(at)).to_contain_text(f"{name}: ")
        expect(problems.locator("li").nth(at)).to_contain_text(sentence)
        expect(page.locator(f"[data-field=fld_{name}]").first).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#e-fld_few0")).to_have_text("Tick at least 2 of these boxes.")
    expect(page.locator("#e-fld_many0")).to_have_text("Tick at most 2 of these boxes.")
    expect(page.locator("[data-field=fld_signature]:visible")).to_be_focused()
    assert standing(page) == entered
    shot(page, "wrong-values")
    problems.get_by_role("button", name="email", exact=True).click()
    expect(page.locator("[data-field=fld_email]")).to_be_focused()
    page.keyboard.type(".example")
    expect(page.locator("#e-fld_email")).to_be_hidden()
    expect(problems.locator("li")).to_have_count(len(WRONG) + 1)
    assert [call for call in site.calls if call[0] == "complete"] == []


def test_on_the_way_through_the_pages_a_wrong_value_holds_its_place(visit: Visit) -> None:
    fields = (
        a_place(0, "hours", T.NUMBER, {"max": 12}),
        a_place(1, "email", T.EMAIL, {"autofill": False}),
    )
    page = visit(SigningSite(a_document(a_recipient(fields), other())))
    page.locator("#next").click()
    page.locator("#slot [data-field=fld_hours]").fill("40")
    page.locator("#next").click()
    expect(page.locator("#e-fld_hours")).to_have_text("The largest number here is 12.")
    expect(page.locator("#problems")).to_contain_text("hours: The largest number here is 12.")
    expect(page.locator("#slot [data-field=fld_hours]")).to_be_focused()
    expect(page.locator("#slot [data-field=fld_hours]")).to_have_value("40")
    page.locator("#slot [data-field=fld_hours]").fill("4")
    expect(page.locator("#problems")).to_be_hidden()
    page.locator("#next").click()
    expect(page.locator("#slot [data-field=fld_email]")).to_be_focused()


# ---------- what only the server can refuse ----------


def change_answers(**answers: Any) -> Callable[[Route], None]:
    """The answers as a script of somebody else's would change them on their way."""

    def change(route: Route) -> None:
        given = route.request.post_data_json
        assert isinstance(given, dict)
        route.continue_(post_data={**given, "answers": {**given["answers"], **answers}})

    return change


TAMPERED: dict[str, tuple[Any, str, str]] = {
    "number": ("1e9", "Please enter a number, such as 12 or 3.50.", "in anderer Form"),
    "choice": ("Gold", "Please choose one of the options.", "nicht angenommen"),
    "text": ("x" * 61, "Please enter at most 60 characters.", "zu lang"),
    "tick": ("yes", "Tick the box or leave it empty.", "nicht angenommen"),
    "date": ("2026-02-30", "This date does not exist.", "in anderer Form"),
}


def to_tamper(tag: str = "en") -> SigningSite:
    fields = (
        a_place(0, "text", T.TEXT, {"maxLength": 60}, value="Linden"),
        a_place(1, "number", T.NUMBER, {}, value="7"),
        a_place(2, "choice", T.RADIO, {"options": ["Ash", "Oak"]}, value="Oak"),
        a_place(3, "tick", T.CHECKBOX, {}, value=True),
        a_place(4, "date", T.DATE, {"autofill": False}, value="2026-12-15"),
    )
    return SigningSite(a_document(a_recipient(fields, role=Role.APPROVER, locale=tag), other()))


def finish(page: Page) -> None:
    page.locator("#next").click()
    if not page.locator("#finish").is_visible():
        page.locator("#next").click()
    page.locator("#consent").check()
    page.locator("#finish-done").click()


@pytest.mark.parametrize("tag", ["en", "de"])
@pytest.mark.parametrize("name", TAMPERED)
def test_what_the_server_refuses_is_told_at_its_field_in_the_readers_language(
    visit: Visit, name: str, tag: str
) -> None:
    given, english, german = TAMPERED[name]
    site = to_tamper(tag)
    page = visit(site, excused=REFUSED)
    expect(page.locator("body[data-alive]")).to_be_visible()
    page.route("**/complete", change_answers(**{f"fld_{name}": given}))
    before = standing(page)
    finish(page)
    sentence = english if tag == "en" else german
    expect(page.locator(f"#e-fld_{name}")).to_contain_text(sentence)
    expect(page.locator("#problems li")).to_have_count(1)
    expect(page.locator("#problems li")).to_contain_text(sentence)
    expect(page.locator("#finish")).to_be_hidden()
    expect(page.locator("#slot :focus")).to_have_attribute("data-field", f"fld_{name}")
    page.keyboard.press("Escape")
    assert standing(page) == before
    assert site.state == "open"


def test_a_field_of_somebody_else_can_neither_be_pressed_nor_reached_nor_sent(visit: Visit) -> None:
    site = SigningSite(a_document(a_recipient((), role=Role.APPROVER), other()))
    page = visit(site, excused=REFUSED)
    theirs = page.locator("#f-fld_o_signature")
    theirs.scroll_into_view_if_needed()
    expect(theirs).to_have_text("Mira Okafor signs here")
    theirs.click(force=True)
    expect(page.locator("#adopt")).to_be_hidden()
    assert theirs.evaluate("(one) => [one.tagName, one.tabIndex]") == ["DIV", -1]
    assert page.locator("[data-field^=fld_o_]").count() == 0
    page.route(
        "**/complete", change_answers(fld_o_signature={"kind": "typed", "text": "Mira Okafor", "hand": "a"})
    )
    finish(page)
    expect(page.locator("#finish-error")).to_have_text("This field is not yours to fill in.")
    assert site.state == "open" and site.document.recipients[1].fields[0].value is None


# ---------- names ----------


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("site"), organisation={"name": "Fernhill Gardens"}) as stage:
        yield stage


def letters(text: str) -> set[str]:
    """Without their order, which readers of a PDF tell differently from right to left."""
    return {c for c in normalize("NFKC", text) if category(c)[0] in "LS"}


@pytest.mark.parametrize("script", ["Arabic", "Devanagari", "Thai", "emoji"])
def test_a_name_in_any_script_travels_from_the_keyboard_to_the_seal(
    visit: Visits, stage: BrowserStage, script: str
) -> None:
    name, email = SCRIPTS[script], f"{script.lower()}@example.test"
    place = {"page": 1, "x": 10, "width": 60}
    fields = [
        {"type": "name", "y": 10, "height": 3, "autofill": False, **place},
        {"type": "signature", "y": 30, "height": 8, **place},
    ]
    body = a_request(recipients=[{"name": name, "email": email, "fields": fields}], send=True)
    document = stage.do(stage.site.api.ok("POST", "/documents", body))["id"]
    stage.work("mail")
    page = visit.at(stage.link(email), excused=REFUSED)
    page.locator("#next").click()
    page.locator("#slot [data-type=name]").fill(name)
    page.locator("#next").click()
    page.locator("#next").click()
    page.locator("#tab-type").click()
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#adopt")).to_be_hidden()
    page.locator("#next").click()
    expect(page.locator("#review")).to_contain_text(name)
    page.locator("#consent").check()
    page.locator("#finish-done").click()
    expect(page.locator("body")).to_have_attribute("data-state", "sealing")
    stage.work("seal")
    expect(page.locator("body")).to_have_attribute("data-state", "completed")
    [mine] = stage.do(stage.site.api.get(document))["recipients"]
    assert (mine["name"], mine["fields"][0]["value"]) == (name, name)
    sealed = stage.do(stage.site.api.file(document))
    assert letters(name) <= letters(text_of(sealed, 1)), "it is not on the page"
    assert letters(name) <= letters(text_of(sealed, 2)), "it is not on the certificate"
