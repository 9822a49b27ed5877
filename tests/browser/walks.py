"""Ways through everything a signer can meet: each stops where there is something to look at, and names it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, expect

from esign.core.actor import Mode
from esign.core.document.challenge import ChallengeStanding, ChallengeStep
from esign.core.document.document import Role
from esign.core.errors import Problem
from esign.core.instant import MINUTE, SECOND
from esign.demo import contract
from tests.browser.sample import a_contract_site, fields, the_contract, translate_document
from tests.web.signing.site import NOW, STATES, SigningSite, a_document, a_recipient, other

Stops = Iterator[str]
GIVEN = {
    "text": "18 Market Row, Wexcombe",
    "number": "12",
    "fld_phone": "0151 234 5678",
    "fld_start": "2026-12-15",
    "name": "Tomas Reyes",
    "email": "tomas@copperkettle.example",
    "date": "2027-03-01",
}


@dataclass(frozen=True)
class Walk:
    """`start` makes the server's side, in a language; `how` says more about the visit."""

    stops: Callable[[Page], Stops]
    start: Callable[[str], SigningSite]
    how: Mapping[str, Any] = field(default_factory=dict)


# ---------- signing ----------


def look_around(page: Page) -> Stops:
    expect(page.locator("#dock-text")).not_to_be_empty()  # by the script, which hears presses from then on
    yield "arrival"
    page.locator("[popovertarget=menu]").click()
    yield "menu"
    page.keyboard.press("Escape")
    page.locator("#where").press("Enter")  # on a phone it shows itself while one scrolls
    expect(page.locator("#goto")).to_be_visible()
    yield "go-to-page"
    page.keyboard.press("Escape")
    page.locator(".end [data-action=decline]").click()
    expect(page.locator("#decline")).to_be_visible()
    yield "decline"
    page.keyboard.press("Escape")
    page.locator("[data-view=form]").click()
    page.evaluate("scrollTo(0, 0)")
    yield "form"
    page.locator("[popovertarget=menu]").click()
    page.locator("#menu [data-text]").click()
    expect(page.locator(".text .form-page").first).to_be_visible()
    yield "text"


def answer(page: Page) -> bool:
    """Whether what the bar asks for was anything but ink."""
    control = page.locator("#slot [data-field]").first
    kind = control.get_attribute("data-type")
    if kind in ("radio", "checkbox"):
        control.check()
    elif kind == "dropdown":
        control.select_option(index=1)
    elif kind in ("signature", "initials"):
        return False
    elif not control.input_value():
        control.fill(GIVEN.get(str(control.get_attribute("data-field"))) or GIVEN[str(kind)])
    return True


def put_ink(page: Page, kind: str) -> Stops:
    """By typing; once that was done, a press puts it in place."""
    page.locator("#next").click()
    if not page.locator("#adopt").is_visible():
        return
    for tab in page.locator("#adopt [role=tab]:visible").all():
        tab.click()
        yield f"{kind}-{tab.get_attribute('data-mode')}"
    page.locator("#tab-draw").click()
    page.locator("#adopt-done").click()
    expect(page.locator("#adopt-error")).to_be_visible()
    yield f"{kind}-nothing-drawn"
    page.locator("#tab-type").click()
    page.locator("#adopt-done").click()
    expect(page.locator("#adopt")).to_be_hidden()
    yield f"{kind}-placed"


def sign(page: Page) -> Stops:
    """From the first field to the page after, stopping at the first field of each kind."""
    seen = set()
    expect(page.locator("#dock-text")).not_to_be_empty()  # by the script, which hears presses from then on
    page.locator("#next").click()
    while not page.locator("#finish").is_visible():
        step = page.locator("#slot [data-step]")
        at, kind = step.get_attribute("data-step"), str(step.get_attribute("data-kind"))
        if kind not in seen:
            yield f"field-{kind}"
        if not answer(page):
            yield from put_ink(page, kind)
        seen.add(kind)
        page.locator("#next").click()
        expect(page.locator(f"#slot [data-step={at}]")).to_have_count(0)
        if page.locator("#slot").is_hidden() and not page.locator("#finish").is_visible():
            yield "all-filled"
            page.locator("#next").click()
    yield "finish"
    page.locator("#finish-done").click()
    yield "finish-missing"
    page.locator("#consent").check()
    page.locator("#finish-done").click()
    expect(page.locator("body")).not_to_have_attribute("data-state", "open")
    yield "finished"


def be_corrected(page: Page) -> Stops:
    """What is wrong stands at its field, and what the service refuses in the summary too."""
    expect(page.locator("#dock-text")).not_to_be_empty()
    page.locator("#f-fld_planters").click()
    page.locator("#slot [data-type=number]").fill("400")
    page.locator("#next").click()
    expect(page.locator("#slot .error")).to_be_visible()
    yield "field"
    page.locator("#slot [data-type=number]").fill("4")
    page.locator("#next").click()
    page.locator("#slot [data-type=text]").fill("Bell\u0007")
    page.locator("#next").click()
    page.locator("#consent").check()
    page.locator("#finish-done").click()
    expect(page.locator("#problems")).to_be_visible()
    yield "refused"
    page.evaluate("scrollTo(0, 0)")
    yield "summary"


