"""Fields are placed in a real browser with mouse, finger and keys, and what is placed is what is stored."""

import base64
import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from esign.web.pages import Assets
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_axe import ALL, COLOURS, complaints
from tests.every import choose
from tests.journeys.api import a_pdf
from tests.pdf.forms import mark_page, with_form

LOST = "Failed to load resource"
CONFLICT = "responded with a status of 4"
MOST = 90_000  # bytes of script and style, packed
PEOPLE = [
    {"name": "Helena Brandt", "email": "helena@example.test"},
    {"name": "Tomas Becker", "email": "tomas@example.test", "role": "approver"},
    {"name": "Beth Finch", "email": "beth@example.test", "role": "cc"},
]
DESK = {"width": 1280, "height": 800}
# A field is dragged by 40 steps: how long the middle one of them keeps the page busy, in ms.
DRAG = """async () => {
  const field = document.querySelector(".fld"), box = field.getBoundingClientRect();
  document.querySelector("#main").setPointerCapture = () => {};
  const say = (type, x, y) => field.dispatchEvent(new PointerEvent(type, {
    bubbles: true, pointerId: 7, pointerType: "mouse", clientX: x, clientY: y, button: 0, buttons: 1,
  }));
  say("pointerdown", box.x + 5, box.y + 5);
  const took = [];
  for (let n = 0; n < 40; n++) {
    const begun = performance.now();
    say("pointermove", box.x + 10 + n * 4, box.y + 10 + n * 3);
    document.body.offsetHeight;
    took.push(performance.now() - begun);
    await new Promise(requestAnimationFrame);
  }
  say("pointerup", box.x + 170, box.y + 130);
  return took.sort((a, b) => a - b)[20];
}"""
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("editor"), {"name": "Alder & Finch"}) as stage:
        yield stage


@pytest.fixture(scope="module")
def session(stage: BrowserStage) -> dict[str, Any]:
    return signed_in(stage)


class Editor:
    """One draft, open in the editor."""

    def __init__(self, stage: BrowserStage, page: Page, document: str) -> None:
        self.stage, self.page, self.document = stage, page, document

    def read_stored(self) -> list[dict[str, Any]]:
        """What the API shows, once everything is saved; each field with its holder's first name."""
        expect(self.page.locator("#saved")).to_have_text("All changes saved")
        people = self.stage.do(self.stage.site.api.get(self.document))["recipients"]
        return [{**field, "who": one["name"].split()[0]} for one in people for field in one["fields"]]

    def fields(self) -> Locator:
        return self.page.locator(".sheet .fld")

    def sheet(self, number: int = 1) -> Locator:
        return self.page.locator(f".sheet[data-page='{number}']")

    def at(self, x: float, y: float, number: int = 1) -> tuple[float, float]:
        """Where that percentage of a page is in the window."""
        box = self.sheet(number).bounding_box()
        assert box
        return box["x"] + x / 100 * box["width"], box["y"] + y / 100 * box["height"]

    def type(self, name: str) -> Locator:
        return self.page.locator("#palette button", has_text=re.compile(f"^{name}"))

    def click(self, name: str, x: float, y: float, number: int = 1) -> None:
        """Choose a type, then click where its middle goes, free of guides."""
        self.type(name).click()
        self.page.keyboard.down("Alt")
        self.page.mouse.click(*self.at(x, y, number))
        self.page.keyboard.up("Alt")

    def drag(self, start: tuple[float, float], *to: tuple[float, float], free: bool = True) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        if free:
            self.page.keyboard.down("Alt")
        for x, y in to:
            mouse.move(x, y, steps=6)
        mouse.up()
        if free:
            self.page.keyboard.up("Alt")

    def measure_field(self, field: Locator, number: int = 1) -> list[float]:
        """x, y, width and height as they are drawn, in percent of the page."""
        box, on = field.bounding_box(), self.sheet(number).bounding_box()
        assert box and on
        wide, high = on["width"], on["height"]
        left, top = box["x"] - on["x"], box["y"] - on["y"]
        return [left / wide * 100, top / high * 100, box["width"] / wide * 100, box["height"] / high * 100]


def place(field: dict[str, Any]) -> list[float]:
    return [field["x"], field["y"], field["width"], field["height"]]


