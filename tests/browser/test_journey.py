"""Whole journeys by two signers in a real browser and the real program, through what can be seen and pressed."""

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pypdf
import pytest
from PIL import Image, ImageChops, ImageOps
from playwright.sync_api import Locator, Page, expect

from esign.demo import contract
from esign.store.document import signing_links
from esign.system.entropy import make_token
from tests.browser.stage import BrowserStage, a_stage
from tests.journeys.program import esign
from tests.pdf.marks import picture

CAFE, GARDENER = contract.CAFE, contract.GARDENER
ORGANISATION = {
    "name": "Fernhill Gardens",
    "reply_to": "office@fernhill.example",
    "time_zone": "Europe/Dublin",
}
OWN = {"cafe-name", "invoice-email", "cafe-date"}  # asked for, where the sample would fill them in by itself
FIRST_DAY = date(2027, 3, 1)
GIVEN: Mapping[str, Any] = {
    **contract.ANSWERS,
    "cafe-name": "Tomas J. Reyes",
    "invoice-email": "books@copperkettle.example",
    "cafe-date": FIRST_DAY.isoformat(),
}
FRAME = 6  # dots at each side, where an empty check box is drawn
TYPES = {"signature", "initials", "date", "name", "email", "text", "number", "checkbox", "radio", "dropdown"}
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
SETTLED = """async () => {
  await Promise.all([...document.images].map((one) => { one.loading = "eager"; return one.decode(); }));
  await document.fonts.ready;
  await Promise.all(document.getAnimations()
    .filter((one) => one.effect.getTiming().iterations === 1).map((one) => one.finished.catch(() => null)));
}"""

Visit = Callable[..., Page]
Shot = Callable[..., None]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path / "data", organisation=ORGANISATION) as stage:
        yield stage


@pytest.fixture
def shot(shots: Path) -> Shot:
    """Keeps a picture of what can be seen, or of the `whole` page."""

    def take(page: Page, name: str, whole: bool = False) -> None:
        page.evaluate(SETTLED)
        page.screenshot(path=shots / f"journey-{name}.png", full_page=whole, animations="disabled")

    return take


# ---------- what people do ----------


def action(page: Page, name: str) -> Locator:
    """The one control for it that can be seen."""
    return page.locator(f"[data-action={name}]:visible")


def find_asked_field(page: Page) -> Locator:
    """The control of the field that is being asked for; each option of a choice has one."""
    return page.locator("[data-field]:visible")


def expect_state(page: Page, state: str) -> None:
    expect(page.locator("body")).to_have_attribute("data-state", state)


def draw(page: Page) -> None:
    """Strokes by a finger on the pad."""
    pad = page.get_by_role("img", name="Area to draw")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    assert box is not None
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        points = [{"x": box["x"] + box["width"] * at[0], "y": box["y"] + box["height"] * at[1]}] if at else []
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    for stroke in (
        [(0.15, 0.7), (0.25, 0.2), (0.3, 0.75), (0.42, 0.3)],
        [(0.4, 0.6), (0.6, 0.45), (0.85, 0.65)],
    ):
        touch("Start", *stroke[0])
        for (x, y), (to_x, to_y) in pairwise(stroke):
            for n in range(1, 9):
                touch("Move", x + (to_x - x) * n / 8, y + (to_y - y) * n / 8)
        touch("End")


def give(control: Locator, kind: str, value: Any) -> None:
    """Put a value in with the control that fits its type."""
    if kind == "radio":
        control.page.get_by_role("radio", name=value).check()
    elif kind == "dropdown":
        control.select_option(value)
    elif kind == "checkbox":
        control.set_checked(value)
    else:
        control.fill(value)


def fill_by_the_path(page: Page, keys: Mapping[str, str], shot: Shot) -> set[str]:
    """On a phone: forward with the one button, draw what is to be drawn; the types that were asked for."""
    seen = set()
    action(page, "sign").tap()
    while True:
        field = find_asked_field(page).first
        name, kind = str(field.get_attribute("data-field")), str(field.get_attribute("data-type"))
        seen.add(kind)
        if kind in ("signature", "initials"):
            sign_by_hand(page, kind, shot)
        elif keys[name] == "planters":
            be_corrected(page, field, shot)
        elif keys[name] in GIVEN:
            give(field, kind, GIVEN[keys[name]])
            if keys[name] == "watering":
                shot(page, "phone-3-choice")
        action(page, "next").tap()
        if page.get_by_role("dialog").is_visible():
            return seen
        expect(page.locator(f"[data-field={name}]:visible")).to_have_count(0)


def sign_by_hand(page: Page, kind: str, shot: Shot) -> None:
    """Draw it the first time; after that a press puts it in place."""
    action(page, "sign").tap()
    pad = page.get_by_role("dialog")
    if pad.is_visible():
        page.get_by_role("tab", name="Draw").tap()
        draw(page)
        shot(page, f"phone-2-drawn-{kind}")
        action(page, "adopt").tap()
        expect(pad).to_be_hidden()
    expect(find_asked_field(page).locator("img")).to_be_visible()


