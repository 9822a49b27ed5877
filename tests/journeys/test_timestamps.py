"""Seals with time stamps, from the last signature to the sealed file, and what becomes of them without any."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from esign.cli.verify_file import write_report
from esign.core.actor import Mode
from esign.core.instant import DAY, HOUR, MINUTE, Instant, parse, rfc3339
from esign.jobs import retry_one_seal, worker
from esign.pdf.report import Verification, VerificationCase
from tests.fakes import FakeClock
from tests.journeys.site import JourneySite, a_site
from tests.tsa import Tsa, a_stamping_certificate, granting, hanging, saying, stamping

DOWN = saying(b"", 503)


@asynccontextmanager
async def stamped_site(folder: Path, clock: FakeClock, *urls: str, **seal: Any) -> AsyncIterator[JourneySite]:
    async with a_site(folder, clock, seal={"level": "B-T", "tsa_urls": urls, **seal}) as site:
        yield site


@asynccontextmanager
async def run_with_authority(
    folder: Path, clock: FakeClock, **seal: Any
) -> AsyncIterator[tuple[JourneySite, Tsa]]:
    """A program with one time-stamp authority."""
    async with stamping(now=clock.now) as tsa, stamped_site(folder, clock, tsa.url, **seal) as site:
        yield site, tsa


async def sign_documents(site: JourneySite, count: int = 1) -> list[str]:
    """Documents that everybody has signed, one a second."""
    documents = []
    for _ in range(count):
        await site.work("mail")
        assert isinstance(site.runtime.clock.source, FakeClock)
        site.runtime.clock.source.advance(seconds=1)
        documents.append(await site.api.send_document())
        await site.all_sign(documents[-1])
    return documents


async def verify(site: JourneySite, document: str, *roots: bytes, variant: str = "sealed") -> Verification:
    file = await site.api.file(document, variant)
    return await site.runtime.pdf.verify(
        file, VerificationCase(roots, site.runtime.clock.now(), site.runtime.roots)
    )


async def due_at(site: JourneySite, document: str) -> Instant:
    row = await site.runtime.db.one("SELECT due_at FROM outbox WHERE key = :key", key=f"seal:{document}")
    assert row is not None
    return int(row["due_at"])


async def ready(site: JourneySite) -> tuple[int, str]:
    async with site.session.get(f"{site.base}/readyz") as answer:
        return answer.status, (await answer.json())["checks"]["signer"]


async def completed_entry(site: JourneySite, document: str) -> Any:
    trail = (await site.api.ok("GET", f"/documents/{document}/audit"))["data"]
    return next(entry["data"] for entry in trail if entry["type"] == "document.completed")


# ---------- with an authority ----------


async def test_both_files_have_a_time_stamp_and_the_api_tells_it(tmp_path: Path, clock: FakeClock) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        tsa.now = lambda: clock.now() + 2000
        (document,) = await sign_documents(site)
        await site.work("seal")
        told = (await site.api.get(document))["seal"]
        stamp = {"time": rfc3339(clock.now() + 2000), "authority": "Test Time Stamps"}
        assert (told["level"], told["levelAsked"], told["timestamped"], told["timestamp"]) == (
            "B-T",
            "B-T",
            True,
            stamp,
        )
        assert parse(told["sealedAt"]) == clock.now()
        for variant in ("sealed", "certificate"):
            found = await verify(site, document, tsa.root, variant=variant)
            (signature,) = found["signatures"]
            assert (found["result"], signature["level"]) == ("valid", "B-T")
            assert signature["timestamp"] == {"valid": True, "trusted": True, **stamp}
        entry = await completed_entry(site, document)
        assert (entry["level"], entry["timestamp"]) == ("B-T", stamp["time"]) and "levelAsked" not in entry
        assert tsa.asked == 2


async def test_the_next_authority_stands_in_and_the_page_names_both(tmp_path: Path, clock: FakeClock) -> None:
    async with (
        stamping(DOWN) as first,
        stamping(issued=a_stamping_certificate(name="Second"), now=clock.now) as second,
        stamped_site(tmp_path, clock, first.url, second.url) as site,
    ):
        (document,) = await sign_documents(site)
        await site.work("seal")
        told = (await site.api.get(document))["seal"]
        assert (told["level"], told["timestamp"]["authority"]) == ("B-T", "Second")
        page = await certificate_page(site, document)
        for tsa in (first, second):
            assert tsa.url.split("/")[2] in page


async def certificate_page(site: JourneySite, document: str) -> str:
    file = await site.api.file(document, "certificate")
    process = await asyncio.create_subprocess_exec(
        "pdftotext", "-", "-", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate(file)
    return re.sub(r"\s+", " ", out.decode())


async def test_a_seal_without_time_stamp_asks_nobody(tmp_path: Path, clock: FakeClock) -> None:
    async with run_with_authority(tmp_path, clock, level="B-B") as (site, tsa):
        document = await site.complete_document()
        told = (await site.api.get(document))["seal"]
        assert (told["level"], told["levelAsked"], told["timestamp"], tsa.asked) == ("B-B", "B-B", None, 0)


@pytest.mark.parametrize(("wanted", "level"), [(False, "B-B"), (True, "B-T")])
async def test_test_seals_have_a_time_stamp_where_the_settings_want_it(
    tmp_path: Path, clock: FakeClock, wanted: bool, level: str
) -> None:
    async with stamping(now=clock.now) as tsa:
        seal = {"level": "B-T", "tsa_urls": [tsa.url]}
        async with a_site(tmp_path, clock, seal=seal, test={"time_stamps": wanted}) as site:
            api = await site.key(mode=Mode.TEST)
            document = await api.send_document()
            await api.ok("POST", f"/test/documents/{document}/simulate", {"action": "complete"})
            await site.work("seal")
            told = (await api.get(document))["seal"]
            assert (told["level"], told["levelAsked"], tsa.asked) == (level, level, 2 * wanted)


# ---------- without one: waiting ----------


async def test_without_a_time_stamp_the_document_waits_and_says_why(tmp_path: Path, clock: FakeClock) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        tsa.how = DOWN
        (document,) = await sign_documents(site)
        for attempt, wait in enumerate((1, 5, 15, 60, 60), 1):
            await site.work("seal")
            told = await site.api.get(document)
            assert (told["status"], told["seal"]) == ("sealing", None)
            host = tsa.url.split("/")[2]
            assert told["sealError"] == (
                f"No authority issued a time stamp. {host}: it answered with HTTP status 503."
            )
            assert await due_at(site, document) == clock.now() + wait * MINUTE
            assert (await site.api.trail(document)).count("document.seal_failed") == (attempt >= 3)
            assert await ready(site) == (503, "no time stamps")
            clock.advance(minutes=wait)
        for days in (0.1, 2, 30):
            clock.advance(days=days)
            assert await site.work("seal") == 1
            assert await site.api.status(document) == "sealing"
        tsa.how = granting()
        clock.advance(hours=1)
        await site.work("seal")
        told = await site.api.get(document)
        assert (told["status"], told["sealError"], told["seal"]["level"]) == ("completed", None, "B-T")
        assert await ready(site) == (200, "ok")


async def test_a_lost_authority_is_tried_each_minute_even_for_a_single_document(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        tsa.how = DOWN
        (document,) = await sign_documents(site)
        for minutes in (1, 5, 15, 0):
            await site.work("seal")
            clock.advance(minutes=minutes)
        assert await due_at(site, document) == clock.now() + HOUR
        for _ in range(2):
            clock.advance(minutes=1)
            assert await retry_one_seal.tick(site.runtime) == 1
            assert await site.work("seal") == 1
        tsa.how = granting()
        clock.advance(minutes=1)
        await retry_one_seal.tick(site.runtime)
        await site.work("seal")
        assert await site.api.status(document) == "completed"


async def test_once_an_authority_answers_all_that_wait_are_sealed_however_each_had_failed(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        waiting = await sign_documents(site, 3)
        for how in (DOWN, saying(b"Sign in"), DOWN):
            tsa.how = how
            await site.work("seal")
            clock.advance(minutes=60)
        tsa.how = saying(b"Sign in")
        await site.work("seal")
        tsa.how = granting()
        clock.advance(minutes=1)
        assert await retry_one_seal.tick(site.runtime) == 1
        await site.work("seal")
        assert [await site.api.status(document) for document in waiting] == ["completed"] * 3


async def test_a_hundred_waiting_documents_do_not_each_wait_for_the_same_silence(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        tsa.how = DOWN
        waiting = await sign_documents(site, 3)
        assert await site.work("seal") == 3
        assert tsa.asked == 2
        errors = [(await site.api.get(document))["sealError"] for document in waiting]
        assert errors[0] and len(set(errors)) == 1


async def test_retry_seal_asks_again_at_once(tmp_path: Path, clock: FakeClock) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        tsa.how = DOWN
        (document,) = await sign_documents(site)
        await site.work("seal")
        tsa.how = granting()
        clock.advance(seconds=15)
        await site.api.ok("POST", f"/documents/{document}/retry-seal", {})
        await site.work("seal")
        assert await site.api.status(document) == "completed"


async def test_a_restart_while_an_authority_is_asked_loses_nothing(tmp_path: Path, clock: FakeClock) -> None:
    async with stamping(hanging, now=clock.now) as tsa:
        async with stamped_site(tmp_path, clock, tsa.url) as site:
            (document,) = await sign_documents(site)
            attempt = asyncio.create_task(site.work("seal"))
            while tsa.asked < 2:  # noqa: ASYNC110  (it asks another program)
                await asyncio.sleep(0.01)
            attempt.cancel()
            with pytest.raises(asyncio.CancelledError):
                await attempt
        tsa.how = granting()
        async with stamped_site(tmp_path, clock, tsa.url) as site:
            await worker.recover_jobs(site.runtime)
            assert await site.work("seal") == 1
            told = await site.api.get(document)
            assert (told["status"], told["sealError"], told["seal"]["level"]) == ("completed", None, "B-T")


async def test_how_an_authority_answered_last_is_known_after_a_restart(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        await sign_documents(site)
        await site.work("seal")
        before = site.runtime.tsa.authorities
        assert [(each.name, each.error, each.asked_at) for each in before] == [
            ("Test Time Stamps", None, clock.now())
        ]
        tsa.how = DOWN
        await sign_documents(site)
        await site.work("seal")
    async with stamped_site(tmp_path, clock, before[0].url) as site:
        (known,) = site.runtime.tsa.authorities
        assert (known.name, known.error) == ("Test Time Stamps", "it answered with HTTP status 503")


# ---------- without one: completing, and saying so ----------


async def test_without_a_time_stamp_it_may_complete_and_says_so_everywhere(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock, tsa_outage="complete") as (site, tsa):
        tsa.how = DOWN
        (document,) = await sign_documents(site)
        await site.work("seal")
        told = await site.api.get(document)
        assert (told["status"], told["sealError"]) == ("completed", None)
        seal = told["seal"]
        assert (seal["level"], seal["levelAsked"], seal["timestamped"], seal["timestamp"]) == (
            "B-B",
            "B-T",
            False,
            None,
        )
        entry = await completed_entry(site, document)
        assert (entry["level"], entry["levelAsked"]) == ("B-B", "B-T") and "timestamp" not in entry
        page = await certificate_page(site, document)
        assert "Server clock: a time stamp was requested, but no authority issued one" in page
        found = await verify(site, document, tsa.root)
        assert (found["result"], found["signatures"][0]["level"]) == ("valid", "B-B")
        assert found["signatures"][0]["timestamp"] is None
        words = "level: B-B (B-T was requested, but it has no time stamp)"
        assert words in write_report(found, as_json=False)
        for variant in ("sealed", "certificate"):
            file = base64.b64encode(await site.api.file(document, variant)).decode()
            (signature,) = (await site.api.ok("POST", "/verify", {"file": file}))["signatures"]
            assert (signature["level"], signature["levelAsked"]) == ("B-B", "B-T")
        assert await ready(site) == (200, "ok")


async def test_no_room_is_kept_for_a_time_stamp_that_is_not_asked_for(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock, tsa_outage="complete") as (site, tsa):
        (with_one,) = await sign_documents(site)
        await site.work("seal")
        tsa.how = DOWN
        (without,) = await sign_documents(site)
        await site.work("seal")
        rooms = []
        for document in (with_one, without):
            with pikepdf.open(BytesIO(await site.api.file(document))) as pdf:
                rooms.append(len(bytes(pdf.Root.AcroForm.Fields[0].V.Contents)))
        assert rooms[0] - rooms[1] == 12_288


# ---------- later ----------


async def test_a_trusted_time_stamp_keeps_the_seal_valid_when_its_certificate_has_ended(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with run_with_authority(tmp_path, clock) as (site, tsa):
        (document,) = await sign_documents(site)
        await site.work("seal")
        file = await site.api.file(document)
        later = (
            clock.now() + 4 * 365 * DAY
        )  # the seal's certificate lived three years, that of the authority five
        roots = site.runtime.roots
        known = await site.runtime.pdf.verify(file, VerificationCase((tsa.root,), later, roots))
        unknown = await site.runtime.pdf.verify(file, VerificationCase((), later, roots))
        assert (known["result"], unknown["result"]) == ("valid", "indeterminate")
