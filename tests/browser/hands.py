"""Two ways to work a page: with the mouse, or with the keyboard alone."""

from pathlib import Path
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

STOPS = 300  # more than any page has: Tab went round and did not come by
# The focus may still move on, as when a sheet opens: it has to stay for two frames.
IS_FOCUSED = """async (one) => {
  for (let left = 2; left && one === document.activeElement; left--) await new Promise(requestAnimationFrame);
  return one === document.activeElement;
}"""
KIND = "(one) => one.getAttribute('role') ?? one.type ?? ''"


class Hand(Protocol):
    """Presses, fills in and chooses what a test names."""

    def press(self, control: Locator) -> None: ...

    def fill(self, control: Locator, text: str) -> None: ...

    def choose_file(self, control: Locator, file: Path) -> None: ...

    def place_field(self, page: Page, kind: str, number: int) -> None: ...


class Mouse:
    def press(self, control: Locator) -> None:
        control.click()

    def fill(self, control: Locator, text: str) -> None:
        control.fill(text)

    def choose_file(self, control: Locator, file: Path) -> None:
        control.set_input_files(file)

    def place_field(self, page: Page, kind: str, number: int) -> None:
        """Take the type of field, and click where it goes on the page of that number."""
        self.press(page.get_by_role("button", name=kind))
        page.locator(f"#page-{number}").scroll_into_view_if_needed()
        page.locator(f"#page-{number}").click(position={"x": 200, "y": 600})


class Keyboard:
    def press(self, control: Locator) -> None:
        """Walk to the control with Tab and press it."""
        expect(control).to_be_visible()
        kind = control.evaluate(KIND)
        if kind == "tab":
            self.choose_tab(control)
            return
        self.reach(control)
        control.page.keyboard.press("Space" if kind in ("checkbox", "radio") else "Enter")

    def choose_tab(self, tab: Locator) -> None:
        for _ in range(STOPS):
            if tab.evaluate(IS_FOCUSED):
                return
            self.reach(tab.page.locator("[role=tab][aria-selected=true]:visible"))
            tab.page.keyboard.press("ArrowRight")
        raise AssertionError(f"the arrows do not come to {tab}")

    def fill(self, control: Locator, text: str) -> None:
        self.reach(control)
        control.page.keyboard.press("Control+a")
        control.page.keyboard.type(text)

    def choose_file(self, control: Locator, file: Path) -> None:
        with control.page.expect_file_chooser() as chooser:  # what it asks of the browser takes a moment
            self.reach(control)
            control.page.keyboard.press("Enter")
        chooser.value.set_files(file)

    def place_field(self, page: Page, kind: str, number: int) -> None:
        """Go to the page of that number, take the type of field and put it there with Enter."""
        if page.locator("#thumbs").is_hidden():
            self.press(page.get_by_role("button", name="Thumbnails of the pages"))
        self.press(page.locator(f"#thumbs [data-page='{number}']"))
        self.press(page.get_by_role("button", name=kind))
        page.keyboard.press("Enter")

    def reach(self, control: Locator) -> None:
        """Press Tab until the control has the focus, and see that it is where one looks."""
        for _ in range(STOPS):
            if control.evaluate(IS_FOCUSED):
                expect(control).to_be_in_viewport()
                return
            control.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not come to {control}")
