"""A page that cannot be drawn: the reader is told so in words, and offered the file; the other pages are shown."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.actions.document import documents, templates
from esign.core.actor import Mode, Owner
from esign.demo import contract
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_DESK
from tests.browser.stage import BrowserStage, a_stage
from tests.web.signing.site import SigningSite, a_document

SHOWN = """(place) => {
  const img = document.querySelector(place);
  return img.src.includes("/pages/") && img.naturalWidth > 0;
}"""
SIZES = {"desk": (1280, 800), "phone": (360, 740)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("number", [1, 2])
def test_a_page_that_cannot_be_shown_says_so(
    visit: Visits, shot: Callable[[Page, str], None], size: str, number: int
) -> None:
    site = SigningSite(a_document())
    site.undrawable = {number}
    width, height = SIZES[size]
    page = visit(site, width=width, height=height, excused="400")
    note = page.locator(f".unshown:has(+ #page-{number})")
    page.locator(f"#page-{number}").scroll_into_view_if_needed()
    expect(note).to_contain_text("We can’t show this page here.")
    expect(note.get_by_role("link")).to_have_attribute("href", re.compile(r"/s/[^/]+/original\.pdf$"))
    expect(page.locator(f"#page-{number} > img")).to_have_attribute("alt", "")
    page.locator(f"#page-{3 - number}").scroll_into_view_if_needed()
    page.wait_for_function(SHOWN, arg=f"#page-{3 - number} > img:not(.filled)")
    expect(page.locator(".unshown")).to_have_count(1)
    note.scroll_into_view_if_needed()
    shot(page, f"unshown-{number}-{size}")


async def refuse_to_draw(stage: BrowserStage, path: str, number: int) -> None:
    """Let the workers remember that a page of a document or template has brought one down, in every size."""
    runtime = stage.site.runtime
    kind = templates if path.startswith("/templates/") else documents
    organisation = (await stage.site.api.ok("GET", "/account"))["organisation"]["id"]
    found = await kind.get(runtime, Owner(organisation, Mode.LIVE), path.rpartition("/")[2])
    file = found.file.prepared
    now = asyncio.get_running_loop().time()
    for size in (1, 2, 3):
        for name in (f"pictures {file} {size} 2", f"picture {file} {number} {size} 10"):
            runtime.pdf.failures.add(name, "it used more processor time than a job may", now)


@pytest.mark.parametrize("screen", ON_A_DESK)
@pytest.mark.parametrize("kind", ["documents", "templates"])
def test_a_member_is_offered_the_file_too(
    visit: Visits, shot: Callable[[Page, str], None], tmp_path: Path, kind: str, screen: dict[str, Any]
) -> None:
    body = {"fileName": "a.pdf", "file": contract.build_create_body()["file"], "title": "Lease"}
    role = {"key": "tenant", "name": "Tenant", "fields": [{"type": "signature", "page": 1, "x": 10, "y": 80}]}
    person = {"name": "Ada Lovelace", "email": "ada@example.test"}
    body |= {"roles": [role]} if kind == "templates" else {"recipients": [person]}
    with a_stage(tmp_path, {"name": "Alder & Finch"}) as stage:
        path = f"/{kind}/{stage.do(stage.site.api.ok('POST', f'/{kind}', body))['id']}"
        stage.do(refuse_to_draw(stage, path, 1))
        page = visit.at(
            f"{stage.site.base}{path}/fields", storage_state=signed_in(stage), excused="400", **screen
        )
        note = page.get_by_role("note").filter(has_text="This page can’t be shown here.")
        expect(note).to_be_visible()
        shot(page, f"unshown-{kind}-{screen['width']}")
        with page.expect_download() as download:
            note.get_by_role("link", name="Download the PDF").click()
        assert download.value.suggested_filename == "a.pdf"
