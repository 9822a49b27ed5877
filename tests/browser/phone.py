"""A phone in the hand of somebody who signs through the controls that can be seen."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.screens import SETTLED
from tests.browser.stage import BrowserStage
from tests.browser.test_journey import action, draw, expect_state, find_asked_field, give

SCALE = 4  # dots to a pixel
METRICS = {"width": 360, "height": 740, "deviceScaleFactor": 0, "mobile": False}
NAME = "Maria Delgado"
# Where the place of a field lies: between the bars, from its beginning on, in letters of at least ten pixels.
READABLE = """(id) => {
  const place = document.querySelector(`#f-${id}`), box = place.getBoundingClientRect(), page = place.closest(".page");
  const points = parseFloat(getComputedStyle(page).getPropertyValue("--ratio"));
  const letters = getComputedStyle(place).getPropertyValue("--s") * page.clientWidth / points;
  const top = document.querySelector(".bar").getBoundingClientRect().bottom;
  const bottom = document.querySelector("#dock").getBoundingClientRect().top;
  const begin = document.dir === "rtl" ? innerWidth - box.right : box.left;
  return place.classList.contains("active") && letters > 9.9 && box.top >= top - 1
    && (box.bottom <= bottom + 1 || box.height > bottom - top) && begin >= -1 && begin < innerWidth - 40;
}"""

Fields = tuple[dict[str, Any], ...]


def a_field(kind: str, page: int, at: tuple[float, ...], given: Any = None, **rest: Any) -> dict[str, Any]:
    """`given` is what the signer puts in."""
    x, y, width, height = at
    place = {"page": page, "x": x, "y": y, "width": width, "height": height}
    return {"type": kind, "label": f"{kind} at {x:g}", **place, **rest, "given": given}


@contextmanager
def small_dots() -> Iterator[Browser]:
    """A browser whose dots are as small as those of a phone: lines and letters lie where a phone has them."""
    with sync_playwright() as playwright:
        scale = f"--force-device-scale-factor={SCALE}"
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGS, scale])
        yield opened
        opened.close()


@contextmanager
def a_phone(browser: Browser, link: str, excused: str = "\0") -> Iterator[Page]:
    """The link opened on it; whatever the page complains of is a failure, but for what is excused."""
    context = browser.new_context(no_viewport=True, has_touch=True, locale="en-GB", reduced_motion="reduce")
    page, said = context.new_page(), list[str]()
    page.set_default_timeout(10_000)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", METRICS)
    page.goto(link)
    yield page
    context.close()
    assert [line for line in said if excused not in line] == []


def send_document(
    stage: BrowserStage, name: str, content: bytes, fields: Fields, person: str = NAME
) -> tuple[str, str]:
    """The document's id and the signer's link."""
    email = f"{name.split('-')[0]}@brightwater.example"
    asked_for = [{key: value for key, value in field.items() if key != "given"} for field in fields]
    body = {
        "fileName": f"{name}.pdf",
        "file": base64.b64encode(content).decode(),
        "recipients": [{"name": person, "email": email, "fields": asked_for}],
    }
    document = str(stage.do(stage.site.api.ok("POST", "/documents", body))["id"])
    stage.do(stage.site.api.send(document))
    stage.work("mail")
    return document, stage.link(email)


def review_fields(page: Page, fields: Fields, mode: str) -> None:
    """Everything filled in, looked over, and the page with all of it before the eyes."""
    fill_in(page, {field["label"]: field["given"] for field in fields}, mode)
    page.locator("#finish [data-close].btn").tap()
    page.evaluate(SETTLED)


def fill_in(page: Page, given: Mapping[str, Any], mode: str) -> None:
    """Forward with the one button at the bottom, until the review; `given` by the labels of fields."""
    action(page, "sign").tap()
    for _ in range(len(given) + 1):
        field = find_asked_field(page).first
        name, kind = str(field.get_attribute("data-field")), str(field.get_attribute("data-type"))
        page.wait_for_function(READABLE, arg=name)
        value = given[str(page.locator("#slot [data-step]").get_attribute("data-label"))]
        if kind in ("signature", "initials"):
            adopt(page, mode)
        elif value is not None:
            give(field, kind, value)
        action(page, "next").tap()
        if page.get_by_role("dialog").is_visible():
            return
        expect(page.locator(f"[data-field={name}]:visible")).to_have_count(0)
    raise AssertionError("the path has no end")


def adopt(page: Page, mode: str) -> None:
    action(page, "sign").tap()
    pad = page.get_by_role("dialog")
    page.get_by_role("tab", name=mode).tap()
    if mode == "Draw":
        draw(page)
    action(page, "adopt").tap()
    expect(pad).to_be_hidden()


def finish(page: Page) -> None:
    action(page, "next").tap()
    action(page, "consent").check()
    action(page, "finish").tap()
    expect_state(page, "sealing")
