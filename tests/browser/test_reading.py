"""Reading: pages that come and go, sharp at any size, where one is, as text, and with what others have filled in."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from esign.core.document.document import Document, FieldType, Ink, RecipientStatus, Role
from tests.browser.conftest import alive
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.web.signing.site import A4, NOW, SigningSite, a_document, a_field, a_recipient, other

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
MANY = 200
HELD = """() => {
  const held = [...document.querySelectorAll(".page > img")].filter((one) => one.src.includes("/pages/"));
  return {
    pictures: held.length,
    megabytes: held.reduce((sum, one) => sum + one.naturalWidth * one.naturalHeight * 4, 0) / 1e6,
    nodes: document.querySelectorAll("*").length,
  };
}"""
FLICK = """async () => {
  const end = document.documentElement.scrollHeight - innerHeight;
  for (let at = 0; at < end; at += 9000) {
    scrollTo({ top: at, behavior: "instant" });
    await new Promise(requestAnimationFrame);
  }
  scrollTo({ top: end, behavior: "instant" });
}"""
SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})"""
FREE = """() => [innerWidth / 2, (document.querySelector(".bar").offsetHeight
  + document.querySelector("#dock").getBoundingClientRect().top) / 2]"""
PICTURE = "#page-{} > img:not(.filled)"
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
BOTH = [pytest.param(PHONE, id="phone"), pytest.param(DESK, id="desk")]
WAITING = """([number, size]) => {
  const img = document.querySelector(`#page-${number} > img`);
  return img.src.includes("/pages/") && img.complete && Number(img.dataset.size ?? 1) >= size;
}"""


def long(pages: int = MANY) -> Document:
    """The agreement with so many pages; its fields are on the first two."""
    document = a_document()
    file = replace(document.file, pages=(A4,) * pages)
    return replace(document, file=file)


def wait_until_loaded(page: Page, number: int, size: int = 1) -> None:
    page.wait_for_function(WAITING, arg=[number, size])


def rect(page: Page, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).first.evaluate(
        "one => one.getBoundingClientRect().toJSON()"
    )
    return found


def middle(page: Page, selector: str) -> tuple[float, float]:
    box = rect(page, selector)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def press(page: Page, selector: str) -> None:
    """As a hand does; the tool's own click first scrolls to what is stuck to the top."""
    page.mouse.click(*middle(page, selector))


# ---------- a window of pages ----------


@pytest.mark.parametrize("screen", BOTH)
def test_a_document_of_200_pages_is_scrolled_while_a_few_are_held(
    visit: Visit, screen: dict[str, int]
) -> None:
    page = visit(SigningSite(long()), **screen)
    wait_until_loaded(page, 1)
    heights = page.evaluate("document.documentElement.scrollHeight")
    for number in (3, 40, 41, 120, 199, 200, 7):
        page.evaluate("number => document.querySelector(`#page-${number}`).scrollIntoView()", number)
        wait_until_loaded(page, number)
        page.wait_for_function(f"() => ({HELD})().pictures <= 18")
        held = page.evaluate(HELD)
        assert held["pictures"] <= 18 and held["megabytes"] <= 90, held
        assert held["nodes"] < 2_000, held
    assert page.evaluate("document.documentElement.scrollHeight") == heights


def test_pages_that_are_only_passed_are_not_fetched(visit: Visit) -> None:
    asked: list[str] = []
    page = visit(SigningSite(long()))
    wait_until_loaded(page, 1)
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(FLICK)
    wait_until_loaded(page, MANY)
    assert len([url for url in asked if "/pages/" in url]) < MANY / 2


def ask_late(pages: int) -> Document:
    """A document of so many pages, whose only field is on the last."""
    field = a_field("late", FieldType.TEXT, pages, (10, 60, 30, 3), label="Place")
    document = a_document(a_recipient((field,)))
    return replace(document, file=replace(document.file, pages=(A4,) * pages))


def note_pictures(page: Page) -> list[str]:
    """The pictures of pages that are asked for from now on, such as `3.webp`."""
    asked: list[str] = []

    def note(request: Request) -> None:
        name = request.url.rpartition("/pages/")[2]
        if ".webp" in name:
            asked.append(name)

    page.on("request", note)
    return asked


