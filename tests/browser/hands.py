"""Two ways to work a page: with the mouse, or with the keyboard alone."""

from pathlib import Path
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

from tests.browser.focus import has_focus, read_focus, stands_before_focus

STOPS = 60  # more than one has to press on any page
KIND = "(one) => one.getAttribute('role') ?? one.type ?? ''"


class Hand(Protocol):
    """Presses, fills in and chooses what a test names."""

    def press(self, control: Locator) -> None: ...

    def go(self, page: Page, name: str) -> None: ...

    def fill(self, control: Locator, text: str) -> None: ...

    def choose_file(self, control: Locator, file: Path) -> None: ...

    def place_field(self, page: Page, kind: str, number: int) -> None: ...


class Mouse:
    def press(self, control: Locator) -> None:
        control.click()

    def go(self, page: Page, name: str) -> None:
        """Follow the link or button of that name."""
        self.press(page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first)

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
    """Only keys that somebody can press. Wherever they lead, one must see the focus, and in the order one reads."""

    def press(self, control: Locator) -> None:
        """Walk to the control with Tab and press it."""
        expect(control).to_be_visible()
        kind = control.evaluate(KIND)
        if kind == "tab":
            self.choose_tab(control)
            return
        self.reach(control)
        control.page.keyboard.press("Space" if kind in ("checkbox", "radio") else "Enter")

    def go(self, page: Page, name: str) -> None:
        """Choose that page in the command palette."""
        palette = page.get_by_role("dialog", name="Search")
        page.keyboard.press("Control+k")
        expect(palette.get_by_role("combobox")).to_be_focused()
        page.keyboard.type(name)
        expect(palette.get_by_role("option", selected=True)).to_contain_text(name)
        page.keyboard.press("Enter")

    def choose_tab(self, tab: Locator) -> None:
        for _ in range(STOPS):
            read_focus(tab.page)
            if has_focus(tab):
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
        """Go to the page of that number, take the type of field by its letter and put it there with Enter."""
        if page.locator("#thumbs").is_hidden():
            self.press(page.get_by_role("button", name="Thumbnails of the pages"))
        self.press(page.locator(f"#thumbs [data-page='{number}']"))
        button = page.get_by_role("button", name=kind)
        page.keyboard.press(button.locator("kbd").inner_text())
        expect(button).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("Enter")

    def reach(self, control: Locator) -> None:
        """Press Tab until the control has the focus, or Shift and Tab where it stands before.

        On a page that was just opened, the first stop skips the menus for who wants something of its content.
        Whatever has the focus on the way has a ring and is in sight, and one reads it after what had it before.
        """
        page, last = control.page, None
        control.wait_for(state="attached")  # on the page that a press may still be leading to
        skip = page.locator("a.skip[href='#main']")
        if (
            read_focus(page) is None
            and skip.count()
            and control.evaluate("(one) => one.closest('main') !== null")
        ):
            page.keyboard.press("Tab")
            expect(skip).to_be_focused()
            expect(skip).to_be_in_viewport()
            page.keyboard.press("Enter")
            expect(page.locator("#main")).to_be_focused()
        key = "Shift+Tab" if stands_before_focus(control) else "Tab"
        for _ in range(STOPS):
            focus = read_focus(page)
            if focus is not None:
                assert focus.ring and focus.seen, f"{key} leads to where one sees no focus: {focus}"
                first, second = (focus, last) if key == "Shift+Tab" else (last, focus)
                assert not (first and second) or second.follows(first), f"{key} leads from {last} to {focus}"
            else:
                assert last is None, f"{key} leaves the page before it comes to {control}, after {last}"
            if has_focus(control):
                expect(control).to_be_in_viewport()
                return
            last = focus
            page.keyboard.press(key)
        raise AssertionError(f"{key} does not come to {control}")