Opens = Callable[..., Editor]


@pytest.fixture
def opened(stage: BrowserStage, session: dict[str, Any], visit: Visits) -> Opens:
    """Opens a new draft of `pages`, or of a `file`, with these `fields` of the first recipient."""

    def open_(
        pages: int = 1, file: bytes | None = None, fields: Any = (), people: Any = PEOPLE, **how: Any
    ) -> Editor:
        recipients = [{**people[0], "fields": list(fields)}, *people[1:]] if people else []
        content = base64.b64encode(file or a_pdf(pages)).decode()
        document = stage.do(stage.site.api.create(file=content, recipients=recipients, title="Lease"))
        page = visit.at(
            f"{stage.site.base}/documents/{document}/fields", storage_state=session, **{**DESK, **how}
        )
        expect(page.locator("body[data-ready]")).to_be_attached()
        expect(page.locator(".sheet > img").first).to_have_js_property("complete", True)
        return Editor(stage, page, document)

    return open_


def a_field(type_: str = "text", x: float = 10, y: float = 10, page: int = 1, **more: Any) -> dict[str, Any]:
    return {"type": type_, "page": page, "x": x, "y": y, **more}


# ---------- placing ----------


def test_a_field_is_placed_with_the_mouse_moved_and_resized(opened: Opens) -> None:
    editor = opened(pages=2)
    button = editor.type("Signature").bounding_box()
    assert button
    start = (button["x"] + 20, button["y"] + 10)
    editor.drag(start, editor.at(30, 20), editor.at(40, 30))
    [stored] = editor.read_stored()
    assert (stored["type"], stored["who"], stored["page"]) == ("signature", "Helena", 1)
    assert place(stored) == pytest.approx([27.5, 27, 25, 6], abs=0.1)
    assert editor.measure_field(editor.fields().first) == pytest.approx(place(stored), abs=0.1)
    editor.drag(editor.at(40, 30), editor.at(50, 30), editor.at(60.5, 15.25))
    assert place(editor.read_stored()[0]) == pytest.approx([48, 12.25, 25, 6], abs=0.1)
    editor.drag(editor.at(73, 18.25), editor.at(80, 25), editor.at(85, 30.75))
    assert place(editor.read_stored()[0]) == pytest.approx([48, 12.25, 37, 18.5], abs=0.1)
    assert editor.measure_field(editor.fields().first) == pytest.approx(
        place(editor.read_stored()[0]), abs=0.1
    )
    editor.page.locator("#undo").click()
    editor.page.locator("#undo").click()
    assert place(editor.read_stored()[0]) == pytest.approx([27.5, 27, 25, 6], abs=0.1)
    editor.page.locator("#redo").click()
    assert place(editor.read_stored()[0]) == pytest.approx([48, 12.25, 25, 6], abs=0.1)


def test_a_field_is_dragged_onto_another_page_which_scrolls_into_view(opened: Opens) -> None:
    editor = opened(pages=2, fields=[a_field(y=60, x=20)])
    main = editor.page.locator("#main").bounding_box()
    assert main
    start, foot = editor.at(25, 61.5), main["y"] + main["height"] - 4
    mouse = editor.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(start[0], foot, steps=5)
    expect(editor.sheet(2)).to_be_in_viewport(ratio=0.4)
    editor.page.keyboard.down("Alt")
    mouse.move(*editor.at(50, 20, 2), steps=5)
    mouse.up()
    editor.page.keyboard.up("Alt")
    [stored] = editor.read_stored()
    assert stored["page"] == 2
    assert editor.measure_field(editor.fields().first, 2) == pytest.approx(place(stored), abs=0.1)


