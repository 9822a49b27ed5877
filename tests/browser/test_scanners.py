"""What machines do that open every link of every mail, run its scripts and press what there is to press: nothing."""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from esign.actions.mail import embedded_outbox
from esign.core.actor import Mode
from tests.browser.stage import BrowserStage, a_stage
from tests.every import EVERY
from tests.journeys.api import Api, a_request
from tests.journeys.letters import part

ADDRESS = re.compile(r"https?://[^\s\"'<>)]+")
# Everything that offers an act, the first button of the page's own part, and the filled ones.
PRESSABLE = """() => {
  const all = [...document.querySelectorAll("button, [data-action]")];
  const seen = all.filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled);
  const first = seen.find((one) => one.closest("main, .dock"));
  return seen.filter((one) => one === first || one.matches(".primary, [data-action]")).map((one) => all.indexOf(one));
}"""
# Before any script of the page: how many of its requests have no answer yet.
COUNTED = """
  window.pending = 0;
  const ask = window.fetch;
  window.fetch = (...given) => { pending++; return ask(...given).finally(() => pending--); };
"""
VIEWED = {"recipient.viewed", "recipient.authenticated"}  # by the link itself
NAMES = ("ada", "bob", "vera", "carl")
ADA, BOB, VERA, CARL = ({"name": name.capitalize(), "email": f"{name}@example.test"} for name in NAMES)
FIELDS = [{"type": kind, "page": 1, "x": 10, "y": 10 * n} for n, kind in enumerate(("text", "signature"), 1)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    organisation = {"name": "Fernhill Gardens", "reply_to": "office@fernhill.example"}
    with a_stage(tmp_path_factory.mktemp("site"), organisation=organisation) as stage:
        yield stage


class ScannedWorld:
    """Documents of test mode in every state, and the addresses in all mails about them."""

    def __init__(self, stage: BrowserStage) -> None:
        self.stage = stage
        self.api: Api = stage.do(stage.site.key(mode=Mode.TEST))
        self.documents: list[str] = []

    def send_document(self, *recipients: dict[str, Any]) -> str:
        body = a_request(recipients=list(recipients), send=True)
        self.documents.append(str(self.stage.do(self.api.ok("POST", "/documents", body))["id"]))
        self.mail()
        return self.documents[-1]

    def simulate(self, document: str, *actions: str) -> None:
        for action in actions:
            body = {"action": action}
            self.stage.do(self.api.ok("POST", f"/test/documents/{document}/simulate", body))
        self.mail()

    def mail(self) -> None:
        self.stage.do(self.stage.site.work("mail"))

    def fill(self) -> None:
        self.send_document({**ADA, "fields": FIELDS}, {**BOB, "role": "approver"}, {**VERA, "role": "viewer"})
        self.simulate(self.send_document(ADA, BOB), "complete")
        self.simulate(self.send_document(ADA), "remind")
        self.simulate(self.send_document(ADA, {**CARL, "role": "cc"}), "complete")
        self.stage.work("seal")
        self.simulate(self.send_document(ADA, BOB), "decline")
        self.simulate(self.send_document(ADA, BOB), "expire")
        cancelled, corrected = self.send_document(ADA, BOB), self.send_document(ADA)
        self.stage.do(self.api.ok("POST", f"/documents/{cancelled}/cancel", {"reason": "A mistake."}))
        [ada] = self.stage.do(self.api.get(corrected))["recipients"]
        self.stage.do(self.api.ok("PATCH", f"/documents/{corrected}/recipients/{ada['id']}", BOB))
        for _ in range(2):
            self.send_document({**ADA, "authentication": "email_code"})
        self.stage.do(self.stage.do(self.stage.site.person(ADA["email"])).send_code())
        self.send_document({**BOB, "authentication": "access_code", "accessCode": "Blue-4711-heron"})
        self.mail()

    def addresses(self) -> list[str]:
        """Every address of the installation in every mail, in the text and in the page of it."""
        runtime = self.stage.site.runtime
        found: dict[str, None] = {}
        for mail in self.stage.do(embedded_outbox.list_mails(runtime.db, 1000)):
            message = self.stage.do(embedded_outbox.read_mail(runtime.db, runtime.vault, mail.id))
            assert message is not None
            for kind in ("plain", "html"):
                for address in ADDRESS.findall(unescape(part(message, kind))):
                    if address.startswith(self.stage.site.base):
                        found[address] = None
        return list(found)

    def read_state(self) -> tuple[Counter[str], list[str], int]:
        """Entries of all audit trails, the status of each document, the number of mails."""
        trails = Counter(
            one for document in self.documents for one in self.stage.do(self.api.trail(document))
        )
        states = [self.stage.do(self.api.status(document)) for document in self.documents]
        self.mail()
        mails = self.stage.do(embedded_outbox.list_mails(self.stage.site.runtime.db, 1000))
        return trails, states, len(mails)


@pytest.fixture(scope="module")
def world(stage: BrowserStage) -> ScannedWorld:
    world = ScannedWorld(stage)
    world.fill()
    return world


async def send_to_address(stage: BrowserStage, method: str, address: str) -> int:
    async with stage.site.session.request(method, address, allow_redirects=True) as answer:
        await answer.read()
        return answer.status


def test_the_links_lead_to_every_state(world: ScannedWorld) -> None:
    """Or the tests below would show little."""
    pages = {world.stage.do(body_of(world.stage, address)) for address in world.addresses()}
    assert pages >= {"open", "code", "waiting", "completed", "declined", "expired", "cancelled", "unknown"}


async def body_of(stage: BrowserStage, address: str) -> str | None:
    async with stage.site.session.get(address) as answer:
        found = re.search(rb'<body data-state="([\w-]+)"', await answer.read())
        return found[1].decode() if found else None


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_who_asks_for_every_address_leaves_no_more_than_what_was_downloaded(
    world: ScannedWorld, method: str
) -> None:
    before, states, mails = world.read_state()
    for address in world.addresses():
        assert world.stage.do(send_to_address(world.stage, method, address)) == 200, address
    after, states_now, mails_now = world.read_state()
    assert set(after - before) <= ({"document.downloaded"} if method == "GET" else set())
    assert (states_now, mails_now) == (states, mails)


def press_each(context: BrowserContext, address: str, pressed: dict[tuple[str, str], int]) -> None:
    """Press each button of a page, each on a page opened for it, and count them by its state and heading.

    By `packaging/test every` on each page, else on one of each kind.
    """
    page = open_page(context, address)
    kind = (page.locator("body").get_attribute("data-state") or "", page.locator("h1").inner_text())
    pressable: list[int] = page.evaluate(PRESSABLE)
    page.close()
    if kind in pressed and not EVERY:
        return
    for at in pressable:
        page = open_page(context, address)
        page.locator("button, [data-action]").nth(at).click()
        page.wait_for_function("() => window.pending === 0")
        page.close()
    pressed[kind] = len(pressable)


def open_page(context: BrowserContext, address: str) -> Page:
    """The page, once all its scripts have run and nothing is asked for any more."""
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    return page


def test_who_runs_the_scripts_and_presses_one_button_leaves_no_more_than_a_view(
    world: ScannedWorld, browser: Browser
) -> None:
    before, states, mails = world.read_state()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(COUNTED)
    links = [address for address in world.addresses() if "/s/" in address]
    pressed: dict[tuple[str, str], int] = {}
    for address in links:
        press_each(context, address, pressed)
    context.close()
    after, states_now, mails_now = world.read_state()
    assert set(after - before) <= VIEWED | {"document.downloaded"}
    assert (states_now, mails_now) == (states, mails)
    assert {state for (state, _), count in pressed.items() if count} >= {"open", "code", "expired"}
    assert len(pressed) >= 10, pressed
