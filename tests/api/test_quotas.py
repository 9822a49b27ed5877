"""What an organisation may use in a day and in a month."""

import asyncio

import pytest

from esign.core.actor import Mode
from esign.core.instant import DAY, SECOND, parse
from tests.api.site import Site, SiteAnswer, a_config, a_request, running
from tests.fakes import FakeClock

pytestmark = pytest.mark.asyncio(loop_scope="module")

LATE = parse("2026-11-29T12:00:00Z")


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {"documents_per_month": 2}


async def send(site: Site, document_id: str) -> SiteAnswer:
    return await site.ask("POST", f"/documents/{document_id}/send")


async def test_the_month_s_documents_are_those_sent_and_it_ends_at_midnight_in_utc(site: Site) -> None:
    site.clock.at = LATE
    assert (await site.ok("GET", "/account"))["limits"]["documentsPerMonth"] == 2
    drafts = [await site.create() for _ in range(4)]
    document = await site.send_document()
    assert (await send(site, drafts[0])).status == 200
    path = f"/documents/{drafts[1]}"
    for answer in (
        await send(site, drafts[1]),
        await site.ask("POST", "/documents", a_request()),
        await site.ask("POST", "/documents", a_request(send=True)),
        await site.ask("POST", "/documents", a_request(file="%%%")),
        await site.ask("POST", f"{path}/duplicate"),
    ):
        assert answer.code == "quota_exceeded"
        assert int(answer.headers["retry-after"]) == (parse("2026-12-01T00:00:00Z") - LATE) // SECOND
        assert "2026-12-01" in answer.body["error"]["message"]
    assert (await site.get(drafts[1]))["status"] == "draft"
    remind = await site.ask("POST", f"/documents/{document['id']}/remind")
    assert remind.status == 200, "a reminder uses no document"
    site.clock.at = parse("2026-11-30T23:59:59Z")
    assert (await send(site, drafts[1])).headers["retry-after"] == "1"
    site.clock.advance(seconds=1)
    assert (await send(site, drafts[1])).status == 200


async def test_who_sends_at_once_gets_no_more_than_is_left(site: Site) -> None:
    site.clock.at = parse("2027-02-01T00:00:00Z")
    drafts = [await site.create() for _ in range(6)]
    answers = await asyncio.gather(*(send(site, draft) for draft in drafts))
    assert sorted(answer.code for answer in answers) == ["200"] * 2 + ["quota_exceeded"] * 4


async def test_test_mode_is_outside_the_month_s_documents(site: Site) -> None:
    site.clock.at = parse("2027-03-01T00:00:00Z")
    key = await site.new_key(mode=Mode.TEST)
    for _ in range(3):
        answer = await site.ask("POST", "/documents", a_request(send=True), key=key)
        assert answer.body["status"] == "sent"
    await site.send_document()
    await site.send_document()
    assert (await site.ask("POST", "/documents", a_request(), key=key)).status == 201
    assert (await site.ask("POST", "/documents", a_request())).code == "quota_exceeded"


async def test_a_deleted_document_was_sent_all_the_same(site: Site) -> None:
    site.clock.at = parse("2027-04-01T00:00:00Z")
    for _ in range(2):
        document = await site.send_document()
        await site.ok("POST", f"/documents/{document['id']}/cancel")
        await site.ok("DELETE", f"/documents/{document['id']}")
    assert (await site.ask("POST", "/documents", a_request())).code == "quota_exceeded"


@pytest.mark.slow
async def test_with_the_day_s_mails_used_up_nobody_is_reminded_but_what_goes_on_goes_on(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clock = FakeClock(LATE)
    async with running(a_config(tmp_path_factory.mktemp("mails"), emails_per_day=1), clock) as site:
        first, second = site.signer(), site.signer(order=2)
        document = await site.send_document(recipients=[first, second])
        assert (await site.ok("GET", "/account"))["limits"]["documentsPerMonth"] is None
        refused = await site.ask("POST", f"/documents/{document['id']}/remind")
        assert refused.code == "quota_exceeded"
        assert int(refused.headers["retry-after"]) == DAY // SECOND // 2, "until midnight in UTC"
        await (await site.person(first["email"])).sign()
        await (await site.person(second["email"])).sign()  # the next group is invited all the same
        assert (await site.wait_until_sealed(document["id"]))["status"] == "completed"
