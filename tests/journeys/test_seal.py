"""What comes out at the end: a sealed file that others accept, or a failure that is seen and mended."""

import asyncio
import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import aiosqlite
import pypdf
import pytest

from esign.actions.mail import deliver_mail
from esign.core.actor import Mode
from esign.core.instant import HOUR, MINUTE, Instant, parse
from esign.core.seal_credential import Credential
from esign.demo import contract
from esign.jobs import retry_one_seal, worker
from esign.pdf.report import Verification, VerificationCase
from esign.runtime import Runtime
from esign.store.document import documents
from esign.store.engine.connections import FILE
from tests.fakes import FakeClock
from tests.journeys.api import a_signature
from tests.journeys.site import JourneySite, a_site
from tests.pki import a_seal, an_authority

EXPIRED = datetime(2026, 6, 1, tzinfo=UTC)

# One name in each script that the shipped fonts can write.
NAMES = {
    "Latin": "Zoë Strömqvist-Łęcka",
    "Greek": "Ελένη Παπαδοπούλου",
    "Cyrillic": "Юлія Коваленко",
    "Arabic": "ليلى الحداد",
    "Hebrew": "נועה אברהם",
    "Devanagari": "प्रिया शर्मा",
    "Thai": "สมชาย ใจดี",
    "emoji": "Mia 🌻🚀",
}


async def verify(site: JourneySite, file: bytes) -> Verification:
    runtime = site.runtime
    return await runtime.pdf.verify(file, VerificationCase(runtime.roots, runtime.clock.now(), runtime.own))


async def pdfsig(file: bytes, folder: Path) -> str:
    """What poppler says about the signatures of a file."""
    path = folder / "judged.pdf"
    path.write_bytes(file)
    process = await asyncio.create_subprocess_exec(
        "pdfsig", path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=folder
    )
    out, _ = await process.communicate()
    return out.decode()


def change_byte(file: bytes, at: int) -> bytes:
    copy = bytearray(file)
    copy[at] ^= 1
    return bytes(copy)


# ---------- accepted by others, and refused by them ----------


async def test_poppler_accepts_the_sealed_file_as_a_whole(site: JourneySite, tmp_path: Path) -> None:
    document = await site.complete_document()
    said = await pdfsig(await site.api.file(document), tmp_path)
    assert "Signature is Valid." in said
    assert "Total document signed" in said
    assert "ETSI.CAdES.detached" in said
    assert len(re.findall("^Signature #", said, re.MULTILINE)) == 1


async def test_the_certificate_alone_is_sealed_as_well(site: JourneySite, tmp_path: Path) -> None:
    document = await site.complete_document()
    said = await pdfsig(await site.api.file(document, "certificate"), tmp_path)
    assert "Signature is Valid." in said and "Total document signed" in said


@pytest.mark.parametrize("part", [0.02, 0.35, 0.999])
async def test_one_changed_bit_is_refused_by_poppler_and_by_us(
    site: JourneySite, tmp_path: Path, part: float
) -> None:
    sealed = await site.api.file(await site.complete_document())
    tampered = change_byte(sealed, int(len(sealed) * part))
    assert (await verify(site, sealed))["result"] == "valid"
    assert "Signature is Valid." not in await pdfsig(tampered, tmp_path)
    assert (await verify(site, tampered))["result"] == "invalid"


async def test_the_seal_in_the_api_is_that_of_the_file(site: JourneySite) -> None:
    document = await site.complete_document()
    sealed = await site.api.file(document)
    told = await site.api.get(document)
    found = await verify(site, sealed)
    assert (told["status"], told["sealError"]) == ("completed", None)
    assert (told["seal"]["sha256"], told["seal"]["size"]) == (found["sha256"], len(sealed))
    assert (told["pageCount"], told["seal"]["pageCount"]) == (1, found["pageCount"])
    assert (told["seal"]["level"], told["seal"]["timestamped"]) == ("B-B", False)


async def test_no_byte_of_the_sealed_file_is_handed_out_before_it_is_sealed(site: JourneySite) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    assert await site.api.status(document) == "sealing"
    for variant in ("sealed", "certificate"):
        answer = await site.api.call("GET", f"/documents/{document}/files/{variant}")
        assert (answer.status, answer.code) == (409, "document_not_completed")


