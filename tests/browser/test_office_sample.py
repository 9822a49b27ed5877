"""Somebody new tries everything with the sample: from the empty list to the sealed PDF, without a mail server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.actor import Mode
from tests.browser.conftest import Visits, alive
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_DESK
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_journey import action
from tests.browser.test_office import clean
from tests.every import choose

LEFT = "net::ERR_ABORTED"
Shot = Callable[[Page, str], None]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path, {"name": "Alder & Finch"}) as stage:
        yield stage


def fill_in(page: Page) -> None:
    """As the page leads: a choice, a tick, the signature, the name."""
    alive(page)
    action(page, "sign").click()
    page.locator("#slot select").select_option("A lease")
    action(page, "next").click()
    page.locator("#slot input").check()
    action(page, "next").click()
    action(page, "sign").click()
    page.get_by_role("tab", name="Type").click()
    action(page, "adopt").click()
    action(page, "next").click()
    action(page, "next").click()
    action(page, "consent").check()
    action(page, "finish").click()


@pytest.mark.parametrize("mode", choose([Mode.LIVE], [Mode.TEST]))
@pytest.mark.parametrize("how", ON_A_DESK)
def test_from_the_empty_list_to_the_sealed_pdf(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any], mode: Mode
) -> None:
    page = visit.at(
        f"{stage.site.base}/documents", storage_state=signed_in(stage, mode=mode), excused=LEFT, **how
    )
    expect(page.get_by_role("button", name="Try it with a sample")).to_be_visible()
    shot(page, f"sample-{mode}-1-empty")
    clean(page)
    page.get_by_role("button", name="Try it with a sample").click()
    page.wait_for_url("**/review")
    expect(page.get_by_text("This is a sample, and you’re the recipient")).to_be_visible()
    shot(page, f"sample-{mode}-2-review")
    clean(page)
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/documents/doc_*")
    expect(page.get_by_role("heading", name="Your turn to sign")).to_be_visible()
    shot(page, f"sample-{mode}-3-turn")
    clean(page)
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Sign now").click()
    fill_in(opened.value)
    opened.value.locator("body[data-state=sealing]").wait_for()
    stage.work("seal")
    expect(opened.value.get_by_role("link", name="Download")).to_be_visible(timeout=15_000)
    opened.value.close()
    page.reload()
    expect(page.get_by_role("heading", name="Completed and sealed")).to_be_visible()
    expect(page.get_by_role("link", name="Sealed PDF").first).to_be_visible()
    shot(page, f"sample-{mode}-4-sealed")
