"""The sheet in which a signature is given: drawn, typed in any script, or from a picture."""

import base64
import io
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from esign.core.document.document import FieldType
from tests.browser import photos
from tests.browser.screens import ON_A_DESK
from tests.browser.test_signing import draw
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient, other

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
WAYS = ("drawn", "typed", "uploaded")
SUBSETS = [list(some) for n in (1, 2, 3) for some in combinations(WAYS, n)]


def a_signer(*kinds: FieldType, name: str = "Jonas Weber", **options: Any) -> SigningSite:
    fields = tuple(
        a_field(f"ink{n}", kind, 1, (10, 10 + 15 * n, 40, 8), label=f"Ink {n}", options=options)
        for n, kind in enumerate(kinds or (FieldType.SIGNATURE,))
    )
    me = a_recipient(fields)
    return SigningSite(
        a_document(type(me)(me.id, me.email, name, fields=fields, order=1, status=me.status), other())
    )


def open_sheet(page: Page) -> None:
    page.locator("[data-action=sign]:visible").click()
    page.locator("[data-action=sign]:visible").click()
    expect(page.locator("#adopt")).to_be_visible()


def give(page: Page, file: Any) -> None:
    page.locator("#tab-upload").click()
    page.locator("#upload").set_input_files(file)


def picture_in(page: Page, place: str = "#f-fld_ink0 img") -> Image.Image:
    """What stands at the field, as it will be sent."""
    url = str(page.locator(place).get_attribute("src"))
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


# ---------- a picture ----------


@pytest.mark.parametrize("screen", ON_A_DESK)
def test_a_photograph_becomes_a_signature_without_its_paper(
    visit: Visit, shot: Shot, screen: dict[str, int]
) -> None:
    site = a_signer()
    page = visit(site, **screen)
    open_sheet(page)
    page.locator("#tab-upload").click()
    shot(page, "ink-upload-1-ask")
    lying = photos.signature((1600, 1200)).transpose(Image.Transpose.ROTATE_90)
    give(page, photos.file("IMG_1.jpg", "image/jpeg", photos.jpeg(lying, orientation=6)))
    expect(page.locator("#drop-view img")).to_be_visible()
    expect(page.locator("#drop-said")).to_have_text("This is how it will look, with the paper removed.")
    shot(page, "ink-upload-2-preview")
    page.locator("[data-action=adopt]").click()
    ink = picture_in(page)
    assert (ink.format, ink.mode) == ("PNG", "RGBA") and max(ink.size) <= 900
    assert ink.width > 2 * ink.height and ink.width > 600  # upright, and only the ink, at full sharpness
    alpha = ink.getchannel("A")
    assert alpha.histogram()[0] > 0.5 * ink.width * ink.height
    assert alpha.getpixel((0, 0)) == 0
    red, _, blue = ink.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
    assert blue > red  # blue ink stays blue
    shot(page, "ink-upload-3-placed")
    page.locator("[data-action=next]:visible").click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    sent = site.calls[-1][1]["fld_ink0"]
    assert sent["kind"] == "uploaded" and b"home" not in base64.b64decode(sent["picture"].partition(",")[2])


def test_a_file_that_is_no_picture_of_a_signature_ends_in_a_sentence(visit: Visit, shot: Shot) -> None:
    page = visit(a_signer())
    open_sheet(page)
    for name, (file, sentence) in photos.unusable().items():
        give(page, file)
        expect(page.locator("#adopt-error")).to_contain_text(sentence)
        page.locator("[data-action=adopt]").click()
        expect(page.locator("#adopt-error")).to_have_text("Choose a picture first.")
        expect(page.locator("#adopt")).to_be_visible()
        shot(page, f"ink-upload-{name.replace(' ', '-')}")
    give(page, photos.file("a.jpg", "image/jpeg", photos.jpeg(photos.signature((900, 600)))))
    expect(page.locator("#drop-view img")).to_be_visible()
    expect(page.locator("#adopt-error")).to_be_hidden()
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_ink0 img")).to_be_visible()