def be_corrected(page: Page, field: Locator, shot: Shot) -> None:
    """Give too much, be told beside the field, mend it."""
    field.fill("400")
    action(page, "next").tap()
    problem = page.locator("#slot").get_by_text("The largest number here is 40.")
    expect(problem).to_be_visible()
    expect(field).to_be_focused()
    shot(page, "phone-4-problem")
    field.fill(GIVEN["planters"])
    expect(problem).to_be_hidden()


def fill_as_form(page: Page, fields: list[Any], shot: Shot) -> None:
    """At a desk: everything below each other, ink typed."""
    page.get_by_role("button", name="Form", exact=True).click()
    for field in fields:
        control = page.locator(f"[data-field={field['id']}]:visible")
        if field["type"] in ("signature", "initials"):
            control.click()
            if page.get_by_role("dialog").is_visible():
                page.get_by_role("tab", name="Type").click()
                page.get_by_role("radio", name="Handwritten").check()
                shot(page, f"desk-2-typed-{field['type']}")
                action(page, "adopt").click()
            expect(control.locator("img")).to_be_visible()
        elif field["key"] in GIVEN:
            give(control, field["type"], GIVEN[field["key"]])
    shot(page, "desk-3-form")
    page.get_by_role("button", name="Document", exact=True).click()


# ---------- what must come of it ----------


def the_contract(*, together: bool = False) -> dict[str, Any]:
    """The sample contract that asks for everything it can; `together`: both are asked at once."""
    body = contract.build_create_body()
    for person in body["recipients"]:
        person["fields"] = [{**f, "autofill": False} if f["key"] in OWN else f for f in person["fields"]]
        person["order"] = 1 if together else person["order"]
    return body


def send_document(stage: BrowserStage, body: dict[str, Any]) -> str:
    """The document's id, its first mails delivered."""
    document = str(stage.do(stage.site.api.ok("POST", "/documents", body))["id"])
    stage.do(stage.site.api.send(document))
    stage.work("mail")
    return document


def fields_of(stage: BrowserStage, document: str, person: tuple[str, str]) -> list[Any]:
    recipients = stage.do(stage.site.api.get(document))["recipients"]
    [found] = [list(who["fields"]) for who in recipients if who["email"] == person[1]]
    return found


def early_link(stage: BrowserStage, document: str, person: tuple[str, str]) -> str:
    """A link in the hands of somebody whose turn has not come, which no mail brings."""
    recipients = stage.do(stage.site.api.get(document))["recipients"]
    [recipient] = [who["id"] for who in recipients if who["email"] == person[1]]
    token, runtime = make_token(), stage.site.runtime
    link = signing_links.SigningLink(recipient, document, "sender")
    stage.do(runtime.db.write(lambda tx: signing_links.add(tx, token, link, runtime.clock.now())))
    return f"{stage.site.base}/s/{token}"


def download_file(page: Page, to: Path) -> bytes:
    """The sealed file, by the link that can be seen."""
    with page.expect_download() as download:
        action(page, "download").click()
    assert download.value.suggested_filename == contract.FILE_NAME.replace(".pdf", "-sealed.pdf")
    download.value.save_as(to)
    return to.read_bytes()


def assert_valid(file: Path, stage: BrowserStage) -> None:
    """As poppler and as our own command line see it."""
    poppler = subprocess.run(
        ("pdfsig", file), capture_output=True, check=False, cwd=file.parent
    ).stdout.decode()
    assert "Signature is Valid." in poppler and "Total document signed" in poppler
    config = file.with_name("esign.toml")
    config.write_text(f'[storage]\ndata_dir = "{stage.folder}"\n', "utf-8")
    verified = esign("verify", file, "--config", config)
    assert verified.code == 0, verified.out


def assert_filled(sealed: bytes, fields: list[Any]) -> None:
    """Every answer can be read in the file, and ink lies in its fields and nowhere else."""
    pages = [page.extract_text() for page in pypdf.PdfReader(BytesIO(sealed)).pages]
    changes = [find_changes(sealed, number) for number in range(3)]
    for field in fields:
        number, value = field["page"] - 1, field["value"]
        for line in list_printed_lines(field):
            assert line in pages[number], (field["key"], line)
        box = box_of(field, changes[number].size)
        inked = ImageOps.crop(changes[number].crop(box), FRAME).getbbox()
        assert (inked is not None) == (value is not False), field["key"]
        changes[number].paste(0, box)
    assert [change.getbbox() for change in changes] == [None, None, None]


def find_changes(sealed: bytes, number: int) -> Image.Image:
    """A page as grey dots wherever it is not as it was uploaded."""
    return ImageChops.difference(picture(contract.read_pdf(), number), picture(sealed, number)).convert("L")