def lose(page: Page) -> Stops:
    """The connection, then the session."""
    expect(page.locator("#dock-text")).not_to_be_empty()
    page.locator("#f-fld_planters").click()
    page.locator("#slot [data-type=number]").fill("4")
    expect(page.locator("[data-kept=saved]")).to_be_visible()
    yield "saved"
    page.context.set_offline(True)
    page.locator("#slot [data-type=number]").fill("5")
    expect(page.locator("[data-kept=unsaved]")).to_be_visible()
    yield "unsaved"
    page.route("**/draft", lambda route: route.fulfill(json={"state": "code"}))
    page.context.set_offline(False)
    expect(page.locator("#again")).to_be_visible()
    yield "again"


# ---------- the other parts, and the pages that say one thing ----------


def approve(page: Page) -> Stops:
    yield "arrival"
    page.locator("#next").click()
    yield "sheet"
    page.locator("#consent").check()
    page.locator("#finish-done").click()
    expect(page.locator("body")).not_to_have_attribute("data-state", "open")
    yield "done"


def only_look(page: Page) -> Stops:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    yield "page"


def read_on(page: Page) -> Stops:
    yield "arrival"
    page.locator("#page-2").scroll_into_view_if_needed()
    yield "page-2"


def enter_code(page: Page) -> Stops:
    yield "page"
    page.locator("#code").fill("12")
    page.locator("[data-action=enter-code]").click()
    expect(page.locator("#code-error")).to_be_visible()
    yield "wrong"


def ask_for_code(page: Page) -> Stops:
    page.locator("[data-action=send-code]").click()
    expect(page.locator("#question")).to_be_visible()
    yield "question"


def switch(page: Page) -> Stops:
    page.locator("[popovertarget=menu]").click()
    yield "languages"


def renew(page: Page) -> Stops:
    page.locator("[data-action=renew]").click()
    expect(page.locator("#renew-title")).to_be_visible()
    yield "question"


def late(page: Page) -> Stops:
    page.clock.fast_forward(31_000)
    expect(page.locator(".disc.warn")).to_be_visible()
    yield "page"


# ---------- all of them ----------


def signing(tag: str) -> SigningSite:
    return a_contract_site(the_contract(tag))


def every_kind(tag: str) -> SigningSite:
    return SigningSite(translate_document(a_document(mode=Mode.TEST), tag))


def two_fields(tag: str) -> SigningSite:
    asked = [one for one in fields(contract.CAFE_FIELDS, tag) if one.id in ("fld_planters", "fld_wishes")]
    me = a_recipient(tuple(asked), role=Role.APPROVER)
    return a_contract_site(translate_document(a_document(me, other()), tag))


def state(name: str) -> Callable[[str], SigningSite]:
    there, document = STATES[name]
    return lambda tag: a_contract_site(translate_document(document, tag), there)


def fault(code: str) -> Callable[[str], SigningSite]:
    def start(tag: str) -> SigningSite:
        made = state("expired")(tag)
        made.broken = Problem(code, retry_after=540)
        return made

    return start


def code(method: str, standing: ChallengeStanding) -> Callable[[str], SigningSite]:
    def start(tag: str) -> SigningSite:
        made = a_contract_site(the_contract(tag, authentication=method), "code")
        made.standing = standing
        return made

    return start


CODES = {
    "ask": ("email_code", ChallengeStanding(ChallengeStep.ASK, at=NOW)),
    "expired": ("email_code", ChallengeStanding(ChallengeStep.EXPIRED, at=NOW)),
    "spent": ("email_code", ChallengeStanding(ChallengeStep.SPENT, at=NOW + 20 * SECOND)),
    "wait": ("access_code", ChallengeStanding(ChallengeStep.WAIT, at=NOW + 14 * MINUTE)),
    "blocked": ("access_code", ChallengeStanding(ChallengeStep.BLOCKED)),
}
ENTER = ChallengeStanding(ChallengeStep.ENTER, 5, NOW + 42 * SECOND, NOW + 10 * MINUTE)
REFUSED = {"excused": "Failed to load resource"}  # the browser's own line about an answer that is not 2xx
FAULTS = ("not_found", "rate_limited", "internal_error", "unavailable", "recipient_not_active")
WALKS: dict[str, Walk] = {
    "look": Walk(look_around, signing),
    "sign": Walk(sign, signing),
    "kinds": Walk(sign, every_kind),
    "correct": Walk(be_corrected, two_fields, REFUSED),
    "lose": Walk(lose, two_fields, REFUSED),
    "approve": Walk(approve, lambda tag: a_contract_site(the_contract(tag, role=Role.APPROVER))),
    "read": Walk(read_on, lambda tag: a_contract_site(the_contract(tag, role=Role.VIEWER))),
    **{f"state-{name}": Walk(only_look, state(name)) for name in STATES},
    "state-sealing-late": Walk(late, state("sealing"), {"clock": True}),
    "state-renew": Walk(renew, state("expired")),
    **{f"fault-{name}": Walk(only_look, fault(name), REFUSED) for name in FAULTS},
    "state-languages": Walk(switch, state("completed")),
    "code-enter": Walk(enter_code, code("email_code", ENTER)),
    "code-question": Walk(ask_for_code, code(*CODES["ask"])),
    "code-agreed": Walk(enter_code, code("access_code", ChallengeStanding(ChallengeStep.ENTER, 5)), REFUSED),
    **{f"code-{name}": Walk(only_look, code(*given)) for name, given in CODES.items()},
}
BESIDE = {
    "not-set-up": "/",
    "verify": "/verify",
    "api": "/api",
}  # pages of the whole program, in English only