async def test_the_sample_contract_is_sealed_with_every_answer_in_it(site: JourneySite) -> None:
    document = (await site.api.ok("POST", "/documents", contract.build_create_body()))["id"]
    await site.api.send(document)
    for person in (contract.CAFE, contract.GARDENER):
        await site.work("mail")
        seen = await site.api.get(document)
        mine = next(r for r in seen["recipients"] if r["email"] == person[1])
        given = {
            f["id"]: value for f in mine["fields"] if (value := contract.choose_answer(person, f)) is not None
        }
        await (await site.person(person[1])).sign(given)
    await site.work("seal")
    text = text_of(await site.api.file(document), slice(0, 3))
    for expected in ("18 Market Row, Wexcombe", "The grey cat is called Minze.", "14", "21 Nov 2026"):
        assert expected in text, expected


# ---------- every script ----------


def text_of(file: bytes, pages: slice) -> str:
    """Text as it is extracted; right-to-left and combining scripts only as a bag of letters (see `letters`)."""
    return "\n".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(file)).pages[pages])


async def poppler_text(file: bytes, folder: Path) -> str:
    path = folder / "read.pdf"
    path.write_bytes(file)
    process = await asyncio.create_subprocess_exec(
        "pdftotext", "-enc", "UTF-8", path, "-", stdout=asyncio.subprocess.PIPE, cwd=folder
    )
    out, _ = await process.communicate()
    return out.decode()


def letters(text: str) -> set[str]:
    """The letters of a text without their order and presentation forms."""
    return {c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c)[0] in "LS"}


async def test_names_of_every_script_come_out_on_page_and_certificate(
    site: JourneySite, tmp_path: Path
) -> None:
    place = {"page": 1, "x": 10, "width": 60, "height": 4}
    people = [
        {
            "name": name,
            "email": f"person{n}@example.test",
            "fields": [{"type": "name", "y": 5 + 8 * n, **place}],
        }
        for n, name in enumerate(NAMES.values())
    ]
    document = await site.api.send_document(recipients=people, title=" · ".join(NAMES.values())[:200])
    await site.work("mail")
    for recipient in (await site.api.get(document))["recipients"]:
        typed = {"signature": a_signature(recipient["name"])}
        await (await site.person(recipient["email"])).sign(typed)
    await site.work("seal")
    sealed = await site.api.file(document)
    page, _, rest = (await poppler_text(sealed, tmp_path)).partition("\f")
    for script, name in NAMES.items():
        assert letters(name) <= letters(page), f"{script} is not on the page"
        assert letters(name) <= letters(rest), f"{script} is not on the certificate"


async def test_what_no_font_can_print_is_named_before_anybody_signs(site: JourneySite) -> None:
    """Chinese is printed only where a font for it is found, so both outcomes are right, each in its place."""
    name = "王小明"
    unprintable = await site.runtime.pdf.find_missing_characters([name])
    document = await site.api.create(recipients=[{"name": name, "email": "ming@example.test"}])
    answer = await site.api.call("POST", f"/documents/{document}/send")
    if not unprintable:
        assert answer.status == 200
        return
    assert (answer.status, answer.code) == (409, "document_not_ready")
    told = answer.body["error"]
    assert told["currentStatus"] == "draft"
    assert [detail["path"] for detail in told["details"]] == ["/recipients/0/name"]
    assert all(character in told["details"][0]["message"] for character in name)
    assert await site.api.status(document) == "draft"


async def test_a_character_that_no_font_has_is_named_before_anybody_signs(site: JourneySite) -> None:
    document = await site.api.create(title="Vertrag \U00012000")  # cuneiform
    answer = await site.api.call("POST", f"/documents/{document}/send")
    assert (answer.status, answer.code) == (409, "document_not_ready")
    assert "\U00012000" in answer.body["error"]["details"][0]["message"]


# ---------- failures ----------


def expire_certificate(runtime: Runtime) -> Runtime:
    """The same program with a seal certificate whose time is over."""
    lapsed = a_seal(an_authority(), first=EXPIRED - timedelta(days=30), last=EXPIRED).credential
    return with_credential(runtime, lapsed)


