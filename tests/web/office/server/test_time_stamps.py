"""What those who look after an installation read about time stamps: where they come from, and where one is missing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from tests.tsa import Tsa, granting, saying, stamping
from tests.web.office.sample_documents import at, sealing
from tests.web.office.visitor import Office, an_office

DOWN = saying(b"", 503)


@asynccontextmanager
async def run_with_authority(folder: Path, **seal: Any) -> AsyncIterator[tuple[Office, Tsa]]:
    async with stamping() as tsa:
        trusted = folder / "tsa.pem"
        trusted.write_bytes(x509.load_der_x509_certificate(tsa.root).public_bytes(Encoding.PEM))
        settings = {"level": "B-T", "tsa_urls": [tsa.url], "trust": [str(trusted)], **seal}
        async with an_office(folder / "data", seal=settings) as office:
            tsa.now = office.clock.now
            yield office, tsa


async def test_without_time_stamps_it_is_said_whose_clock_it_is_and_how_to_have_them(office: Office) -> None:
    page = await (await office.signed_in("Ada")).get("/settings/seal")
    assert "The time in a seal comes from this server’s clock." in page.said and "tsa_urls" in page.said


async def test_each_authority_is_shown_with_its_last_answer(tmp_path: Path) -> None:
    async with run_with_authority(tmp_path) as (office, tsa):
        ada, host = await office.signed_in("Ada"), tsa.url.split("/")[2]
        page = await ada.get("/settings/seal")
        assert f"{host} Not asked yet" in page.said and "documents wait until one does" in page.said
        assert "Test documents get no time stamps." in page.said
        assert f"Time stamp {host}" in (await ada.get("/server/seal")).said
        page = await ada.post("/settings/seal")
        assert "The test page was sealed and verified." in page.said and "Level B-T." in page.said
        assert "Answered Test Time Stamps" in page.said
        tsa.how = DOWN
        page = await ada.post("/settings/seal")
        assert "The test page couldn’t be sealed and verified. No authority issued a time stamp." in page.said
        assert "Time stamp No answer" in page.said
        assert "No time stamp It answered with HTTP status 503." in page.said
        assert "Last answered as Test Time Stamps" in page.said
        async with office.browser.get(f"{office.site.base}/readyz") as answer:
            told = await answer.json()
        assert (answer.status, told["checks"]["signer"]) == (200, "ok")
        assert "no time-stamp authority answers" in told["warnings"]


async def test_a_practice_page_says_what_is_wrong_with_its_time_stamp(tmp_path: Path) -> None:
    async with run_with_authority(tmp_path, trust=[], tsa_outage="complete") as (office, tsa):
        ada = await office.signed_in("Ada")
        await ada.get("/settings/seal")
        page = await ada.post("/settings/seal")
        assert "B-T; its time stamp is by Test Time Stamps, an authority that [seal] trust does not name" in (
            page.said
        )
        tsa.how = DOWN
        page = await ada.post("/settings/seal")
        assert "B-B: B-T was requested, but no authority issued a time stamp" in page.said
        assert "documents are sealed without a time stamp (level B-B), and say so" in page.said


async def test_the_page_of_a_document_tells_the_time_stamp(tmp_path: Path) -> None:
    async with run_with_authority(tmp_path) as (office, _):
        document = await sealing(office)
        await office.site.work("seal")
        page = await (await office.signed_in("Maren")).get(at(document))
        assert "Test Time Stamps" in page.said and "Level B-T" in page.said
        assert "Time stamp of" in page.said and "was asked for" not in page.said


async def test_the_page_of_a_document_tells_that_there_is_none_though_one_was_asked_for(
    tmp_path: Path,
) -> None:
    async with run_with_authority(tmp_path, tsa_outage="complete") as (office, tsa):
        tsa.how = DOWN
        document = await sealing(office)
        await office.site.work("seal")
        page = await (await office.signed_in("Maren")).get(at(document))
        assert "Level B-T was requested, but no authority issued a time stamp." in page.said
        assert "The seal’s time is from this server’s clock." in page.said


async def test_the_page_of_a_document_that_waits_tells_why(tmp_path: Path) -> None:
    async with run_with_authority(tmp_path) as (office, tsa):
        tsa.how = DOWN
        document = await sealing(office)
        await office.site.work("seal")
        maren = await office.signed_in("Maren")
        page = await maren.get(at(document))
        assert "Everyone has finished, but the document isn’t sealed yet" in page.said
        assert "No authority issued a time stamp." in page.said and "HTTP status 503" in page.said
        tsa.how = granting()
        office.clock.advance(seconds=15)
        await maren.post(at(document, "retry-seal"))
        await office.site.work("seal")
        assert "Completed and sealed" in (await maren.get(at(document))).said
