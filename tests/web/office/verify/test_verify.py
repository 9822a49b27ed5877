"""What anybody reads about a PDF that they bring: each result, each refusal, and nothing about what is not theirs."""

import asyncio
import io
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any

import pikepdf
import pytest
import pytest_asyncio
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

from esign.core.actor import Mode
from esign.pdf.inspection import NOT_CHECKED
from esign.pdf.report import VerificationCase
from esign.pdf.worker.queue import WAITING_OF_PARTY
from esign.pdf.worker.queue_turn import STRANGERS, PdfJobKind, QueueTurn
from esign.web.office.verify.page import NOTHING, REFUSED
from tests.pdf.local_seal import load_key
from tests.pdf.others import a_stamper, sign_as_others, stamp_as_others
from tests.pdf.proofs import a_list, with_proofs
from tests.pdf.sealing import a_pdf, save_pdf, sign_file
from tests.pdf.worker.test_workers import until
from tests.pki import MADE, NOW, a_seal, an_authority
from tests.store.files import stored_bytes
from tests.web.office.visitor import Office, Page, an_office

pytestmark = pytest.mark.asyncio(loop_scope="module")

TITLE, SIGNER = "Severance agreement", "Ada Byron"
FOREIGN = an_authority("Osgood Root")
NUMBERS = count()
HOSTILE = '<script>alert(1)</script>"\u202e.pdf'


@dataclass(frozen=True)
class Sealed:
    """A document sealed by the whole program."""

    id: str
    file: bytes
    certificate: bytes


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    limits = {"file_mib": 1, "body_mib": 3, "pages": 5, "verifies_per_minute": 0}
    async with an_office(tmp_path_factory.mktemp("office"), limits=limits) as office:
        yield office


async def sealed_by(office: Office, mode: Mode = Mode.LIVE) -> Sealed:
    site = replace(office.site, api=await office.site.key(mode=mode))
    email = f"ada{next(NUMBERS)}@example.test"
    id = await site.complete_document(title=TITLE, recipients=[{"name": SIGNER, "email": email}])
    return Sealed(id, await site.api.file(id), await site.api.file(id, "certificate"))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def ours(office: Office) -> Sealed:
    return await sealed_by(office)


async def verify_upload(office: Office, file: bytes, name: str = "file.pdf", **more: str) -> Page:
    return await office.visitor().upload("/verify", "file", (name, file), **more)


def list_signers(page: Page) -> list[str]:
    items = re.findall(
        r"<li>(.*?)</li>", page.text.partition('class="signers"')[2].partition("</ul>")[0], re.DOTALL
    )
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", item)).split()) for item in items]


async def rename(office: Office, name: str) -> None:
    owner = await office.signed_in("Renamer")
    await owner.get("/settings/organisation")
    answer = await owner.post("/settings/organisation", organisationName=name)
    assert answer.status == 303, answer.said


def change_content(file: bytes) -> bytes:
    at = file.index(b"/Contents")
    return file[:at] + b"/contents" + file[at + 9 :]


def append_content(file: bytes) -> bytes:
    """Other content on the first page, in a revision of its own."""
    target = io.BytesIO(file)
    writer = IncrementalPdfFileWriter(target)
    page, _ = writer.find_page_for_modification(0)  # type: ignore[no-untyped-call]
    page.get_object()["/Contents"] = writer.add_object(generic.StreamObject(stream_data=b"0 0 99 99 re f"))
    writer.mark_update(page)
    writer.write_in_place()  # type: ignore[no-untyped-call]
    return target.getvalue()


async def foreign(name: str = "Osgood Stone", **how: Any) -> bytes:
    return await sign_as_others(a_pdf(), a_seal(FOREIGN, name=name), "Signature1", **how)


def pages(count: int) -> bytes:
    return a_pdf(*({} for _ in range(count)))


def make_locked() -> bytes:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        return save_pdf(pdf, encryption=pikepdf.Encryption(owner="o", user="u"))


# ---------- the page before there is a file ----------


async def test_the_page_asks_for_a_file_and_needs_no_session(office: Office) -> None:
    page = await office.visitor().get("/verify")
    assert (page.status, page.title) == (200, "Verify a PDF")
    assert 'enctype="multipart/form-data"' in page.text and 'name="csrf"' not in page.text
    assert "Up to 1 MB and 5 pages" in page.said and "Sign in" in page.said
    for kept in ("Acrobat", "esign verify FILE", "/authority.cer"):
        assert kept in page.text