def test_a_photograph_of_fifty_megapixels_is_taken(visit: Visit) -> None:
    photo = photos.jpeg(photos.signature((8160, 6120)))
    page = visit(a_signer())
    open_sheet(page)
    give(page, photos.file("IMG_50.jpg", "image/jpeg", photo))
    expect(page.locator("#drop-view img")).to_be_visible(timeout=30_000)
    page.locator("[data-action=adopt]").click()
    ink = picture_in(page)
    assert 800 <= max(ink.size) <= 900


# ---------- the ways that are allowed ----------


@pytest.mark.parametrize("allowed", SUBSETS, ids="-".join)
def test_only_the_ways_that_are_allowed_are_offered(visit: Visit, allowed: list[str]) -> None:
    site = a_signer(allowed=allowed)
    page = visit(site)
    open_sheet(page)
    shown = [
        str(tab.get_attribute("data-mode"))
        for tab in page.locator("#adopt [role=tab]").all()
        if tab.is_visible()
    ]
    assert shown == (allowed if len(allowed) > 1 else [])
    expect(page.locator("#adopt [role=tabpanel]:visible")).to_have_count(1)
    if "drawn" in allowed:
        draw(page)
    elif "typed" not in allowed:
        page.locator("#upload").set_input_files(
            photos.file("a.jpg", "image/jpeg", photos.jpeg(photos.signature((900, 600))))
        )
        expect(page.locator("#drop-view img")).to_be_visible()
    page.locator("[data-action=adopt]").click()
    page.locator("[data-action=next]:visible").click()
    page.locator("[data-action=consent]").check()
    page.locator("[data-action=finish]").click()
    expect(page.locator("body")).to_have_attribute("data-state", "waiting")
    assert site.calls[-1][1]["fld_ink0"]["kind"] == allowed[0]


def test_what_was_adopted_stands_in_each_further_field_after_one_press_and_can_be_changed(
    visit: Visit,
) -> None:
    signature, initials = FieldType.SIGNATURE, FieldType.INITIALS
    page = visit(a_signer(signature, signature, initials, initials))
    open_sheet(page)
    draw(page)
    page.locator("[data-action=adopt]").click()
    page.locator("#next").click()
    page.locator("[data-action=sign]:visible").click()
    expect(page.locator("#adopt")).to_be_hidden()
    expect(page.locator("#f-fld_ink1 img")).to_be_visible()
    page.locator("#next").click()
    page.locator("[data-action=sign]:visible").click()
    expect(page.locator("#adopt-title")).to_have_text("Your initials")
    page.locator("#tab-type").click()
    page.locator("[data-action=adopt]").click()
    page.locator("#next").click()
    page.locator("[data-action=sign]:visible").click()
    expect(page.locator("#f-fld_ink3 img")).to_be_visible()
    before = str(page.locator("#f-fld_ink3 img").get_attribute("src"))
    page.locator("#slot .put").click()
    page.locator("input[name=style][value=c]").check()
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_ink3 img")).not_to_have_attribute("src", before)


# ---------- names in every script ----------

NAMES = {
    "Arabic": "محمد علي",
    "Hebrew": "שרה כהן",
    "Greek": "Ελένη Παπά",
    "Thai": "นภา ใจดี",
    "Devanagari": "अनुराधा शर्मा",
    "emoji": "Jonas 🎉",
}


@pytest.mark.parametrize("script", NAMES)
def test_a_name_in_another_script_is_shown_in_the_letters_of_the_seal(
    visit: Visit, shot: Shot, script: str
) -> None:
    site = a_signer(name=NAMES[script])
    page = visit(site)
    open_sheet(page)
    page.locator("#tab-type").click()
    letters = page.locator("#p-type .style:visible .typed img")
    expect(letters).to_have_count(1)
    shown = str(letters.get_attribute("src"))
    shot(page, f"ink-type-{script}")
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_ink0 img")).to_have_attribute("src", shown)
    shot(page, f"ink-placed-{script}")
    assert {call for call in site.calls if call[0] == "letters"} == {("letters", NAMES[script], None)}