def test_the_path_leads_to_a_far_page_that_was_fetched_while_there_was_time(visit: Visit) -> None:
    page = visit(SigningSite(ask_late(60)))
    wait_until_loaded(page, 2)
    wait_until_loaded(page, 60)
    assert page.evaluate("scrollY") == 0
    asked = note_pictures(page)
    page.locator("[data-action=sign]:visible").click()
    expect(page.locator("#slot [data-field=fld_late]")).to_be_focused()
    assert rect(page, "#f-fld_late")["top"] < PHONE["height"]
    wait_until_loaded(page, 59)
    assert "60.webp" not in asked
    assert len(asked) <= 5 and all(int(name.partition(".")[0]) > 56 for name in asked), asked


def test_a_page_that_is_gone_to_is_fetched_before_all_others(visit: Visit) -> None:
    page = visit(SigningSite(ask_late(60)))
    wait_until_loaded(page, 60)
    asked = note_pictures(page)
    page.locator("#page-3").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    wait_until_loaded(page, 3)
    page.locator("#where").evaluate("one => one.click()")  # it may have gone to rest meanwhile
    page.locator("#goto-page").fill("40")
    page.locator("#goto-page").press("Enter")
    wait_until_loaded(page, 40)
    wait_until_loaded(page, 41)
    there = [name for name in asked if int(name.partition(".")[0]) > 8]
    assert there[0] == "40.webp", asked
    assert len(there) <= 8 and all(36 < int(name.partition(".")[0]) < 44 for name in there), asked


def test_a_picture_of_a_page_that_was_left_gives_way_to_the_page_of_the_field(visit: Visit) -> None:
    answered: list[str] = []
    page = visit(SigningSite(ask_late(60)))
    held: list[Route] = []
    wait_until_loaded(page, 2)
    page.route("**/pages/30.webp", lambda route: held.append(route))
    with page.expect_request("**/pages/30.webp"):
        page.locator("#page-30").scroll_into_view_if_needed()
    with page.expect_event("requestfailed", lambda request: "/pages/30." in request.url):
        page.locator("[data-action=sign]:visible").click()
    wait_until_loaded(page, 60)
    page.on("response", lambda response: answered.append(response.url))
    for route in held:
        route.continue_()  # nothing waits for it any more, so it does not even reach the server
    page.locator("#page-45").scroll_into_view_if_needed()
    wait_until_loaded(page, 45)
    assert any("/pages/45" in url for url in answered)
    assert not any("/pages/30" in url for url in answered)


def test_a_page_whose_picture_is_on_its_way_shows_a_sketch_of_it(visit: Visit, shot: Shot) -> None:
    page = visit(SigningSite(ask_late(60)))
    held: list[Route] = []
    page.route("**/pages/*.webp", lambda route: held.append(route))
    page.reload(wait_until="commit")  # so that no page is fetched ahead
    alive(page)
    asked = note_pictures(page)
    with page.expect_request("**/pages/60.webp"):
        page.locator("[data-action=sign]:visible").click()
    assert asked[0] == "60.webp", asked
    page.wait_for_function(
        "() => document.querySelector('#page-60').getBoundingClientRect().top < innerHeight"
    )
    sketch = page.locator(PICTURE.format(60))
    expect(sketch).to_have_css("background-image", re.compile("repeating-linear-gradient"))
    shot(page, "reading-sketch")
    for route in held:
        route.continue_()
    page.unroute("**/pages/*.webp")
    wait_until_loaded(page, 60)
    expect(sketch).to_have_css("background-image", "none")