async def test_who_is_signed_in_finds_it_among_the_other_pages(office: Office) -> None:
    page = await (await office.signed_in("Maren")).get("/verify")
    assert 'href="/verify" aria-current="page"' in page.text and "Sign in" not in page.said


async def test_the_link_of_a_certificate_page_tells_that_and_when_but_not_what_or_who(
    office: Office, ours: Sealed
) -> None:
    page = await office.visitor().get(f"/verify/{ours.id}")
    assert "A document with this ID was sealed here on" in page.said and ours.id in page.said
    assert page.value("document") == ours.id
    for secret in (TITLE, SIGNER, "@example.test", "1 page"):
        assert secret not in page.text


@pytest.mark.parametrize("id", ["doc_01kzt0v8q3e5m7p9r1s3t5v7w9", "nonsense", "%3Cb%3E%22", "d" * 500])
async def test_an_unknown_id_is_said_to_be_unknown(office: Office, id: str) -> None:
    page = await office.visitor().get(f"/verify/{id}")
    assert page.status == 200 and "No document with this ID was sealed here" in page.said
    assert "<b>" not in page.text.partition('class="note')[2].partition("</form>")[0]


async def test_a_document_that_is_not_sealed_is_unknown_to_strangers(office: Office) -> None:
    draft = await office.site.api.create(title=TITLE)
    assert "No document with this ID was sealed here" in (await office.visitor().get(f"/verify/{draft}")).said


async def test_a_deleted_document_is_known_as_deleted_and_its_seal_still_as_its_own(office: Office) -> None:
    gone = await sealed_by(office)
    await office.site.api.ok("DELETE", f"/documents/{gone.id}")
    page = await office.visitor().get(f"/verify/{gone.id}")
    assert "Sealed here on" in page.said and "since deleted" in page.said
    answer = await verify_upload(office, gone.file, document=gone.id)
    assert "This file has the document’s seal" in answer.said and "Valid" in answer.said
    assert "The document was sealed here on" in (await verify_upload(office, gone.file)).said


# ---------- results ----------


async def test_an_untouched_file_is_valid_and_known(office: Office, ours: Sealed) -> None:
    page = await verify_upload(office, ours.file, "Agreement.pdf")
    assert (page.status, page.title) == (200, "Valid and unchanged")
    for told in (
        "Agreement.pdf",
        "This is exactly the file that",
        "Nothing has changed.",
        "Trusted certificate",
        "No time stamp",
        "Original file. This exact file was sealed here on",
        "Document Seal",
        "B-B, without a time stamp",
        "covered by the seal",
        "The file holds all of them as audit.json",
    ):
        assert told in page.said, told
    assert "(not confirmed)" not in page.said and TITLE not in page.text
    assert f"{SIGNER} Signed on 21 Nov 2026" in page.said and "@example.test" not in page.text


async def test_each_who_signed_or_approved_is_named_in_their_order(office: Office) -> None:
    site = replace(office.site, api=await office.site.key(mode=Mode.LIVE))
    people = [
        {"name": "Ada Byron", "email": "first@example.test", "order": 1},
        {"name": "Cal <b>", "email": "third@example.test", "role": "approver", "order": 2},
    ]
    id = await site.complete_document(title=TITLE, recipients=people)
    page = await verify_upload(office, await site.api.file(id))
    assert [line.partition(" on ")[0] for line in list_signers(page)] == [
        "Ada Byron Signed",
        "Cal <b> Approved",
    ]


async def test_names_are_read_from_a_file_with_a_trusted_seal_only(
    office: Office, ours: Sealed, tmp_path: Path
) -> None:
    assert SIGNER not in (await verify_upload(office, change_content(ours.file))).text
    assert SIGNER not in (await verify_upload(office, append_content(ours.file))).text
    async with an_office(tmp_path) as elsewhere:
        page = await verify_upload(elsewhere, ours.file)
        assert page.title == "Unknown signer" and SIGNER not in page.text


