"""Real documents signed on a phone through the visible controls; what is seen before finishing is what is sealed.

In each run one for each geometry of pages; `packaging/test every` signs all.
"""

from collections.abc import Iterator, Mapping
from math import ceil
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import alike
from tests.browser.phone import (
    SCALE,
    Fields,
    a_field,
    a_phone,
    finish,
    review_fields,
    send_document,
    small_dots,
)
from tests.browser.sheets import draw_sealed_page, faults, picture_page
from tests.browser.stage import BrowserStage, a_stage
from tests.every import choose

pytestmark = pytest.mark.corpus


def upright(*pages: int) -> Fields:
    """Ten types down a page, close to its edges too; `pages`: where head, middle and foot lie."""
    head, middle, foot = pages * 3 if len(pages) == 1 else pages
    choice = ["By bank transfer", "In cash", "By card"]
    return (
        a_field("name", head, (0.5, 0.5, 44, 2.6)),
        a_field(
            "date",
            head,
            (69.5, 0.5, 30, 2.6),
            "2027-03-09",
            align="right",
            format="D MMM YYYY",
            autofill=False,
        ),
        a_field("email", head, (8, 12, 40, 2.5), "maria.delgado@brightwater.example", autofill=False),
        a_field("number", head, (60, 12, 18, 2.5), "1234,50", decimals=2, align="center"),
        a_field(
            "text",
            middle,
            (8, 24, 44, 9),
            "14 Linden Row, Harrowgate HG4 1AB\nThe side gate is open; please ring twice, the dog is friendly.",
            multiline=True,
        ),
        a_field("text", middle, (58, 24, 30, 4), "A sentence that is too long for one line of this box"),
        a_field("checkbox", middle, (8, 37, 3, 2.2), True),
        a_field("checkbox", middle, (15, 37, 6, 2.2), False, required=False),
        a_field("checkbox", middle, (24, 37, 3, 3), True),
        a_field("radio", middle, (8, 44, 38, 8), "In cash", options=choice),
        a_field("radio", middle, (52, 44, 46, 3), "No", options=["Yes", "No", "Later"], layout="horizontal"),
        a_field("dropdown", middle, (8, 57, 30, 2.2), "Oak, oiled", options=["Oak, oiled", "Ash"]),
        a_field("signature", foot, (8, 80, 42, 8)),
        a_field("initials", foot, (88.5, 94.5, 11, 5)),
    )


def low(page: int = 1) -> Fields:
    """Ten types on a page like a receipt, in rows of large boxes."""
    return (
        a_field("name", page, (0.5, 1, 46, 12)),
        a_field("date", page, (66, 1, 33.5, 12), "2027-03-09", align="right", autofill=False),
        a_field("email", page, (2, 18, 44, 12), "maria@brightwater.example", autofill=False),
        a_field("number", page, (70, 18, 18, 12), "12"),
        a_field("text", page, (2, 36, 44, 22), "Two lines\nof a longer note", multiline=True),
        a_field("checkbox", page, (52, 36, 6, 12), True),
        a_field("checkbox", page, (62, 36, 6, 12), False, required=False),
        a_field("radio", page, (72, 36, 26, 22), "No", options=["Yes", "No"]),
        a_field("dropdown", page, (2, 62, 30, 12), "Oak", options=["Oak", "Ash"]),
        a_field("signature", page, (40, 62, 40, 34)),
        a_field("initials", page, (86, 78, 13.5, 21)),
    )


CASES: Mapping[str, Fields] = {
    "01-plain-documenso-supporter-pledge": upright(1),
    "02-plain_scan_or_big-issue6961": upright(1, 2, 2),
    "03-heavy-issue16263": upright(1),
    "07-rotated-pr20043": upright(1),
    "08-rotated_crop-issue16278": low(),
    "10-offset_box-issue5946": low(),
    "11-negative_box-issue15789": upright(1),
    "12-userunit-bug1947248_text": upright(1),
    "14-big_page-issue16287": upright(1),
    "15-many_pages-pdkids": upright(1, 30, 55),
    "16-acroform-form-fields-test": upright(1),
    "23-q_unbalanced-bug1157493": low(),
}
USUAL = [name for name in CASES if name.startswith(("01", "08", "12", "16"))]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with small_dots() as opened:
        yield opened


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("data"), organisation={"name": "Brightwater"}) as stage:
        yield stage


@pytest.mark.parametrize("name", choose(USUAL, [name for name in CASES if name not in USUAL]))
def test_what_is_seen_before_finishing_is_what_is_sealed(
    stage: BrowserStage, browser: Browser, name: str, corpus: Path, shots: Path
) -> None:
    fields = CASES[name]
    document, link = send_document(stage, name, (corpus / f"{name}.pdf").read_bytes(), fields)
    numbers = sorted({field["page"] for field in fields})
    with a_phone(browser, link) as page:
        review_fields(page, fields, "Draw" if list(CASES).index(name) % 2 else "Type")
        shown = {number: picture_page(page, number, SCALE) for number in numbers}
        finish(page)
    stage.work("seal")
    file = stage.do(stage.site.api.file(document))
    for number in numbers:
        there = [field for field in fields if field["page"] == number]
        before, after = shown[number], draw_sealed_page(file, number, shown[number].written.size)
        before.written.save(shots / f"corpus-{name}-{number}-seen.png")
        after.written.save(shots / f"corpus-{name}-{number}-sealed.png")
        one, other, size = before.ink(), after.ink(), before.written.size
        assert faults(one, other, there) == []
        for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            moved = alike.shift_ink(other, right * ceil(size[0] / 100), down * ceil(size[1] / 100))
            assert len(faults(one, moved, there)) == len(there), (right, down)