def with_credential(runtime: Runtime, credential: Credential) -> Runtime:
    return replace(runtime, credentials={**runtime.credentials, Mode.LIVE: credential})


async def due_at(site: JourneySite, document: str) -> Instant:
    """When its seal is tried next."""
    row = await site.runtime.db.one(
        "SELECT due_at FROM outbox WHERE key = :key AND state = 'pending'", key=f"seal:{document}"
    )
    assert row is not None
    return int(row["due_at"])


async def fail(site: JourneySite) -> None:
    assert await worker.drain_jobs(expire_certificate(site.runtime), "seal") == 1


async def test_a_failed_seal_is_told_retried_on_the_schedule_and_healed(
    site: JourneySite, clock: FakeClock
) -> None:
    hooks = await site.api.webhook("http://127.0.0.1:65000/events")
    document = await site.api.send_document()
    await site.all_sign(document)

    for attempt, wait in enumerate((1, 5, 15, 60, 60, 60), 1):
        await fail(site)
        told = await site.api.get(document)
        assert told["status"] == "sealing"
        assert told["sealError"], "the reason is shown"
        assert told["seal"] is None
        assert await due_at(site, document) == clock.now() + wait * MINUTE
        assert await site.work("seal") == 0, "nothing is tried before its time"
        assert (await site.api.trail(document)).count("document.seal_failed") == (attempt >= 3)
        clock.advance(minutes=wait)

    assert await site.work("seal") == 1
    told = await site.api.get(document)
    assert (told["status"], told["sealError"]) == ("completed", None)
    assert (await verify(site, await site.api.file(document)))["result"] == "valid"
    published = await events_of(site, document)
    assert published.count("document.seal_failed") == 1
    assert published.count("document.completed") == 1
    assert hooks["enabled"]


async def shift_entry(site: JourneySite, document: str, by: int) -> None:
    """Somebody who may write to the database moves one entry of the trail in time."""
    async with aiosqlite.connect(site.runtime.config.storage.data_dir / FILE) as tamper:
        [guard] = await tamper.execute_fetchall(
            "SELECT sql FROM sqlite_schema WHERE name = 'audit_is_never_changed'"
        )
        await tamper.execute("DROP TRIGGER audit_is_never_changed")
        await tamper.execute("UPDATE audit SET at = at + ? WHERE document_id = ? AND seq = 2", (by, document))
        await tamper.execute(guard[0])
        await tamper.commit()