async def test_names_are_still_read_from_the_file_of_a_deleted_document(office: Office) -> None:
    gone = await sealed_by(office)
    await office.site.api.ok("DELETE", f"/documents/{gone.id}")
    assert SIGNER in (await verify_upload(office, gone.file)).said


async def test_the_present_name_of_the_organisation_stands_beside_the_one_in_the_seal(office: Office) -> None:
    sealed = await sealed_by(office)
    before = await verify_upload(office, sealed.file)
    assert "name today" not in before.said
    await rename(office, "Fernhill & Daughters")
    page = await verify_upload(office, sealed.file)
    assert "Organisation’s name today Fernhill & Daughters" in page.said
    for other in (await foreign(), a_pdf(), change_content(sealed.file)):
        assert "Fernhill" not in (await verify_upload(office, other, document=sealed.id)).text
    assert "Fernhill" not in (await office.visitor().get(f"/verify/{sealed.id}")).text


async def test_the_certificate_alone_is_valid_and_known_as_one(office: Office, ours: Sealed) -> None:
    page = await verify_upload(office, ours.certificate)
    assert page.title == "Valid and unchanged" and "Original certificate." in page.said
    assert (
        "This is the document’s certificate"
        in (await verify_upload(office, ours.certificate, document=ours.id)).said
    )


async def test_one_changed_byte_is_told_first(office: Office, ours: Sealed) -> None:
    page = await verify_upload(office, change_content(ours.file))
    assert page.title == "Changed after it was sealed" and "Do not rely on this file" in page.said
    assert "The document was changed after it was signed" in page.said
    assert "Nothing has changed." not in page.said and "sealed here" not in page.said


async def test_an_appended_update_is_a_change(office: Office, ours: Sealed) -> None:
    page = await verify_upload(office, append_content(ours.file))
    assert page.title == "Changed after it was sealed"
    assert "The file was changed after signing" in page.said
    assert "something that may change what the file shows" in page.said


async def test_somebody_else_s_seal_is_unchanged_but_proves_no_name(office: Office) -> None:
    page = await verify_upload(office, await foreign())
    assert page.title == "Unknown signer"
    assert "Osgood Stone (not confirmed)" in page.said and "“Osgood Root”" in page.said
    assert "sealed here" not in page.said and "Trusted certificate" not in page.said


async def test_an_expired_certificate_is_told_with_its_day(office: Office) -> None:
    old = a_seal(FOREIGN, last=MADE + timedelta(days=200))
    page = await verify_upload(office, sign_file(a_pdf(), load_key(old.credential), NOW, "Old"))
    assert page.title == "The certificate has expired"
    assert "expired on 2026-07-20" in page.said


async def test_a_file_without_seal_is_said_to_have_none(office: Office) -> None:
    page = await verify_upload(office, a_pdf())
    assert page.title == "Not sealed" and "Ask for the sealed PDF" in page.said
    assert "Technical details" not in page.said


async def test_a_seal_of_test_mode_has_no_legal_effect(office: Office) -> None:
    test = await sealed_by(office, Mode.TEST)
    page = await verify_upload(office, test.file)
    assert page.title == "Only a test" and "no legal effect" in page.said
    assert "It was sealed in test mode" in (await office.visitor().get(f"/verify/{test.id}")).said


async def test_of_several_seals_the_worst_decides_and_each_is_shown(office: Office) -> None:
    once = await sign_as_others(a_pdf(), a_seal(FOREIGN, name="First Co"), "First")
    twice = await sign_as_others(once, a_seal(FOREIGN, name="Second Co"), "Second")
    page = await verify_upload(office, twice)
    assert "Seal 1 of 2" in page.said and "Seal 2 of 2" in page.said
    assert "First Co" in page.said and "Second Co" in page.said
    assert page.title == "Sealed, with later additions" and "Not confirmed" in page.said
    page = await verify_upload(office, change_content(twice))
    assert page.title == "Changed after it was sealed"
    assert page.said.count("The document was changed after it was signed") == 3


async def test_an_archive_time_stamp_is_told_apart_from_a_change(office: Office, ours: Sealed) -> None:
    page = await verify_upload(office, await stamp_as_others(ours.file), document=ours.id)
    assert page.title == "Valid, with proof added"
    assert "Only proof was added since: a time stamp on the whole file" in page.said
    assert "byte for byte" not in page.said and "has not changed" not in page.said
    assert "This file has the document’s seal, but isn’t identical to it" in page.said


