"""At 200 and 400 % zoom, with wider spacing, large enough to press, without motion, in forced colours."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.sample import a_contract_site, the_contract
from tests.browser.walks import WALKS
from tests.every import choose
from tests.web.test_contrast import contrast, luminance

Visit = Callable[..., Page]
ZOOMED = {"200 %": {"width": 640, "height": 400}, "400 %": {"width": 320, "height": 256}}  # of 1280 dots
PHONE = {"width": 360, "height": 740}
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
# Spacing as WCAG 1.4.12 asks for it, in the face of this machine and as if its letters were so much wider (in em), as
# those of DejaVu and Verdana are; a sheet of the script's own is within the policy.
WIDER = (0, 0.08)
SPACED = """(wider) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: ${0.12 + wider}em !important; }
    * { word-spacing: 0.16em !important; } p { margin-block-end: 2em !important; }`);
  document.adoptedStyleSheets = [sheet];
}"""
# Words that are cut because their box is small; what lies on the page is fitted to it, a written name is a picture.
CUT = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const { overflowX, overflowY } = getComputedStyle(one), inside = one.closest(".page, .typed, .sr, .until");
  if (inside || !one.innerText?.trim() || !one.checkVisibility()) return false;
  return (overflowX === "hidden" && one.scrollWidth > one.clientWidth + 1) ||
    (overflowY === "hidden" && one.scrollHeight > one.clientHeight + 1);
}).map((one) => one.outerHTML.slice(0, 120))"""
SMALL = """() => [...document.querySelectorAll("a, button, input, select, textarea, [role=tab]")].filter((one) => {
  const target = one.closest("label") ?? one;
  if (!target.checkVisibility() || one.matches(":disabled, .skip, .until, .page *, p a")) return false;
  const { width, height } = target.getBoundingClientRect();
  const least = one.matches(".btn, .put, .input, select, .choice input, .style input, [role=tab], .menu *") ? 44 : 24;
  return Math.min(width, height) < least;
}).map((one) => one.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(
    ("tag", "zoom"), choose([("en", "400 %"), ("ar", "200 %")], [("en", "200 %"), ("ar", "400 %")])
)
@pytest.mark.parametrize("name", ["look", "sign", "code-enter", "state-completed", "approve"])
def test_nothing_is_lost_or_needs_scrolling_sideways(visit: Visit, name: str, tag: str, zoom: str) -> None:
    walk = WALKS[name]
    page = visit(walk.start(tag), locale=tag, reduced_motion="reduce", **ZOOMED[zoom], **walk.how)
    for stop in walk.stops(page):
        assert page.evaluate(SIDEWAYS) <= 0, stop
        for sheet in page.locator("dialog[open], #menu:popover-open").all():
            expect(sheet).to_be_in_viewport(ratio=0.99)


def test_at_400_percent_a_part_of_the_page_stays_in_sight(visit: Visit) -> None:
    page = visit(a_contract_site(the_contract()), reduced_motion="reduce", **ZOOMED["400 %"])
    page.locator("#f-fld_planters").click()
    dock, bar = page.locator("#dock").bounding_box(), page.locator(".bar").bounding_box()
    assert dock is not None and bar is not None
    assert dock["y"] - max(0, bar["y"] + bar["height"]) >= 48
    expect(page.locator("#next")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    "name", ["look", "sign", "code-enter", "state-completed", "state-sealing", "approve"]
)
def test_wider_spacing_cuts_no_words(visit: Visit, name: str) -> None:
    walk = WALKS[name]
    page = visit(walk.start("en"), reduced_motion="reduce", **walk.how)
    page.evaluate(SPACED, WIDER[0])
    for stop in walk.stops(page):
        for wider in WIDER:
            page.evaluate(SPACED, wider)
            assert page.evaluate(SIDEWAYS) <= 0, (stop, wider)
            assert page.evaluate(CUT) == [], (stop, wider)


@pytest.mark.parametrize("name", ["look", "sign", "correct", "code-enter", "state-completed", "approve"])
def test_what_is_pressed_is_large_enough(visit: Visit, name: str) -> None:
    walk = WALKS[name]
    page = visit(walk.start("en"), reduced_motion="reduce", **PHONE, **walk.how)
    for stop in walk.stops(page):
        assert page.evaluate(SMALL) == [], stop


@pytest.mark.parametrize("calm", [True, False])
def test_motion_stops_when_asked(visit: Visit, calm: bool) -> None:
    more: dict[str, Any] = {"reduced_motion": "reduce"} if calm else {}
    page = visit(a_contract_site(the_contract()), **more)
    expect(page.locator("#dock-text")).not_to_be_empty()
    page.locator("#next").click()
    jumped = page.evaluate(
        """() => {
          const field = document.querySelector("#f-fld_cafe-signature"); // nearer than where the page always jumps
          scrollBy({ top: field.getBoundingClientRect().top - 1.2 * innerHeight, behavior: "instant" });
          field.click();
          const { top, bottom } = field.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        }"""
    )
    assert jumped is calm
    moving = page.evaluate("() => getComputedStyle(document.querySelector('.meter span')).transitionDuration")
    assert moving == ("0s" if calm else "0.25s")
    page = visit(WALKS["state-sealing"].start("en"), **more)
    turning = page.evaluate("() => document.getAnimations().length")
    assert turning == (0 if calm else 1)


def test_forced_colours_keep_edges_and_choices(visit: Visit) -> None:
    page = visit(a_contract_site(the_contract()), forced_colors="active", reduced_motion="reduce")
    edges = """(one) => { const drawn = one.matches(".field") ? "::after" : null; // it takes no room from the value
      const { borderTopWidth, borderTopStyle } = getComputedStyle(one, drawn);
      return borderTopStyle !== "none" && parseFloat(borderTopWidth) >= 1; }"""
    page.locator("#f-fld_watering").click()
    for part in (".btn:visible", "button.field:not(.tick)", ".choice:visible"):
        for one in page.locator(part).all():
            assert one.evaluate(edges), one.evaluate("(one) => one.outerHTML")
    for drawn in page.locator("button.field.tick .box").all():  # these have no border, but a picture of a box
        shades = Image.open(BytesIO(drawn.screenshot())).convert("RGB").getcolors(1 << 16) or []
        drawn_in = ["#{:02x}{:02x}{:02x}".format(*shade) for _, shade in shades if isinstance(shade, tuple)]
        assert contrast(min(drawn_in, key=luminance), max(drawn_in, key=luminance)) >= 3
    look = "(one) => { const s = getComputedStyle(one); return s.borderBlockEndColor + s.backgroundColor; }"
    pressed, other = (page.locator(f"[data-view={view}]").evaluate(look) for view in ("page", "form"))
    assert pressed != other
    page.locator("#f-fld_cafe-signature").click()
    chosen, rest = (
        page.locator(f"#adopt [role=tab][aria-selected={is_it}]").first.evaluate(look)
        for is_it in ("true", "false")
    )
    assert chosen != rest