def test_a_field_is_placed_and_moved_with_a_finger(opened: Opens) -> None:
    editor = opened(width=768, height=1024, has_touch=True)
    editor.type("Date").tap()
    editor.page.touchscreen.tap(*editor.at(50, 40))
    [stored] = editor.read_stored()
    assert place(stored) == pytest.approx([42.5, 38.5, 15, 3], abs=0.1)
    touch = editor.page.context.new_cdp_session(editor.page)

    def finger(kind: str, *points: tuple[float, float]) -> None:
        given = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": given})

    finger("Start", editor.at(50, 40))
    for x, y in ((45, 45), (35, 55), (30.4, 60.7)):
        finger("Move", editor.at(x, y))
    editor.page.wait_for_timeout(150)  # a finger that rests: else the next tap only stops what still flies
    finger("Move", editor.at(30.4, 60.7))
    finger("End")
    [stored] = editor.read_stored()
    assert place(stored) == pytest.approx([22.9, 59.2, 15, 3], abs=0.1)
    assert editor.measure_field(editor.fields().first) == pytest.approx(place(stored), abs=0.1)
    editor.page.locator("#m-dup").tap()
    expect(editor.fields()).to_have_count(2)
    assert len(editor.read_stored()) == 2
    editor.page.locator("#m-prop").tap()
    editor.page.get_by_label("Label").fill("Day of handing over")
    editor.page.get_by_role("button", name="Done").tap()
    assert [one["label"] for one in editor.read_stored()] == [None, "Day of handing over"]
    editor.page.locator("#m-del").tap()
    expect(editor.fields()).to_have_count(1)
    assert len(editor.read_stored()) == 1


def test_a_phone_has_a_dock_and_a_sheet(opened: Opens, shot: Shot) -> None:
    editor = opened(width=360, height=740)
    expect(editor.page.locator("#props")).to_be_hidden()
    editor.page.locator("#people").get_by_text("Tomas Becker").tap()
    editor.type("Initials").tap()
    editor.page.touchscreen.tap(*editor.at(50, 50))
    [stored] = editor.read_stored()
    assert (stored["type"], stored["who"]) == ("initials", "Tomas")
    assert place(stored) == pytest.approx([45, 47.5, 10, 5], abs=0.1)
    shot(editor.page, "office-editor-phone")
    assert complaints(editor.page, ALL) == []
    editor.page.locator("#m-prop").tap()
    expect(editor.page.locator("#props")).to_be_visible()
    shot(editor.page, "office-editor-sheet")
    assert complaints(editor.page, ALL) == []
    assert editor.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_everything_is_done_with_keys_alone(opened: Opens) -> None:
    editor = opened()
    keys = editor.page.keyboard
    editor.page.locator("#main").focus()
    for key in ("2", "d", "Enter"):
        keys.press(key)
    field = editor.page.get_by_role("button", name=re.compile("^Date, Tomas Becker, required. Page 1"))
    expect(field).to_be_focused()
    [stored] = editor.read_stored()
    assert stored["x"] == 42.5 and stored["who"] == "Tomas"
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowLeft", "ArrowDown", "Shift+ArrowUp"):
        keys.press(key)
    x, y = stored["x"] + 0.5 - 2, round(stored["y"] + 0.25 - 2, 2)
    assert place(editor.read_stored()[0]) == [x, y, 15, 3]
    for key in ("Alt+ArrowRight", "Alt+Shift+ArrowDown"):
        keys.press(key)
    assert place(editor.read_stored()[0]) == [x, y, 15.25, 5]
    keys.press("Control+d")
    assert [place(one)[:2] for one in editor.read_stored()] == [[x, y], [x + 2, round(y + 2, 2)]]
    keys.press("1")
    assert sorted(one["who"] for one in editor.read_stored()) == ["Helena", "Tomas"]
    keys.press("Enter")
    keys.press("Escape")
    expect(editor.page.locator(".fld.sel")).to_be_focused()
    keys.press("Control+a")
    expect(editor.page.get_by_role("heading", name="2 fields")).to_be_visible()
    keys.press("Control+c")
    keys.press("Control+v")
    assert len(editor.read_stored()) == 4
    keys.press("Delete")
    assert len(editor.read_stored()) == 2
    for _ in range(20):
        keys.press("Control+z")
    assert editor.read_stored() == []
    keys.press("Control+Shift+z")
    assert len(editor.read_stored()) == 1
    editor.page.get_by_role("button", name=re.compile("^Signature")).focus()
    keys.press("Enter")
    assert {one["type"] for one in editor.read_stored()} == {"date", "signature"}


