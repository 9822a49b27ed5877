"""Sheets of any size and number, and names in any script, on a phone: found, read, and sealed as they were seen."""

import io
from collections.abc import Iterator

import pikepdf
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.phone import (
    SCALE,
    Fields,
    a_field,
    a_phone,
    fill_in,
    finish,
    review_fields,
    send_document,
    small_dots,
)
from tests.browser.screens import SETTLED
from tests.browser.sheets import draw_sealed_page, faults, picture_page
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_journey import action
from tests.every import choose
from tests.journeys.api import a_request

SIZES = {
    "A0": (2384.0, 3370.0),
    "A3 on its side": (1191.0, 842.0),
    "receipt": (200.0, 620.0),
    "label": (160.0, 60.0),
}
NAMES = {
    "arabic": "محمد عبد الله الأنصاري",
    "hebrew": "שירה בן־דוד",
    "thai": "ณัฐพล ศรีสุขวัฒนา",
    "devanagari": "अनिल कुमार शर्मा",
    "greek": "Ελένη Παπαδοπούλου",
    "cyrillic": "Екатерина Щербакова",
    "vietnamese": "Nguyễn Thị Phương Thảo",
    "emoji": "Zoë 🌻 Çelik",
    "mixed": "Dana דנה Levi",
    "one long word": "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschaferswessenschafe",
    "very long": "Pablo Diego José Francisco de Paula Juan Nepomuceno María de los Remedios Cipriano de la "
    "Santísima Trinidad Ruiz y Picasso, heir of the house of the old mill beyond the river and the two hills",
}


# From right to left, joined letters, pictures, both directions in a line, and a name that wraps.
HARD = ("arabic", "devanagari", "emoji", "mixed", "very long")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with small_dots() as opened:
        yield opened


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("data"), organisation={"name": "Brightwater"}) as stage:
        yield stage


def blank(width: float, height: float, pages: int = 1) -> bytes:
    with pikepdf.new() as pdf:
        for _ in range(pages):
            pdf.add_blank_page(page_size=(width, height))
        pdf.save(target := io.BytesIO())
        return target.getvalue()


def assert_sealed_as_seen(stage: BrowserStage, page: Page, document: str, fields: Fields) -> None:
    before = picture_page(page, 1, SCALE)
    finish(page)
    stage.work("seal")
    after = draw_sealed_page(stage.do(stage.site.api.file(document)), 1, before.written.size)
    assert faults(before.ink(), after.ink(), fields) == []


@pytest.mark.parametrize("paper", choose(["A0", "label"], ["A3 on its side", "receipt"]))
def test_letters_go_with_the_paper(stage: BrowserStage, browser: Browser, paper: str) -> None:
    fields = (
        a_field("name", 1, (4, 4, 42, 5)),
        a_field("text", 1, (4, 14, 42, 12), "Two lines\nof a longer note", multiline=True),
        a_field("radio", 1, (54, 14, 40, 14), "No", options=["Yes", "No"]),
        a_field("checkbox", 1, (54, 4, 5, 5), True),
        a_field("signature", 1, (4, 60, 60, 30)),
    )
    document, link = send_document(stage, f"{paper[:2]}{len(paper)}".lower(), blank(*SIZES[paper]), fields)
    with a_phone(browser, link) as page:
        review_fields(page, fields, "Type")
        assert_sealed_as_seen(stage, page, document, fields)


@pytest.mark.parametrize("script", choose(HARD, [name for name in NAMES if name not in HARD]))
def test_a_name_is_sealed_as_it_was_seen(stage: BrowserStage, browser: Browser, script: str) -> None:
    name = NAMES[script]
    fields = (
        a_field("name", 1, (8, 8, 40, 2.6)),
        a_field("text", 1, (8, 16, 40, 2.6), name[:60], align="right"),
        a_field("text", 1, (9, 24, 30, 12), f"{name}\nc/o 14 Linden Row", multiline=True, maxLength=400),
        a_field("dropdown", 1, (56, 8, 30, 3), name[:100], options=[name[:100], "Somebody else"]),
        a_field("radio", 1, (56, 16, 36, 8), name[:100], options=[name[:100], "Somebody else"]),
        a_field("signature", 1, (8, 60, 50, 8)),
    )
    document, link = send_document(stage, script.replace(" ", ""), blank(595, 842), fields, name)
    with a_phone(browser, link) as page:
        review_fields(page, fields, "Type")
        assert_sealed_as_seen(stage, page, document, fields)


@pytest.mark.parametrize("pages", [80, 200])
def test_the_next_field_is_found_in_a_long_document(
    stage: BrowserStage, browser: Browser, pages: int
) -> None:
    far = (1, pages // 2, pages - 1, pages)
    fields = tuple(
        a_field("text", number, (30 + at, 5 + 80 * (at % 2), 40, 2.6), "found")
        for at, number in enumerate(far)
    )
    _, link = send_document(stage, f"long{pages}", blank(595, 842, pages), fields)
    with a_phone(browser, link) as page:
        fill_in(page, {field["label"]: "found" for field in fields}, "Type")
        expect(page.locator("#review dd").get_by_text("found", exact=True)).to_have_count(len(far))
        page.locator("#finish [data-close].btn").tap()
        page.evaluate(SETTLED)
        assert page.evaluate("document.querySelectorAll('.page > img[src*=webp]').length") < 16
        expect(page.locator(f"#page-{pages} > img")).to_have_js_property("complete", True)


def test_what_no_letters_can_be_had_for_is_said_where_it_was_written(
    stage: BrowserStage, browser: Browser
) -> None:
    unheard = "\N{GOTHIC LETTER AHSA}\N{GOTHIC LETTER BAIRKAN}"
    refused = stage.do(
        stage.site.api.call(
            "POST", "/documents", a_request(recipients=[{"name": unheard, "email": "a@b.example"}], send=True)
        )
    )
    assert refused.status == 409 and unheard[0] in refused.content.decode()
    fields = (a_field("text", 1, (8, 8, 40, 3), unheard), a_field("signature", 1, (8, 60, 50, 8)))
    _, link = send_document(stage, "unheard", blank(595, 842), fields)
    with a_phone(browser, link, excused="the server responded with a status of 400") as page:
        fill_in(page, {field["label"]: field["given"] for field in fields}, "Type")
        action(page, "consent").check()
        action(page, "finish").tap()
        expect(page.locator("#finish")).to_be_hidden()
        expect(page.locator("#slot .error")).to_contain_text(unheard[0])