def test_nothing_moves_when_the_pages_come(visit: Visit) -> None:
    page = visit(SigningSite(long(9)))
    before = [rect(page, f"#page-{n}")["height"] for n in range(1, 10)]
    page.locator("#page-9").scroll_into_view_if_needed()
    wait_until_loaded(page, 9)
    assert [rect(page, f"#page-{n}")["height"] for n in range(1, 10)] == before
    assert page.evaluate(SHIFT) <= 0.02


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_one_sees_where_one_is_and_goes_to_a_page(visit: Visit, shot: Shot, screen: dict[str, int]) -> None:
    page = visit(SigningSite(long(80)), **screen)
    where = page.locator("#where")
    expect(where).to_have_text("Page 1 of 80")
    page.locator("#page-12").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    expect(where).to_have_text("Page 12 of 80")
    expect(where).to_have_css("opacity", "1")
    wait_until_loaded(page, 12)
    shot(page, "reading-1-where")
    page.evaluate("scrollBy(0, 1)")
    expect(where).to_have_css("opacity", "1")
    press(page, "#where")
    expect(page.locator("#goto-page")).to_be_focused()
    expect(page.locator("#goto-page")).to_have_value("12")
    shot(page, "reading-2-go")
    page.keyboard.type("73")
    page.keyboard.press("Enter")
    expect(page.locator("#goto")).to_be_hidden()
    expect(where).to_have_text("Page 73 of 80")
    expect(page.locator("#page-73")).to_be_focused()
    assert 50 <= rect(page, "#page-73")["top"] <= 90
    wait_until_loaded(page, 73)


def test_a_single_page_needs_no_way_to_pages(visit: Visit) -> None:
    document = replace(long(1), recipients=(a_recipient(()),))
    expect(visit(SigningSite(document)).locator("#where")).to_have_count(0)


# ---------- zoom ----------


def press_buttons(page: Page, point: tuple[float, float]) -> None:
    for _ in range(2):
        press(page, "[data-zoom='1']")


def press_keys(page: Page, point: tuple[float, float]) -> None:
    page.locator(".desk").focus()
    page.keyboard.press("+")
    page.keyboard.press("=")


def turn_wheel(page: Page, point: tuple[float, float]) -> None:
    page.mouse.move(*point)
    page.keyboard.down("Control")
    for _ in range(3):
        page.mouse.wheel(0, -60)
    page.keyboard.up("Control")
    expect(page.locator(".percent")).to_have_text("246%")


def pinch(page: Page, point: tuple[float, float], ratio: float = 1.5) -> None:
    """Two fingers move apart around the point."""
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, half: float | None) -> None:
        ends = [] if half is None else [{"x": point[0] + side * half, "y": point[1]} for side in (-1, 1)]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": ends})

    touch("Start", 60)
    for n in range(1, 11):
        touch("Move", 60 + 60 * (ratio - 1) * n / 10)
    touch("End", None)


