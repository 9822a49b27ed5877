"""A person at an office who does what the table of parity says, with the controls that stand in it."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from esign.core.actor import Mode
from tests.browser.parity.table import ANYWHERE, Control
from tests.browser.stage import BrowserStage
from tests.journeys.api import Api


class ParityDesk:
    """`used` are the lines of the table that were done so far; `api` asks what came of them."""

    def __init__(self, stage: BrowserStage, page: Page, controls: Mapping[str, Control]) -> None:
        self.stage, self.page, self.controls = stage, page, controls
        self.used: set[str] = set()
        self.api: Api = stage.site.api

    def use(self, line: str) -> Locator:
        """The control of that line, on the page where the table says it stands."""
        self.page.wait_for_load_state()  # many a control is heard by a script
        control = self.controls[line]
        path = urlsplit(self.page.url).path
        assert control.stands_on(path), f"{line} is done on {control.page}, not on {path}"
        self.used.add(line)
        name = re.compile(rf"^\s*{control.name}\s*$", re.DOTALL)
        if control.page != ANYWHERE:
            return self.page.get_by_role(control.role, name=name)  # type: ignore[arg-type]  # a role of the table
        main = self.page.get_by_role("navigation", name="Main")
        if main.get_by_role("link", name=name).count():
            return main.get_by_role("link", name=name)
        main.get_by_role("link", name="Settings").click()
        return self.page.get_by_role("navigation", name="Settings").get_by_role("link", name=name)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.stage.site.base}{path}")

    def ask(self, path: str) -> Any:
        """What the API answers now."""
        return self.stage.do(self.api.ok("GET", path))

    def tell(self, path: str, body: Any = None) -> Any:
        """What a program does, to have something to work on."""
        return self.stage.do(self.api.ok("POST", path, body))

    def as_program(self, mode: Mode) -> None:
        """The API is asked with a key of this mode from now on."""
        self.api = self.stage.do(self.stage.site.key(mode=mode))

    def menu(self, item: str, of: str = "More actions") -> None:
        """Choose one of the links there."""
        self.page.wait_for_load_state()
        self.page.get_by_label(of, exact=True).click()
        self.page.get_by_role("link", name=item, exact=True).click()

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def heading(self, name: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_role("heading", name=name, level=1)).to_be_visible()

    def saves(self, line: str) -> bytes:
        """The file that comes from a press on this control."""
        with self.page.expect_download() as saved:
            self.use(line).click()
        return saved.value.path().read_bytes()
