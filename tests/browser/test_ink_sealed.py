"""What stands in a field before finishing is what the sealed page shows, to the dot."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.demo import contract
from tests.browser import photos
from tests.browser.alike import shift_ink
from tests.browser.conftest import Visits
from tests.browser.sheets import draw_sealed_page, faults, picture_page
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_journey import action, expect_state, send_document
from tests.browser.test_signing import draw

ADA = ("Ada Lovelace", "ada@example.test")
BOX = {"page": 1, "width": 36, "height": 7}
WAYS: dict[str, dict[str, Any]] = {
    "drawn": {"type": "signature", "allowed": ["drawn"], "x": 8, "y": 5},
    "uploaded": {"type": "signature", "allowed": ["uploaded"], "x": 52, "y": 5, "align": "right"},
    "a hand": {"type": "signature", "allowed": ["typed"], "x": 8, "y": 15, "align": "center"},
    "Arabic": {"type": "initials", "allowed": ["typed"], "x": 52, "y": 15},
    "small": {"type": "initials", "allowed": ["drawn"], "x": 8, "y": 25, "width": 9, "height": 2},
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("sealed") / "data", organisation={"name": "Northlight"}) as stage:
        yield stage


def give(page: Page, name: str) -> None:
    """With the sheet open, what this field asks for."""
    if name == "uploaded":
        photo = photos.jpeg(photos.signature((1400, 900)))
        page.locator("#upload").set_input_files(photos.file("a.jpg", "image/jpeg", photo))
        expect(page.locator("#drop-view img")).to_be_visible()
    elif name in ("a hand", "Arabic"):
        page.locator("#typed-text").fill("محمد علي" if name == "Arabic" else "Ada Lovelace")
        if name == "Arabic":
            expect(page.locator("#p-type .style:visible img")).to_be_visible()
        else:
            page.locator("input[name=style][value=b]").check()
    else:
        draw(page)
    action(page, "adopt").click()


def test_ink_stands_in_the_sealed_page_where_it_stood_before_finishing(
    stage: BrowserStage, visit: Visits
) -> None:
    fields = [{**BOX, "label": name, **field} for name, field in WAYS.items()]
    recipient = {"name": ADA[0], "email": ADA[1], "fields": fields}
    document = send_document(stage, {**contract.build_create_body(), "recipients": [recipient]})
    page = visit.at(stage.link(ADA[1]), width=590, height=1000, bypass_csp=True)
    places = stage.do(stage.site.api.get(document))["recipients"][0]["fields"]
    for name, field in zip(WAYS, places, strict=True):
        page.locator(f"#f-{field['id']}").click()
        give(page, name)
        expect(page.locator(f"#f-{field['id']} img")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).focus()
    page.wait_for_load_state("networkidle")  # a sharper picture of the page may be on its way
    before = picture_page(page, 1, 2).ink()
    action(page, "next").click()
    action(page, "consent").check()
    action(page, "finish").click()
    expect_state(page, "sealing")
    stage.work("seal")
    after = draw_sealed_page(stage.do(stage.site.api.file(document)), 1, before.clear.size).ink()
    assert faults(before, after, fields) == []
    percent = before.clear.width // 100
    assert len(faults(shift_ink(before, percent, 0), after, fields)) == len(fields)
