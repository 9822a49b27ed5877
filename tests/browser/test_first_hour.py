"""The first hour with esign, in a browser: nothing but what the README and the pages say, in a folder that is empty."""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits, alive
from tests.browser.hands import Hand, Keyboard, Mouse
from tests.browser.stage import PATIENCE
from tests.browser.test_journey import action
from tests.every import choose
from tests.journeys.letters import LINK
from tests.journeys.program import environment, esign
from tests.ports import reserve_port
from tests.web.office.visitor import PASSWORD

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
ADA = ("Ada Example", "ada@example.com")
SAVED = "/files/sealed: net::ERR_ABORTED"  # a file that is saved is no page


def section(title: str) -> str:
    """Below that heading, until the next."""
    found = re.search(rf"^#+ {title}\n(.*?)^#", README, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def command(text: str) -> str:
    """The one command that stands there."""
    [found] = re.findall(r"^ *```sh\n *(.*?)\n *```$", text, re.MULTILINE)
    return str(found)


FIRST, STEPS = section("A first document"), section("In the browser")
NAMED = re.findall(r"\*\*(.+?)\*\*", STEPS)


@dataclass(frozen=True)
class FirstFolder:
    """The folder somebody works in, and what the server has said so far."""

    folder: Path
    log: Path

    def link(self) -> str:
        """Where the first start sends its owner."""
        for _ in range(600):
            if found := next(self.folder.rglob("setup-link"), None):
                return found.read_text("utf-8").strip()
            time.sleep(0.05)
        raise AssertionError(self.log.read_text("utf-8"))

    def run(self, line: str) -> str:
        """What this line prints in a terminal."""
        return subprocess.run(
            line, shell=True, cwd=self.folder, env=environment(), capture_output=True, text=True, check=True
        ).stdout

    def mail(self, to: str) -> str:
        """The newest mail, as the README has it read, once it is to this address."""
        for _ in range(60):
            found = self.run(command(STEPS))
            if f"<{to}>" in found:
                return found
        raise AssertionError("no mail came")


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[FirstFolder]:
    """`esign serve`, as the README says it, on a free port."""
    program = tmp_path / ".venv" / "bin" / "esign"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m esign "$@"\n', "utf-8")
    program.chmod(0o755)
    log = tmp_path / "serve.log"
    env = environment({"ESIGN_SERVER__PORT": str(reserve_port())})
    with log.open("wb") as said:
        serving = subprocess.Popen(shlex.split(command(FIRST)), cwd=tmp_path, env=env, stderr=said)
    try:
        yield FirstFolder(tmp_path, log)
    finally:
        serving.terminate()
        assert serving.wait(PATIENCE) == 0


class FirstOwner:
    """Presses what is named; `pressed` remembers it."""

    def __init__(self, page: Page, hand: Hand) -> None:
        self.page, self.hand, self.pressed = page, hand, list[str]()

    def press(self, name: str) -> None:
        self.pressed.append(name)
        button = self.page.get_by_role("button", name=name)
        self.hand.press(button.or_(self.page.get_by_role("link", name=name)).first)

    def set_up(self) -> None:
        for label, value in (
            ("Organisation name", "Alder & Finch"),
            ("Your name", "Maren Holt"),
            ("Your email", "maren@example.test"),
            ("Password", PASSWORD),
        ):
            self.hand.fill(self.page.get_by_label(label, exact=True), value)
        self.hand.press(self.page.get_by_role("button", name="Continue"))
        self.page.wait_for_url("**/server/address")

    def look_at_the_server(self) -> None:
        for found in ("Only this machine can open", "No mail server is set up"):
            expect(self.page.get_by_text(found)).to_be_visible()
            self.press("Continue")
        self.press("Seal a test page")
        answer = self.page.get_by_text("The test page was sealed and verified.")
        expect(answer).to_be_visible()
        self.press("Done")
        self.page.wait_for_url("**/documents*")  # its `?done=` is taken away at once

    def send(self, file: Path) -> None:
        self.pressed.append("New document")
        self.hand.go(self.page, "New document")
        self.page.wait_for_url("**/documents/new")
        self.hand.choose_file(self.page.locator("#files"), file)
        self.page.wait_for_url("**/edit")
        self.press("Add recipient")
        self.page.keyboard.type(ADA[0])  # the new line has the focus
        self.page.keyboard.press("Tab")
        self.page.keyboard.type(ADA[1])
        self.press("Place fields")
        self.page.wait_for_url("**/fields")
        self.page.locator("body[data-ready]").wait_for(state="attached")
        self.pressed.append("Signature")
        self.hand.place_field(self.page, "Signature", 3)
        expect(self.page.locator("#saved")).to_have_text("All changes saved")
        self.press("Review")
        self.page.wait_for_url("**/review")
        self.press("Send without email")
        expect(self.page.get_by_role("heading", name=f"Not emailed to {ADA[0]}")).to_be_visible()


def sign(page: Page, hand: Hand) -> None:
    """As the pages lead: the signature, then the review."""
    alive(page)
    hand.press(action(page, "sign"))
    hand.press(action(page, "sign"))
    hand.press(page.get_by_role("tab", name="Type"))
    hand.press(action(page, "adopt"))
    for name in ("next", "consent", "finish"):
        hand.press(action(page, name))


@pytest.mark.parametrize(
    "hand", choose([Keyboard()], [Mouse()]), ids=lambda hand: type(hand).__name__.lower()
)
def test_from_the_first_start_to_a_sealed_document(
    visit: Visits, installation: FirstFolder, tmp_path: Path, hand: Hand
) -> None:
    page = visit.at(installation.link(), width=1280, height=900, excused=SAVED)
    owner = FirstOwner(page, hand)
    owner.set_up()
    owner.look_at_the_server()
    [sample] = re.findall(r"`(esign/\S+\.pdf)`", STEPS)
    owner.send(ROOT / sample)
    found = LINK.search(installation.mail(to=ADA[1]))
    assert found
    stranger = visit.at(found[0], width=1280, height=900)
    sign(stranger, hand)
    expect(page.get_by_role("heading", name="Completed and sealed")).to_be_visible()
    with page.expect_download() as saved:
        owner.press("Sealed PDF")
    sealed = tmp_path / "sealed.pdf"
    saved.value.save_as(sealed)
    owner.press("Verify this file")
    page.wait_for_url("**/verify/*")
    hand.choose_file(page.locator("#file"), sealed)
    expect(page.get_by_role("heading", name="Valid and unchanged")).to_be_visible()
    assert esign("verify", sealed, cwd=tmp_path).code == 0
    assert [name for name in owner.pressed if name in NAMED] == NAMED, "the README names what is pressed"