WAYS = {"buttons": press_buttons, "keys": press_keys, "wheel": turn_wheel, "fingers": pinch}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("language", ["en", "ar"])
def test_zoom_keeps_the_place_that_is_looked_at(visit: Visit, way: str, language: str) -> None:
    screen = PHONE if way == "fingers" else DESK
    page = visit(SigningSite(), **screen, locale=language)
    wait_until_loaded(page, 1)
    place = "#f-fld_wood" if way != "buttons" else "#f-fld_payment"
    page.locator(place).evaluate("one => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
    wait_until_loaded(page, 2)  # so is what hears keys and fingers
    point = middle(page, place)
    free: tuple[float, float] = tuple(page.evaluate(FREE))
    at_middle = way in ("buttons", "keys")
    width = rect(page, "#page-1")["width"]
    WAYS[way](page, point)
    page.wait_for_function("was => document.querySelector('#page-1').clientWidth > was * 1.4", arg=width)
    grown = rect(page, "#page-1")["width"] / width
    assert 1.4 < grown < 2.5
    aim = free if at_middle else point
    wanted = tuple(a + (p - a) * grown for a, p in zip(aim, point, strict=True))
    slack = 4 if way != "wheel" else 160  # at a desk the edge of the page may come first
    assert middle(page, place)[0] == pytest.approx(wanted[0], abs=slack)
    assert middle(page, place)[1] == pytest.approx(wanted[1], abs=4)
    page.locator(".desk").focus()
    page.keyboard.press("0")
    assert rect(page, "#page-1")["width"] == pytest.approx(width, abs=1)
    assert middle(page, place)[1] == pytest.approx(point[1], abs=90)


def test_keys_zoom_the_document_only_where_it_has_the_focus(visit: Visit) -> None:
    page = visit(SigningSite(), **DESK)
    page.locator("#f-fld_wood").scroll_into_view_if_needed()
    wait_until_loaded(page, 2)
    for key in ("+", "-", "0"):
        page.keyboard.press(key)
    expect(page.locator(".percent")).to_have_text("100%")
    page.locator("#f-fld_address").click()
    page.keyboard.type("1+0-")
    expect(page.locator("#slot [data-field=fld_address]")).to_have_value("1+0-")
    expect(page.locator(".percent")).to_have_text("100%")
    page.keyboard.press("Escape")
    page.keyboard.press("+")
    expect(page.locator(".percent")).to_have_text("125%")


@pytest.mark.parametrize("screen", BOTH)
def test_a_page_that_grows_becomes_sharp_without_a_flash(
    visit: Visit, shot: Shot, screen: dict[str, int]
) -> None:
    page = visit(SigningSite(), **screen)
    wait_until_loaded(page, 1)
    page.evaluate("""() => { window.least = Infinity; (function look() {
      const img = document.querySelector("#page-1 > img");
      least = Math.min(least, img && img.complete ? img.naturalWidth : 0);
      requestAnimationFrame(look);
    })(); }""")
    first = page.locator(PICTURE.format(1)).get_attribute("src")
    assert first is not None and "size" not in first
    while page.locator("[data-zoom='1']").is_enabled():
        page.locator("[data-zoom='1']").click()
    wait_until_loaded(page, 1, 3)
    expect(page.locator(PICTURE.format(1))).to_have_attribute("src", re.compile(r"/pages/1\.webp\?size=3$"))
    seen, shown = page.locator(PICTURE.format(1)).evaluate(
        "one => [one.naturalWidth, one.clientWidth * devicePixelRatio]"
    )
    assert seen >= min(shown / 1.3, 2700)
    assert page.evaluate("least") == 910
    shot(page, "reading-3-sharp")


def test_a_screen_of_many_dots_gets_sharp_pages_at_once(visit: Visit) -> None:
    page = visit(SigningSite(), **DESK, device_scale_factor=2)
    wait_until_loaded(page, 1, 2)


def test_without_a_sharper_picture_the_first_stays(visit: Visit) -> None:
    class Tired(SigningSite):
        async def draw(self, path: str, query: str) -> None:
            """Draw the first size only, as a worker that runs out of time at a larger one."""
            if "size=" not in query:
                await super().draw(path, query)

    page = visit(Tired(), **DESK, device_scale_factor=2, excused="Failed to load resource")
    with page.expect_response(lambda answer: "size=2" in answer.url):
        wait_until_loaded(page, 1)
    expect(page.locator(PICTURE.format(1))).to_have_js_property("naturalWidth", 910)


# ---------- as text ----------


def read_as_text(page: Page) -> None:
    expect(page.locator("body[data-alive]")).to_be_attached()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Read as text").click()
    expect(page.locator("#text")).to_be_visible()


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_the_document_is_read_as_text_and_its_fields_lead_back(
    visit: Visit, shot: Shot, screen: dict[str, int]
) -> None:
    site = SigningSite(replace(long(4), recipients=(a_recipient(), other())))
    site.texts[1] = [
        {"top": 7.0, "text": "Joinery agreement"},
        {
            "top": 14.0,
            "text": "between Northlight Joinery and Jonas Weber, for the kitchen at 14 Linden Row.",
        },
        {"top": 56.0, "text": "The customer chooses how to pay:"},
    ]
    site.texts[2] = []
    site.texts[3] = [{"top": 9.0, "text": "اتفاقية نجارة بين الطرفين"}]
    page = visit(site, **screen)
    read_as_text(page)
    expect(page.get_by_role("heading", name="The document as text")).to_be_focused()
    first = page.get_by_role("region", name="Page 1 of 4")
    expect(first).to_contain_text("for the kitchen at 14 Linden Row.")
    lines: Sequence[str] = first.locator("p").all_inner_texts()
    assert lines[:3] == [
        "Joinery agreement",
        "between Northlight Joinery and Jonas Weber, for the kitchen at 14 Linden Row.",
        "Name, filled in: Jonas Weber",
    ]
    assert lines.index("Payment, required, empty") == lines.index("The customer chooses how to pay:") + 1
    shot(page, "reading-4-text")
    second = page.get_by_role("region", name="Page 2 of 4")
    second.scroll_into_view_if_needed()
    expect(second).to_contain_text("This page is a picture, so there’s no text")
    third = page.get_by_role("region", name="Page 3 of 4")
    third.scroll_into_view_if_needed()
    expect(third.locator("p[dir=auto]")).to_have_css("direction", "rtl")
    first.get_by_role("button", name="Payment, required, empty").click()
    expect(page.locator("#text")).to_be_hidden()
    expect(page.locator("#slot [data-field=fld_payment]").first).to_be_visible()
    expect(page.get_by_role("button", name="Document", exact=True)).to_have_attribute("aria-pressed", "true")


def test_the_text_is_fetched_page_by_page_and_asked_for_again_when_it_failed(visit: Visit) -> None:
    asked: list[str] = []
    page = visit(SigningSite(long()), excused="Failed to load resource")
    page.route("**/pages/1.json", lambda route: route.abort())
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith(".json") else None)
    read_as_text(page)
    first = page.get_by_role("region", name="Page 1 of 200")
    expect(first).to_contain_text("We couldn’t load the text of this page.")
    page.unroute("**/pages/1.json")
    first.get_by_role("button", name="Try again").click()
    expect(first).to_contain_text("Words of page 1.")
    assert len(set(asked)) < 40