async def test_a_time_stamp_of_an_unknown_authority_is_named(office: Office) -> None:
    page = await verify_upload(office, await foreign(stamper=a_stamper()))
    assert "It is from Test Time Stamps" in page.said and "doesn’t know" in page.said
    assert "B-T, with a time stamp" in page.said and "by the sealing server’s clock" in page.said


async def test_the_file_is_compared_with_the_document_of_the_link(office: Office, ours: Sealed) -> None:
    assert "This is the original document" in (await verify_upload(office, ours.file, document=ours.id)).said
    for other in (change_content(ours.file), await foreign(), a_pdf(), (await sealed_by(office)).file):
        page = await verify_upload(office, other, document=ours.id)
        assert "This is not the document with that ID" in page.said and "original document" not in page.said
    page = await verify_upload(office, ours.file, document="doc_nobody")
    assert "There is nothing to compare it with" in page.said and page.title.startswith("Valid")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def trusting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """An installation that trusts an authority of others, and one for time stamps."""
    folder = tmp_path_factory.mktemp("trusting")
    for name, root in (("foreign", FOREIGN), ("stamps", an_authority("Test Time Stamps Root"))):
        (folder / f"{name}.der").write_bytes(root.der)
    seal = {"trust": [str(folder / "foreign.der"), str(folder / "stamps.der")]}
    async with an_office(folder / "data", seal=seal, limits={"verifies_per_minute": 0}) as office:
        yield office


async def test_a_seal_of_a_trusted_authority_is_valid_with_its_proved_time(trusting: Office) -> None:
    page = await verify_upload(trusting, await foreign(stamper=a_stamper()))
    assert page.title == "Valid and unchanged"
    for told in (
        "It was issued by an authority that this server trusts",
        "Time confirmed. The time stamp is from Test Time Stamps",
        "confirmed by a time stamp",
        "B-T, with a time stamp",
    ):
        assert told in page.said, told
    assert "It belongs to this server." not in page.said and "(not confirmed)" not in page.said


async def test_time_stamps_over_the_whole_file_are_told_apart(trusting: Office) -> None:
    proved = with_proofs(await foreign(stamper=a_stamper()), a_list(FOREIGN, NOW))
    page = await verify_upload(trusting, await stamp_as_others(proved))
    assert page.title == "Valid, with proof added"
    assert "The whole file existed on" in page.said and "B-LTA, with an archive time stamp" in page.said


async def test_a_revoked_certificate_is_told_first(trusting: Office) -> None:
    issued = a_seal(FOREIGN, name="Osgood Stone")
    file = await sign_as_others(a_pdf(), issued, "Signature1")
    told = a_list(FOREIGN, NOW, {issued.certificate.serial_number: NOW - 5})
    page = await verify_upload(trusting, with_proofs(file, told))
    assert page.title == "The certificate was revoked"
    assert "was revoked on 2026-11-20" in page.said and "Trusted certificate" not in page.said


# ---------- refusals ----------


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b"no PDF", REFUSED["invalid_file"]),
        (b"%PDF-1.7\nnothing else", REFUSED["invalid_file"]),
        (b"", REFUSED["invalid_file"]),
        (make_locked(), REFUSED["file_encrypted"]),
        (pages(6), "You can check up to 5 pages here"),
        (a_pdf() + b"0" * 2**20, "You can check files of up to 1 MB here"),
    ],
    ids=["text", "header", "empty", "locked", "pages", "large"],
)
async def test_what_cannot_be_judged_is_told_with_what_to_do(
    office: Office, file: bytes, sentence: str
) -> None:
    page = await verify_upload(office, file, document="doc_1")
    assert (page.status, sentence in page.said) == (422, True)
    assert page.value("document") == "doc_1", "the document that it is to be compared with is not forgotten"


def endless() -> bytes:
    """A few kilobytes whose fields are each twice below another, so that nobody comes to their end."""
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        field = pdf.make_indirect(pikepdf.Dictionary(FT=pikepdf.Name.Sig, T=pikepdf.String("end")))
        for _ in range(60):
            kids = pikepdf.Array([field, field])
            field = pdf.make_indirect(pikepdf.Dictionary(T=pikepdf.String("a"), Kids=kids))
        pdf.Root.AcroForm = pikepdf.Dictionary(Fields=pikepdf.Array([field]))
        return save_pdf(pdf)


