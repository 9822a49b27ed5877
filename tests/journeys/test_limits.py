"""The limits behind signing links and the pages of errors, in the program as it is started."""

from pathlib import Path

from tests.fakes import FakeClock
from tests.journeys.site import a_site

ADA = "ada@example.test"
BROWSER = {"Accept": "text/html", "Accept-Language": "pl"}


async def test_a_link_that_is_hammered_rests_for_a_minute_and_works_again(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock, signing={}) as site:
        document = await site.api.send_document()
        await site.work("mail")
        ada = await site.person(ADA)
        answers = [await ada.view() for _ in range(31)]
        assert [answer.status for answer in answers] == [200] * 30 + [429]
        assert answers[-1].code == "rate_limited" and 1 <= int(answers[-1].headers["Retry-After"]) <= 60
        assert await ada.state() == "open", "reading is counted apart"
        clock.advance(minutes=1)
        await ada.sign()
        assert (await site.api.trail(document)).count("recipient.viewed") == 1


async def test_a_browser_reads_in_its_language_that_there_is_nothing(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        for path in ("/nothing", "/s", "/s/no/such/thing"):
            async with site.session.get(site.base + path, headers=BROWSER) as seen:
                assert seen.status == 404
                assert "Tu nic nie ma" in await seen.text()
        for path, headers in (("/nothing", {}), ("/api/v1/nothing", BROWSER)):
            async with site.session.get(site.base + path, headers=headers) as seen:
                assert seen.status in (401, 404) and seen.content_type == "application/json"