def test_a_name_without_letters_to_print_it_ends_in_a_sentence_and_can_be_drawn(
    visit: Visit, shot: Shot
) -> None:
    page = visit(a_signer(name="કિરણ"))
    open_sheet(page)
    page.locator("#tab-type").click()
    expect(page.locator("#adopt-error")).to_have_text(
        "The PDF can’t show કિ ર ણ. Use other letters, or draw it."
    )
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#adopt")).to_be_visible()
    expect(page.locator("#adopt-error")).to_contain_text("or draw it")
    expect(page.locator("#p-type .style:visible")).to_have_count(0)
    shot(page, "ink-type-unprintable")
    page.locator("#typed-text").fill("Kiran")
    expect(page.locator("#adopt-error")).to_be_hidden()
    page.locator("#tab-draw").click()
    draw(page)
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_ink0 img")).to_be_visible()


def test_initials_are_whole_letters_of_the_name(visit: Visit) -> None:
    page = visit(a_signer(FieldType.INITIALS, name="क्षमा 👩‍👧 Weber"))
    open_sheet(page)
    page.locator("#tab-type").click()
    expect(page.locator("#typed-text")).to_have_value("क्ष👩‍👧W")


def test_when_nobody_answers_the_plain_letters_a_sentence_says_so(visit: Visit) -> None:
    page = visit(a_signer(name="محمد"), excused="Failed to load resource")
    page.route("**/letters", lambda route: route.abort())
    open_sheet(page)
    page.locator("#tab-type").click()
    expect(page.locator("#adopt-error")).to_contain_text("No connection")


def test_a_failure_behind_another_tab_is_said_once_the_tab_is_chosen(visit: Visit) -> None:
    page = visit(a_signer(name="محمد"), excused="Failed to load resource")
    page.route("**/letters", lambda route: route.abort())
    open_sheet(page)
    page.wait_for_function("() => document.querySelector('#adopt .styles').parentNode.hidden")
    expect(page.locator("#adopt-error")).to_be_hidden()
    page.locator("#tab-type").click()
    expect(page.locator("#adopt-error")).to_contain_text("No connection")


def test_the_plain_letters_are_asked_for_again_when_the_connection_is_back(visit: Visit) -> None:
    page = visit(a_signer(name="محمد"), excused="Failed to load resource")
    page.route("**/letters", lambda route: route.abort())
    open_sheet(page)
    page.locator("#tab-type").click()
    expect(page.locator("#adopt-error")).to_contain_text("No connection")
    page.unroute("**/letters")
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#adopt")).to_be_hidden()


# ---------- drawing ----------


def test_strokes_are_taken_back_one_by_one_and_so_is_clearing(visit: Visit) -> None:
    page = visit(a_signer())
    open_sheet(page)
    undo, clear, hint = page.locator("#undo"), page.locator("#clear"), page.locator(".ghost")
    draw(page)
    draw(page)
    undo.click()
    expect(clear).to_be_enabled()
    clear.click()
    expect(clear).to_be_disabled()
    expect(hint).to_be_visible()
    undo.click()
    expect(hint).to_be_hidden()
    undo.click()
    expect(undo).to_be_disabled()
    expect(hint).to_be_visible()
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#adopt-error")).to_have_text("Draw on the line first, with a finger, pen or mouse.")


def measure_ink(page: Page) -> Any:
    """The edges of what is seen on the pad, in parts of it."""
    return page.evaluate(
        """() => {
          const pad = document.querySelector("#pad"), pen = pad.getContext("2d");
          const { data } = pen.getImageData(0, 0, pad.width, pad.height), xs = [], ys = [];
          for (let at = 3; at < data.length; at += 4) if (data[at] > 99) {
            const dot = (at - 3) / 4;
            xs.push(dot % pad.width); ys.push(Math.floor(dot / pad.width));
          }
          const far = (all, which) => all.reduce((a, b) => which(a, b));
          const edge = (all, size) => [far(all, Math.min) / size, far(all, Math.max) / size];
          return { x: edge(xs, pad.width), y: edge(ys, pad.height), ink: xs.length };
        }"""
    )