def test_the_text_is_reached_and_left_by_keyboard_alone(visit: Visit) -> None:
    page = visit(SigningSite(long(3)), **DESK)
    expect(page.locator("body[data-alive]")).to_be_attached()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('popovertarget')") == "menu":
            break
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Read as text")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The document as text")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="View page").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#page-1")).to_be_focused()
    expect(page.locator("#text")).to_be_hidden()


def test_who_only_reads_has_the_text_as_well(visit: Visit) -> None:
    document = replace(long(3), recipients=(a_recipient((), role=Role.VIEWER), other()))
    page = visit(SigningSite(document))
    read_as_text(page)
    expect(page.get_by_role("region", name="Page 1 of 3")).to_contain_text("Words of page 1.")
    page.get_by_role("button", name="View page").first.click()
    expect(page.locator("#text")).to_be_hidden()
    expect(page.locator("#page-1")).to_be_focused()


# ---------- what others have filled in ----------


def edge(page: Page, place: str) -> str:
    return str(page.locator(place).evaluate("one => getComputedStyle(one).getPropertyValue('--edge')"))


def countersigned_document(*, done: bool) -> Document:
    theirs = other()
    fields = (replace(theirs.fields[0], value=Ink("typed", text="M. Okafor", hand="a")), theirs.fields[1])
    acted: dict[str, Any] = (
        {"status": RecipientStatus.COMPLETED, "completed_at": NOW, "fields": fields} if done else {}
    )
    return a_document(a_recipient(), replace(theirs, order=1, **acted))


@pytest.mark.parametrize("screen", ON_A_PHONE)
def test_the_next_sees_what_was_filled_in_before(visit: Visit, shot: Shot, screen: dict[str, int]) -> None:
    page = visit(SigningSite(countersigned_document(done=True)), **screen)
    page.locator("#f-fld_o_signature").evaluate(
        "one => one.scrollIntoView({ block: 'center', behavior: 'instant' })"
    )
    wait_until_loaded(page, 2)
    over = page.locator("#page-2 > img.filled")
    expect(over).to_have_js_property("naturalWidth", 910)
    assert rect(page, "#page-2 > img.filled") == rect(page, PICTURE.format(2))
    expect(page.locator("#f-fld_o_signature")).to_have_text("Mira Okafor has signed")
    assert "solid" in edge(page, "#f-fld_o_signature")
    expect(page.locator("#f-fld_signature")).to_be_visible()
    shot(page, "reading-5-before")


def test_nothing_is_seen_of_who_has_not_finished(visit: Visit) -> None:
    asked: list[str] = []
    page = visit(SigningSite(countersigned_document(done=False)))
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#page-2").scroll_into_view_if_needed()
    wait_until_loaded(page, 2)
    expect(page.locator("img.filled")).to_have_count(0)
    assert not [url for url in asked if "filled" in url]
    assert "dashed" in edge(page, "#f-fld_o_signature")