async def test_a_file_that_takes_too_long_is_not_called_damaged(office: Office) -> None:
    page = await verify_upload(office, endless())
    assert page.status == 422 and NOT_CHECKED in page.said
    assert "damaged" not in page.said and "cannot be read as a PDF" not in page.said


async def test_a_form_without_file_or_with_two_asks_for_one(office: Office) -> None:
    for files in ((), (("a.pdf", a_pdf()), ("b.pdf", a_pdf()))):
        page = await office.visitor().upload("/verify", "file", *files)
        assert page.status == 422 and NOTHING in page.said


async def test_a_body_over_every_limit_is_answered_on_the_page(office: Office) -> None:
    page = await verify_upload(office, b"%PDF-1.7" + b"0" * 4 * 2**20)
    assert page.status == 400 and "The limit is 1 MB" in page.said and 'name="file"' in page.text


async def test_more_than_a_few_files_a_minute_from_one_address_must_wait(tmp_path: Path) -> None:
    async with an_office(tmp_path, limits={"verifies_per_minute": 2}) as office:
        for _ in range(2):
            assert (await verify_upload(office, a_pdf())).status == 200
        page = await verify_upload(office, a_pdf())
        wait = page.headers["Retry-After"]
        assert (
            page.status == 429 and f"Try again in {wait} seconds" in page.said and 'name="file"' in page.text
        )
        assert (await office.visitor().get("/verify")).status == 200
        office.clock.advance(seconds=int(wait))
        assert (await verify_upload(office, a_pdf())).status == 200


async def test_strangers_are_judged_one_at_a_time_and_leave_a_worker_to_everybody_else(
    office: Office,
) -> None:
    pdf = office.runtime.pdf
    async with pdf.queue.place(QueueTurn(PdfJobKind.STRANGER, STRANGERS, "192.0.2.7")):
        waiting = asyncio.create_task(verify_upload(office, a_pdf()))
        await until(lambda: pdf.queue.waiting)
        assert (await pdf.verify(a_pdf(), VerificationCase((), NOW)))["result"] == "unsigned"
        assert [turn.source for turn in pdf.queue.waiting] == ["127.0.0.1"]
    assert (await waiting).status == 200


async def test_strangers_who_find_no_room_read_when_to_come_again(office: Office) -> None:
    pdf = office.runtime.pdf
    async with pdf.queue.place(QueueTurn(PdfJobKind.STRANGER, STRANGERS, "192.0.2.7")):
        flood = [
            asyncio.create_task(verify_upload(office, a_pdf()))
            for _ in range(WAITING_OF_PARTY[PdfJobKind.STRANGER])
        ]
        await until(lambda: len(pdf.queue.waiting) == len(flood))
        page = await verify_upload(office, a_pdf())
    assert (page.status, 1 <= int(page.headers["Retry-After"]) <= 60) == (429, True)
    assert "Try again in a moment" in page.said and 'name="file"' in page.text
    assert {(await each).status for each in flood} == {200}


# ---------- hostile and secret ----------


async def test_hostile_names_are_shown_as_text(office: Office) -> None:
    page = await verify_upload(
        office, await foreign(name="<img src=x onerror=alert(1)>\u202e & Co"), HOSTILE, document=HOSTILE
    )
    assert page.status == 200
    for raw in ("<script>alert", "<img", "\u202e"):
        assert raw not in page.text
    assert "<script>alert(1)</script>" in page.said and "<img src=x onerror=alert(1)>" in page.said


async def test_a_name_without_end_is_cut(office: Office) -> None:
    page = await verify_upload(office, a_pdf(), "n" * 5000 + ".pdf")
    assert "n" * 240 + "…" in page.text and "n" * 241 not in page.text


async def test_nothing_of_a_file_is_stored(office: Office) -> None:
    mark = b"mark-of-this-very-file"
    assert (await verify_upload(office, a_pdf() + b"\n%" + mark, "name-of-this-very-file.pdf")).status == 200
    kept = stored_bytes(Path(office.runtime.config.storage.data_dir))
    assert mark not in kept and b"name-of-this-very-file" not in kept