def test_what_is_drawn_stays_whole_when_the_phone_is_turned(visit: Visit, shot: Shot) -> None:
    page = visit(a_signer())
    open_sheet(page)
    draw(page)
    upright, pad = measure_ink(page), page.locator("#pad")
    dots = pad.evaluate("pad => pad.width")
    page.set_viewport_size({"width": 740, "height": 360})
    expect(pad).not_to_have_js_property("width", dots)
    lying = measure_ink(page)
    expect(page.locator("#clear")).to_be_in_viewport(ratio=1)
    shot(page, "ink-turned")
    assert lying["x"][0] > 0.02 and lying["x"][1] < 0.98 and lying["y"][0] > 0.02 and lying["y"][1] < 0.98
    page.set_viewport_size({"width": 360, "height": 740})
    expect(pad).to_have_js_property("width", dots)
    again = measure_ink(page)
    assert [*again["x"], *again["y"]] == pytest.approx([*upright["x"], *upright["y"]], abs=0.01)
    draw(page)
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_ink0 img")).to_be_visible()


def test_a_pen_that_is_pressed_writes_wider(visit: Visit) -> None:
    page = visit(a_signer())
    open_sheet(page)
    box = page.locator("#pad").bounding_box()
    assert box is not None
    pen = page.context.new_cdp_session(page)

    def stroke(force: float) -> int:
        at = {"x": box["x"] + 40, "y": box["y"] + 60}
        for n in range(30):
            kind = "mousePressed" if n == 0 else "mouseMoved"
            at = {"x": box["x"] + 40 + 8 * n, "y": box["y"] + 60 + n % 5}
            pen.send(
                "Input.dispatchMouseEvent",
                {
                    "type": kind,
                    **at,
                    "button": "left",
                    "buttons": 1,
                    "pointerType": "pen",
                    "force": force,
                    "clickCount": 1,
                },
            )
        pen.send(
            "Input.dispatchMouseEvent",
            {"type": "mouseReleased", **at, "button": "left", "pointerType": "pen"},
        )
        ink = int(measure_ink(page)["ink"])
        page.locator("#clear").click()
        return ink

    assert stroke(0.9) > 1.8 * stroke(0.3)


def test_who_comes_by_the_keyboard_is_led_to_typing(visit: Visit) -> None:
    page = visit(a_signer(), width=1280, height=800)
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#tab-type")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#pad")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Type it instead")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#typed-text")).to_be_focused()


BLIND = "HTMLCanvasElement.prototype.getContext = () => null;"
NOISY = """CanvasRenderingContext2D.prototype.getImageData = function (x, y, w, h) {
  return new ImageData(new Uint8ClampedArray(w * h * 4).fill(255), w, h);
};"""


@pytest.mark.parametrize("how", [BLIND, NOISY], ids=["no canvas", "unreadable canvas"])
def test_a_browser_that_lets_no_page_draw_leads_to_typing(visit: Visit, shot: Shot, how: str) -> None:
    page = visit(a_signer())
    page.add_init_script(how)
    page.reload()
    open_sheet(page)
    expect(page.locator("#adopt-error")).to_contain_text("Drawing doesn’t work")
    expect(page.locator("#typed-text")).to_be_visible()
    shot(page, "ink-no-canvas")
    page.locator("[data-action=adopt]").click()
    expect(page.locator("#f-fld_ink0 img")).to_be_visible()


def test_where_drawing_is_all_that_is_allowed_and_impossible_a_sentence_says_what_to_do(visit: Visit) -> None:
    page = visit(a_signer(allowed=["drawn", "uploaded"]))
    page.add_init_script(BLIND)
    page.reload()
    open_sheet(page)
    expect(page.locator("#adopt-error")).to_contain_text("open the link in another browser")
    expect(page.locator("[data-action=adopt]")).to_be_disabled()