async def test_no_seal_vouches_for_a_trail_that_was_changed(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    await shift_entry(site, document, -1)
    assert await site.work("seal") == 1
    told = await site.api.get(document)
    assert told["status"] == "sealing" and told["seal"] is None
    assert told["sealError"].startswith("The audit trail is not as it was written: entry 2 (document.sent)")

    await shift_entry(site, document, 1)
    clock.advance(minutes=1)
    assert await site.work("seal") == 1
    assert (await site.api.get(document))["status"] == "completed"


async def events_of(site: JourneySite, document: str) -> list[str]:
    rows = await site.runtime.db.all(
        "SELECT type FROM event WHERE document_id = :id ORDER BY sequence", id=document
    )
    return [row["type"] for row in rows]


async def test_the_reason_of_a_failed_seal_can_be_read(site: JourneySite) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    await fail(site)
    reason = (await site.api.get(document))["sealError"]
    assert "expired" in reason and "Traceback" not in reason


async def test_once_one_seal_succeeds_all_that_waited_for_the_same_cause_are_due(
    site: JourneySite, clock: FakeClock
) -> None:
    waiting = []
    for _ in range(2):
        document = await site.api.send_document()
        await site.all_sign(document)
        for minutes in (1, 5, 15):
            await fail(site)
            clock.advance(minutes=minutes)
        await fail(site)
        clock.advance(minutes=20)
        waiting.append(document)
    first, second = waiting
    assert await due_at(site, second) - clock.now() > 30 * MINUTE
    clock.advance(minutes=20)
    await site.work("seal")
    assert [await site.api.status(document) for document in waiting] == ["completed", "completed"]
    assert first != second


async def test_the_operator_is_warned_of_each_failure_and_alerted_at_the_third(
    site: JourneySite, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    caplog.clear()
    for minutes in (1, 5, 15, 60):
        await fail(site)
        clock.advance(minutes=minutes)
    told = [record for record in caplog.records if record.name == "esign.seal"]
    assert [record.levelname for record in told] == ["WARNING", "WARNING", "ERROR", "WARNING"]
    for record in told:
        assert document in record.getMessage() and "expired" in record.getMessage()


async def test_of_several_seals_with_one_cause_one_is_tried_each_minute(
    site: JourneySite, clock: FakeClock
) -> None:
    waiting = []
    for _ in range(2):
        waiting.append(await site.api.send_document())
        await site.all_sign(waiting[-1])
        clock.advance(seconds=1)
    for minutes in (1, 5, 15, 0):
        assert await worker.drain_jobs(expire_certificate(site.runtime), "seal") == 2
        clock.advance(minutes=minutes)
    assert await retry_one_seal.tick(site.runtime) == 1
    await fail(site)
    clock.advance(minutes=1)
    assert await retry_one_seal.tick(site.runtime) == 1
    assert await site.work("seal") == 2, "the one that was tried, and what it frees"
    assert [await site.api.status(document) for document in waiting] == ["completed", "completed"]


async def test_after_a_restart_every_waiting_seal_is_due(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        document = await site.api.send_document()
        await site.all_sign(document)
        for minutes in (1, 5, 15):
            await fail(site)
            clock.advance(minutes=minutes)
        await fail(site)
        assert await due_at(site, document) == clock.now() + HOUR
    async with a_site(tmp_path / "data", clock) as site:
        await worker.recover_jobs(site.runtime)
        assert await site.work("seal") == 1
        assert await site.api.status(document) == "completed"


async def test_a_damaged_file_is_never_sealed_and_never_given_up(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    found = await documents.get(site.runtime.db, document)
    kept = await site.runtime.db.one(
        "SELECT content FROM blob_chunk WHERE sha256 = :hash", hash=found.file.prepared
    )
    assert kept is not None
    await write_chunk(site, found.file.prepared, b"%PDF-1.7 something else")
    await site.work("seal")
    assert (await site.api.get(document))["sealError"]
    await write_chunk(site, found.file.prepared, kept["content"])
    clock.advance(minutes=1)
    await site.work("seal")
    assert await site.api.status(document) == "completed"


async def write_chunk(site: JourneySite, sha256: str, content: bytes) -> None:
    async def write(tx: Any) -> None:
        await tx.run("UPDATE blob_chunk SET content = :content WHERE sha256 = :h", content=content, h=sha256)

    await site.runtime.db.write(write)


async def test_the_time_of_the_seal_is_that_of_the_clock(site: JourneySite, clock: FakeClock) -> None:
    document = await site.complete_document()
    assert parse((await site.api.get(document))["seal"]["sealedAt"]) == clock.now()
    [signature] = (await verify(site, await site.api.file(document)))["signatures"]
    assert parse(signature["signedAt"] or "") // 1000 == clock.now() // 1000


# ---------- beside mails ----------


async def test_copies_of_sealed_files_are_written_after_the_seals_that_wait(
    site: JourneySite, clock: FakeClock
) -> None:
    signed = []
    for _ in range(2):
        signed.append(await site.api.send_document())
        await site.all_sign(signed[-1])  # the seal of the first holds up no invitation to the second
    [job] = await worker.claim_due(site.runtime, worker.KINDS[0], 1)
    await worker.attempt(site.runtime, worker.KINDS[0], job)
    assert sorted([await site.api.status(document) for document in signed]) == ["completed", "sealing"]
    assert await deliver_mail.choose_due(site.runtime, clock.now(), 16) == [], "the second waits for a worker"
    clock.advance(milliseconds=deliver_mail.HELD)
    assert await deliver_mail.choose_due(site.runtime, clock.now(), 16), "no mail is held for long"
    assert await site.work("seal") == 1
    assert len(await deliver_mail.choose_due(site.runtime, clock.now(), 16)) >= 2, "nothing waits any more"