def box_of(field: Mapping[str, Any], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The field's place in dots, with a dot around it."""
    left, top = field["x"] * size[0] / 100, field["y"] * size[1] / 100
    right, bottom = left + field["width"] * size[0] / 100, top + field["height"] * size[1] / 100
    return int(left) - 1, int(top) - 1, int(right) + 2, int(bottom) + 2


def list_printed_lines(field: Mapping[str, Any]) -> list[str]:
    """The lines that a reader finds in the file's text; long ones are folded, so that words stand for them."""
    if field["type"] in ("signature", "initials", "checkbox"):
        return []
    if field["type"] == "date":
        day = date.fromisoformat(field["value"])
        return [f"{day.day} {day:%b %Y}"]
    return re.findall(r"\S+", field["value"])


# ---------- the journeys ----------


def test_two_people_sign_on_a_phone_and_at_a_desk_and_each_keeps_the_sealed_file(
    stage: BrowserStage, visit: Any, shot: Shot, tmp_path: Path
) -> None:
    document = send_document(stage, the_contract())
    early = visit.at(early_link(stage, document, GARDENER), **DESK)
    expect_state(early, "waiting")
    expect(early.get_by_role("heading", level=1)).to_have_text("It’s not your turn yet")
    shot(early, "desk-0-not-yet")

    phone = visit.at(stage.link(CAFE[1]), **PHONE)
    expect_state(phone, "open")
    expect(phone.get_by_text("13 fields", exact=True)).to_be_visible()
    assert "3 pages, 13 fields, about 6 minutes" in stage.letter(CAFE[1])
    shot(phone, "phone-1-arrival")
    keys = {field["id"]: field["key"] for field in fields_of(stage, document, CAFE)}
    assert fill_by_the_path(phone, keys, shot) == TYPES
    shot(phone, "phone-5-review")
    action(phone, "consent").check()
    action(phone, "finish").tap()
    expect_state(phone, "waiting")
    expect(phone.get_by_role("heading", level=1)).to_have_text("Thank you, you’ve signed")
    assert phone.evaluate("scrollY") == 0
    shot(phone, "phone-6-waiting", whole=True)

    stage.work("mail")
    early.reload()
    expect_state(early, "open")
    desk = visit.at(stage.link(GARDENER[1]), **DESK)
    expect_state(desk, "open")
    expect(desk.get_by_text("Tomas Reyes has signed", exact=True)).to_have_count(2)
    expect(desk.get_by_text("5 fields", exact=True)).to_be_visible()
    assert "3 pages, 5 fields, about 3 minutes" in stage.letter(GARDENER[1])
    shot(desk, "desk-1-arrival")
    fill_as_form(desk, fields_of(stage, document, GARDENER), shot)
    shot(desk, "desk-4-filled", whole=True)
    action(desk, "next").click()
    action(desk, "finish").click()
    expect(desk.get_by_text("Tick the box to show that you agree.")).to_be_visible()
    expect(action(desk, "consent")).to_be_focused()
    action(desk, "consent").check()
    shot(desk, "desk-5-review")
    action(desk, "finish").click()
    expect_state(desk, "sealing")
    shot(desk, "desk-6-sealing")
    phone.reload()
    expect_state(phone, "sealing")
    shot(phone, "phone-7-sealing")

    stage.work("seal")
    for page, name in ((desk, "desk"), (phone, "phone")):
        expect_state(page, "completed")
        shot(page, f"{name}-8-completed", whole=True)
    sealed = download_file(desk, tmp_path / "sealed.pdf")
    assert download_file(phone, tmp_path / "again.pdf") == sealed
    assert_valid(tmp_path / "sealed.pdf", stage)
    fields = [field for person in (CAFE, GARDENER) for field in fields_of(stage, document, person)]
    assert {f["key"]: f["value"] for f in fields if f["key"] in GIVEN} == GIVEN
    assert_filled(sealed, fields)


def test_one_declines_with_a_reason_and_the_other_is_told(
    stage: BrowserStage, visit: Any, shot: Shot
) -> None:
    document = send_document(stage, the_contract(together=True))
    phone = visit.at(stage.link(CAFE[1]), **PHONE)
    desk = visit.at(stage.link(GARDENER[1]), **DESK)
    expect_state(desk, "open")

    action(phone, "decline").tap()
    phone.get_by_label("Your reason").fill("The pear tree has to stay where it is.")
    shot(phone, "phone-decline")
    assert stage.do(stage.site.api.status(document)) == "sent"
    action(phone, "decline").tap()
    expect_state(phone, "declined")
    expect(phone.get_by_role("heading", level=1)).to_have_text("You declined to sign")
    expect(phone.get_by_text("The pear tree has to stay where it is.")).to_be_visible()
    shot(phone, "phone-declined")

    told = stage.do(stage.site.api.get(document))
    assert told["status"] == "declined"
    assert [(who["status"], who["declineReason"]) for who in told["recipients"]] == [
        ("declined", "The pear tree has to stay where it is."),
        ("viewed", None),
    ]
    desk.reload()
    expect_state(desk, "declined")
    expect(desk.get_by_role("heading", level=1)).to_have_text(f"{CAFE[0]} declined to sign")
    shot(desk, "desk-declined")
