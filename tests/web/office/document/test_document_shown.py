"""What the page of a document shows in each status: what comes next, what it offers, and what a viewer sees."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from esign.core.people.member import MemberRole
from tests.web.office.sample_documents import (
    ACTS,
    ASKED,
    BO,
    MADE,
    address,
    alert,
    at,
    fetch_bytes,
    form,
    main,
)
from tests.web.office.visitor import Office, Visitor, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEXT = {
    "draft": ("Ready to send", "Review"),
    "sent": ("Not emailed to Ada Lovelace", "Signing link"),
    "sealing": ("Sealing the document", "Refresh"),
    "unsealed": ("Everyone has finished, but the document isn’t sealed yet", "Retry sealing"),
    "completed": ("Completed and sealed", "Sealed PDF"),
    "declined": ("Ada Lovelace declined", "Start again with a copy"),
    "expired": ("The deadline has passed", "Start again with a copy"),
    "cancelled": ("This document was cancelled", "Start again with a copy"),
}


@dataclass(frozen=True)
class Stand:
    """One document in a status, which nothing here may change, and two who look at it."""

    office: Office
    status: str
    document: str
    member: Visitor
    viewer: Visitor


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=MADE)
async def stand(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stand]:
    async with an_office(tmp_path_factory.mktemp("office")) as office:
        document = await MADE[request.param](office)
        member = await office.signed_in("Maren", MemberRole.MEMBER)
        viewer = await office.signed_in("Vi", MemberRole.VIEWER)
        yield Stand(office, request.param, document, member, viewer)


async def test_the_page_says_what_it_waits_for_and_offers_one_thing(stand: Stand) -> None:
    page = await stand.member.get(at(stand.document))
    title, button = NEXT[stand.status]
    step = re.search(r'<section class="next.*?</section>', page.text, re.DOTALL)
    assert step and title in re.sub(r"<[^>]+>", "", step[0])
    primary = re.findall(r'class="btn primary".*?<span class="clip">(.*?)</span>', step[0], re.DOTALL)
    assert primary == [button]
    assert page.text.count('class="btn primary"') == 1


async def test_the_page_offers_what_works_and_its_question_is_asked(stand: Stand) -> None:
    """What the page does not offer says why it does not work."""
    page = main(await stand.member.get(at(stand.document)))
    for act in ASKED:
        path, works = await address(stand.office, stand.document, act), stand.status in ACTS[act][1]
        asked = await stand.member.get(path)
        assert (asked.status, bool(alert(asked))) == ((200, False) if works else (409, True)), act
        if "{" not in act:
            assert (f'href="{path}"' in page) == works, act
    assert (f'action="{at(stand.document, "retry-seal")}"' in page) == (stand.status == "unsealed")


async def test_every_link_of_the_page_leads_somewhere(stand: Stand) -> None:
    page = main(await stand.member.get(at(stand.document)))
    links = set(re.findall(rf'(?:href|src)="({re.escape(at(stand.document))}/[^"#]+)', page))
    assert len(links) >= 5
    for path in links - {at(stand.document, "edit")}:
        assert (await fetch_bytes(stand.member, path))[0] == 200, path


async def test_a_viewer_sees_everything_and_can_do_nothing(stand: Stand) -> None:
    page = await stand.viewer.get(at(stand.document))
    for name in ("Ada Lovelace", BO, "Timeline", "agreement.pdf", stand.document):
        assert name in page.said
    assert "<form" not in main(page) and "data-ask" not in page.text
    for path in ("audit", "audit.json", "pages", "files/original", "mark", "sheets/1.webp"):
        assert (await fetch_bytes(stand.viewer, at(stand.document, path)))[0] == 200, path
    for act in ACTS:
        path = await address(stand.office, stand.document, act)
        assert (await stand.viewer.post(path, form(stand.office, act))).status == 403
        assert (await stand.viewer.get(path)).status == (403 if act in ASKED else 405)