def test_the_letters_beside_the_types_work_without_a_click_on_the_pages(opened: Opens) -> None:
    editor = opened()
    page, keys = editor.page, editor.page.keyboard
    for key in ("2", "d", "Enter"):
        keys.press(key)
    expect(
        page.get_by_role("button", name=re.compile("^Date, Tomas Becker, required. Page 1"))
    ).to_be_focused()
    page.get_by_role("button", name="Zoom out").focus()
    keys.press("s")
    expect(editor.type("Signature")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#main")).to_be_focused()
    keys.press("Enter")
    assert [one["type"] for one in editor.read_stored()] == ["date", "signature"]
    page.locator("#people label", has_text="Helena").click()
    keys.press("t")
    expect(editor.type("Text")).to_have_attribute("aria-pressed", "true")
    keys.press("Escape")


def test_single_keys_do_nothing_where_one_types_or_holds_another_key_or_has_turned_them_off(
    opened: Opens,
) -> None:
    editor = opened(fields=[a_field("text", x=20, y=20)])
    page, keys = editor.page, editor.page.keyboard
    pressed = page.locator("#palette [aria-pressed=true]")
    editor.fields().first.click()
    page.get_by_label("Label").focus()
    keys.type("S1 Delete?")
    expect(page.get_by_label("Label")).to_have_value("S1 Delete?")
    page.get_by_role("checkbox", name="Required").focus()
    keys.press("s")
    expect(pressed).to_have_count(0)
    page.locator("#main").focus()
    for key in ("Control+s", "Alt+s", "Meta+i"):
        keys.press(key)
    expect(pressed).to_have_count(0)
    keys.press("?")
    box = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(box.get_by_text("Select a field type")).to_be_visible()
    keys.press("s")
    box.get_by_label("Single-key shortcuts").uncheck()
    keys.press("Escape")
    keys.press("s")
    expect(pressed).to_have_count(0)
    keys.press("Control+k")
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    keys.press("Escape")
    assert len(editor.read_stored()) == 1
    keys.press("?")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.locator("#map").click()
    box.get_by_label("Single-key shortcuts").check()


def test_escape_takes_a_drag_back_and_puts_a_type_back(opened: Opens) -> None:
    editor = opened(fields=[a_field(x=20, y=20)])
    mouse = editor.page.mouse
    mouse.move(*editor.at(25, 21))
    mouse.down()
    mouse.move(*editor.at(60, 60), steps=4)
    editor.page.keyboard.press("Escape")
    mouse.up()
    assert editor.measure_field(editor.fields().first) == pytest.approx([20, 20, 25, 3], abs=0.1)
    editor.type("Dropdown").click()
    expect(editor.type("Dropdown")).to_have_attribute("aria-pressed", "true")
    editor.page.keyboard.press("Escape")
    mouse.click(*editor.at(50, 70))
    assert len(editor.read_stored()) == 1


# ---------- several ----------


def test_a_drag_snaps_to_the_edges_of_others_and_alt_lets_go(opened: Opens) -> None:
    editor = opened(fields=[a_field(x=10, y=10), a_field(x=40, y=50)])
    editor.drag(editor.at(45, 51), editor.at(30, 55), editor.at(15.5, 61), free=False)
    assert place(editor.read_stored()[1])[0] == 10
    expect(editor.page.locator(".guide")).to_have_count(0)
    editor.drag(editor.at(15, 61), editor.at(20, 61), editor.at(15.6, 61))
    assert place(editor.read_stored()[1])[0] == pytest.approx(10.6, abs=0.1)


def test_several_are_chosen_with_a_frame_aligned_and_taken_back(opened: Opens) -> None:
    editor = opened(
        fields=[a_field(x=10, y=10), a_field(x=20, y=22), a_field(x=14, y=40), a_field(x=60, y=80)]
    )
    editor.drag(editor.at(5, 5), editor.at(30, 30), editor.at(50, 50))
    expect(editor.page.get_by_role("heading", name="3 fields")).to_be_visible()
    editor.page.get_by_role("button", name="Align left").click()
    editor.page.get_by_role("button", name="Distribute vertically").click()
    assert [place(one)[:2] for one in editor.read_stored()] == [[10, 10], [10, 25], [10, 40], [60, 80]]
    editor.page.get_by_role("button", name="All optional").click()
    assert [one["required"] for one in editor.read_stored()] == [False, False, False, True]
    editor.page.get_by_label("Filled in by").select_option(label="Tomas Becker")
    assert [one["who"] for one in editor.read_stored()] == ["Helena", "Tomas", "Tomas", "Tomas"]
    for _ in range(4):
        editor.page.keyboard.press("Control+z")
    assert [place(one)[:2] for one in editor.read_stored()] == [[10, 10], [20, 22], [14, 40], [60, 80]]
    assert all(one["required"] and one["who"] == "Helena" for one in editor.read_stored())


def test_a_field_is_repeated_on_every_page(opened: Opens) -> None:
    editor = opened(
        pages=3, fields=[a_field("initials", 80, 90, key="first"), a_field("initials", 80, 90, 2)]
    )
    editor.fields().first.click()
    editor.page.get_by_role("button", name="Repeat on every page").click()
    assert sorted(one["page"] for one in editor.read_stored()) == [1, 2, 3]
    assert [one["key"] for one in editor.read_stored()].count("first") == 1
    expect(editor.page.locator("#thumbs .count").last).to_have_text("1")
    editor.page.get_by_role("button", name="Undo").last.click()
    assert sorted(one["page"] for one in editor.read_stored()) == [1, 2]


# ---------- properties ----------


def test_every_property_of_every_type_is_set_and_stored(opened: Opens) -> None:
    editor = opened(pages=1)
    page = editor.page

    def new(name: str, y: float) -> dict[str, Any]:
        editor.click(name, 30, y)
        expect(page.locator(".p-head h2")).to_have_text(name)
        more = page.locator("details.more")
        if more.get_attribute("open") is None:
            more.locator("summary").click()
        return {}

    def now(type_: str) -> dict[str, Any]:
        return next(one for one in editor.read_stored() if one["type"] == type_)

    new("Text", 6)
    for label, text in {
        "Label": "Colour",
        "Placeholder": "as on the door",
        "API name": "colour",
    }.items():
        page.get_by_label(label).fill(text)
    for label, text in {
        "Minimum characters": "2",
        "Maximum characters": "40",
        "Font size": "9.5",
        "Default value": "Red",
    }.items():
        page.get_by_label(label).fill(text)
    page.get_by_label("Multiple lines").check()
    page.get_by_label("Accepts", exact=True).select_option("letters")
    page.get_by_label("Alignment").select_option("right")
    page.get_by_role("checkbox", name="Required").uncheck()
    page.get_by_label("Default value").blur()
    page.get_by_label("Read-only").check()
    assert now("text") | {
        "label": "Colour", "placeholder": "as on the door", "key": "colour", "minLength": 2, "maxLength": 40,
        "fontSize": 9.5, "value": "Red", "multiline": True, "pattern": "letters", "align": "right", "required": False,
        "readOnly": True,
    } == now("text")  # fmt: skip
    new("Number", 12)
    for label, text in {"Minimum": "1.5", "Maximum": "9", "Decimal places": "2"}.items():
        page.get_by_label(label, exact=True).fill(text)
    assert now("number") | {"min": 1.5, "max": 9, "decimals": 2} == now("number")
    new("Date", 18)
    page.get_by_label("Use the date of signing").uncheck()
    page.get_by_label("Date format").select_option("D MMM YYYY")
    page.get_by_label("Earliest date").fill("2026-01-01")
    page.get_by_label("Latest date").fill("2026-12-31")
    dated = {"autofill": False, "format": "D MMM YYYY", "min": "2026-01-01", "max": "2026-12-31"}
    assert now("date") | dated == now("date")
    new("Radio buttons", 26)
    page.get_by_label("Options, one per line").fill("Tea\nCoffee\n\nTea")
    page.get_by_label("Options, one per line").blur()
    page.get_by_label("Layout").select_option("horizontal")
    page.get_by_label("Default value").select_option("Coffee")
    assert now("radio") | {"options": ["Tea", "Coffee"], "layout": "horizontal", "value": "Coffee"} == now(
        "radio"
    )
    new("Dropdown", 36)
    page.get_by_label("Options, one per line").fill("One")
    assert now("dropdown")["options"] == ["One"]
    new("Signature", 44)
    page.get_by_label("Upload an image").uncheck()
    page.get_by_label("Type", exact=True).uncheck()
    assert now("signature")["allowed"] == ["drawn"]
    page.get_by_label("Draw", exact=True).click()
    expect(page.get_by_label("Draw", exact=True)).to_be_checked()
    new("Name", 52)
    page.get_by_label("Prefill their name").uncheck()
    assert now("name")["autofill"] is False
    new("Email", 58)
    page.get_by_label("Left %").fill("7.5")
    page.get_by_label("Height %").fill("4")
    assert place(now("email"))[0] == 7.5 and now("email")["height"] == 4


def test_tick_boxes_of_a_group_share_their_counts(opened: Opens) -> None:
    editor = opened()
    page = editor.page
    for y in (10, 20):
        editor.click("Checkbox", 30, y)
        page.get_by_role("textbox", name="Group").fill("colours")
        page.get_by_role("textbox", name="Group").blur()
    page.get_by_label("Maximum ticked").fill("1")
    page.get_by_label("Minimum ticked").fill("1")
    boxes = editor.read_stored()
    assert [(one["group"], one["minChecked"], one["maxChecked"]) for one in boxes] == [("colours", 1, 1)] * 2
    page.locator("details.more summary").click()
    page.get_by_label("Read-only").check()
    assert [(one["value"], one["readOnly"]) for one in editor.read_stored()] == [(None, False), (False, True)]


def test_what_the_server_refuses_stands_at_its_field_and_nothing_is_lost(
    visit: Visits, opened: Opens
) -> None:
    editor = opened(excused=CONFLICT)
    page = editor.page
    editor.click("Number", 30, 20)
    page.get_by_label("Minimum", exact=True).fill("5")
    page.get_by_label("Maximum", exact=True).fill("4")
    expect(page.locator("#saved")).to_have_text("Not saved: 1 field needs a correction")
    page.get_by_label("Maximum", exact=True).blur()
    expect(page.get_by_label("Maximum", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#p-max-error")).to_contain_text("max is less than min.")
    assert complaints(page, ALL) == []
    page.keyboard.press("Escape")
    page.mouse.click(*editor.at(80, 80))
    page.get_by_role(
        "button", name="Number on page 1 needs a correction. Nothing is saved until then."
    ).click()
    page.get_by_label("Maximum", exact=True).fill("6")
    [stored] = editor.read_stored()
    assert (stored["min"], stored["max"]) == (5, 6)
    expect(page.locator(".fld.bad")).to_have_count(0)


# ---------- saving ----------


def test_a_lost_connection_loses_nothing(opened: Opens) -> None:
    editor = opened(excused=LOST)
    page, cut = editor.page, "**/fields"

    def refuse(route: Route) -> None:
        route.abort("internetdisconnected") if route.request.method == "POST" else route.continue_()

    page.route(cut, refuse)
    editor.click("Name", 30, 20)
    expect(page.get_by_role("alert")).to_contain_text("No connection. Your changes are kept in this browser")
    editor.click("Email", 30, 30)
    page.unroute(cut)
    page.get_by_role("button", name="Try again").click()
    assert sorted(one["type"] for one in editor.read_stored()) == ["email", "name"]
    expect(page.locator("#trouble")).to_be_hidden()
    page.route(cut, refuse)
    editor.click("Text", 30, 40)
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute(cut)
    page.reload()
    expect(page.get_by_text("Unsaved changes were restored.")).to_be_visible()
    assert sorted(one["type"] for one in editor.read_stored()) == ["email", "name", "text"]


def test_two_people_at_one_draft_choose_and_both_keep_what_they_did(opened: Opens) -> None:
    editor = opened(excused=CONFLICT, fields=[a_field(x=10, y=10)])
    page, api, document = editor.page, editor.stage.site.api, editor.document
    helena = editor.stage.do(api.get(document))["recipients"][0]["id"]

    def other(*fields: Any) -> None:
        change = {"fields": list(fields)}
        editor.stage.do(api.ok("PATCH", f"/documents/{document}/recipients/{helena}", change))

    other(a_field(x=50, y=50), a_field(x=50, y=60))
    editor.click("Date", 30, 30)
    box = page.get_by_role("dialog", name="Which fields do you want to keep?")
    expect(box).to_contain_text("2 fields · 2 not in yours")
    expect(box).to_contain_text("2 fields · 2 not in theirs")
    assert complaints(page, ALL) == []
    box.get_by_role("button", name="Keep mine").click()
    assert sorted((one["type"], one["x"]) for one in editor.read_stored()) == [("date", 22.5), ("text", 10)]
    page.keyboard.press("Control+z")
    assert [one["x"] for one in editor.read_stored()] == [50, 50]
    other(a_field(x=70, y=70))
    editor.click("Name", 30, 30)
    box.get_by_role("button", name="Decide later").click()
    expect(page.get_by_role("alert")).to_contain_text("Someone else changed the fields")
    page.get_by_role("button", name="Choose").click()
    box.get_by_role("button", name="Use theirs").click()
    assert [one["x"] for one in editor.read_stored()] == [70]
    page.keyboard.press("Control+z")
    assert len(editor.read_stored()) == 3


def test_a_change_elsewhere_in_the_draft_is_no_conflict(opened: Opens) -> None:
    editor = opened(excused=CONFLICT)
    api = editor.stage.site.api
    person = {"name": "Zoë Quill", "email": "zoe@example.test"}
    editor.stage.do(api.ok("POST", f"/documents/{editor.document}/recipients", person))
    editor.click("Date", 30, 30)
    assert [one["type"] for one in editor.read_stored()] == ["date"]
    expect(editor.page.get_by_text("Zoë Quill").first).to_be_visible()


def test_whoever_goes_on_waits_until_everything_is_saved(opened: Opens) -> None:
    editor = opened(excused=CONFLICT)
    editor.click("Date", 30, 30)
    editor.page.get_by_role("link", name="Review").click()
    editor.page.wait_for_url("**/review")
    people = editor.stage.do(editor.stage.site.api.get(editor.document))["recipients"]
    assert len(people[0]["fields"]) == 1


# ---------- what the file asks for ----------


def test_fields_of_the_file_are_placed_by_themselves_and_taken_back(opened: Opens, shot: Shot) -> None:
    file = mark_page((60, 700, "{{signature:1}}"), (60, 600, "{{initials:2}}"), (60, 500, "{{date:7}}"))
    editor = opened(file=file)
    page = editor.page
    line = page.locator("#placed")
    expect(line).to_contain_text("2 fields were found in the file.")
    expect(editor.fields()).to_have_count(2)
    assert [(one["type"], one["who"]) for one in editor.read_stored()] == [
        ("signature", "Helena"),
        ("initials", "Tomas"),
    ]
    for field, stored in zip(editor.fields().all(), editor.read_stored(), strict=True):
        assert editor.measure_field(field) == pytest.approx(place(stored), abs=0.1)
    shot(page, "office-editor-found")
    assert complaints(page, ALL) == []
    line.get_by_role("button", name="Undo").click()
    expect(editor.fields()).to_have_count(0)
    expect(line).to_be_hidden()
    assert editor.read_stored() == []

    page.get_by_role("button", name="Place the 2 fields found in the file").click()
    box = page.get_by_role("dialog", name="Fields found in the file")
    expect(box).to_contain_text("Helena Brandt Signature")
    expect(box).to_contain_text("disappear from the pages")
    expect(box).to_contain_text("{{date:7}} · Page 1 · It is for recipient 7, and there is none.")
    shot(page, "office-editor-found-again")
    assert complaints(page, ALL) == []
    box.get_by_role("button", name="Place 2 fields").click()
    expect(editor.fields()).to_have_count(2)
    expect(page.get_by_role("button", name="Place the")).to_be_hidden()


def test_a_form_is_given_to_whom_one_says(opened: Opens) -> None:
    form = with_form(
        {"FT": "/Tx", "T": "city"}, {"FT": "/Btn", "T": "agree", "Rect": (100, 600, 120, 620)}, rotate=90
    )
    editor = opened(file=form)
    expect(editor.fields()).to_have_count(2)
    assert {one["who"] for one in editor.read_stored()} == {"Helena"}
    editor.page.locator("#placed").get_by_role("button", name="Undo").click()
    expect(editor.fields()).to_have_count(0)
    editor.page.get_by_role("button", name="Place the 2 fields found in the file").click()
    editor.page.get_by_label("Who fills in the form?").select_option(label="Tomas Becker")
    editor.page.get_by_role("button", name="Place 2 fields").click()
    expect(editor.fields()).to_have_count(2)
    assert sorted((one["type"], one["who"], one["key"]) for one in editor.read_stored()) == [
        ("checkbox", "Tomas", "agree"),
        ("text", "Tomas", "city"),
    ]


# ---------- the whole ----------


@pytest.mark.parametrize("width", choose([1280, 360], [768]))
def test_no_rule_of_accessibility_is_broken(opened: Opens, shot: Shot, width: int) -> None:
    people = [{**PEOPLE[0], "name": "Helena " + "B" * 150}, *PEOPLE[1:]]
    fields = [a_field("signature"), a_field("radio", y=30, options=["a", "b"]), a_field("checkbox", y=50)]
    editor = opened(pages=3, fields=fields, people=people, width=width, height=900, reduced_motion="reduce")
    page = editor.page

    def check(name: str) -> None:
        shot(page, f"office-editor-{name}-{width}")
        assert complaints(page, ALL) == [], name
        assert complaints(page, COLOURS, "dark") == [], f"{name} in the dark"
        page.emulate_media(color_scheme="light")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    check("page")
    editor.fields().nth(1).click()
    if width < 800:
        page.locator("#m-prop").click()
    check("one")
    if width < 800:
        page.get_by_role("button", name="Done").click()
    editor.fields().nth(1).focus()
    page.keyboard.press("Control+a")
    check("several")
    page.keyboard.press("Escape")
    if page.locator("#thumbs").is_hidden():
        page.get_by_role("button", name="Page thumbnails").click()
        check("thumbs")
        page.get_by_role("link", name="Page 3").click()
        expect(editor.sheet(3)).to_be_in_viewport()
        expect(page.locator("#thumbs")).to_be_hidden()
    if width > 800:
        page.get_by_role("button", name="Keyboard shortcuts").click()
        check("keys")


def test_a_draft_without_recipients_says_what_to_do(opened: Opens) -> None:
    editor = opened(people=[])
    expect(editor.page.get_by_text("No one can fill in fields yet.")).to_be_visible()
    expect(editor.page.get_by_role("link", name="Add recipients")).to_have_attribute(
        "href", f"/documents/{editor.document}/edit"
    )
    assert complaints(editor.page, ALL) == []


def test_two_hundred_pages_with_five_hundred_fields_stay_quick(opened: Opens) -> None:
    fields = [a_field("text", n % 3 * 30 + 2, n // 200 * 30 + 5, n % 200 + 1) for n in range(500)]
    editor = opened(pages=200, fields=fields)
    page = editor.page
    assert editor.fields().count() == 500
    loaded = "[...document.querySelectorAll('.sheet > img')].filter((one) => one.complete && one.naturalWidth).length"
    assert page.evaluate(loaded) < 40, "only the pages near the window are fetched"
    slow = page.evaluate(DRAG)
    assert slow < 16, f"a step of a drag takes {slow} ms"
    assert len(editor.read_stored()) == 500


def test_the_page_reads_without_a_script(
    stage: BrowserStage, visit: Visits, session: dict[str, Any], opened: Opens
) -> None:
    editor = opened(fields=[a_field("signature", label="Sign here")])
    address = f"{stage.site.base}/documents/{editor.document}/fields"
    page = visit.at(address, java_script_enabled=False, storage_state=session, excused=": csp")
    expect(page.locator("noscript")).to_be_visible()
    expect(page.get_by_text("Signature · Helena Brandt · Page 1")).to_be_visible()
    expect(page.locator("#palette")).to_be_hidden()


def test_script_and_style_of_the_page_are_light(opened: Opens) -> None:
    editor = opened()
    addresses = editor.page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    files = Assets.load().files
    named = {
        one.split("/static/")[1].partition("/")[2].partition("#")[0] for one in addresses if "/static/" in one
    }
    sent = {
        name: len(gzip.compress(files[name].plain, 9))
        for name in named
        if name.endswith((".js", ".css", ".svg"))
    }
    assert {"editor.css", "office.css", "editor/main.js", "office.js"} <= sent.keys()
    assert "editor/saving.js" not in sent
    assert sum(sent.values()) <= MOST, sent


def test_the_modules_are_short() -> None:
    for file in (Path("esign/web/static/editor")).glob("*.js"):
        assert len(file.read_text("utf-8").splitlines()) < 400, file
