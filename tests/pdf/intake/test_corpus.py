"""Real and hostile files of others: each is taken or refused as its manifest says, at once and by what is in it."""

import asyncio
import io
import re
from pathlib import Path

import pytest
from pikepdf import Array, Dictionary, Pdf, Stream
from PIL import ImageChops

from esign.core.errors import Problem
from esign.pdf.inspection import Inspection, UploadLimits
from esign.pdf.intake.active_content import write_object
from esign.pdf.report import VerificationCase
from esign.pdf.seal_order import SealOrder
from esign.pdf.worker.workers import Workers
from tests.manifest import TAKEN, find_expected_code, rows
from tests.pdf.marks import assert_marked, overlay, picture, stamp_pages
from tests.pdf.sealing import every_type, the_facts
from tests.pki import NOW, a_seal, an_authority

pytestmark = pytest.mark.corpus

# Their first page shows fields, which a plain reader leaves out, or a pin whose attachment goes.
REDRAWN = {"16-acroform", "17-empty_sigfield", "18-xfa", "20-javascript", "21-embedded_files"}

FORBIDDEN = re.compile(
    rb"/(?:JavaScript|JS|Launch|SubmitForm|ImportData|GoToR|OpenAction|AA|EmbeddedFiles?|EF|AF|Collection|RichMedia"
    rb"|AcroForm|XFA|Widget|Encrypt|ByteRange|Configs|Usage)(?![A-Za-z0-9])"
)


AT_ONCE = 8  # fewer than the queue lets one party have waiting


async def ask_all(files: list[Path], limits: UploadLimits) -> list[Inspection | Problem]:
    workers = Workers()

    places = asyncio.Semaphore(AT_ONCE)

    async def ask(upload: bytes) -> Inspection | Problem:
        try:
            async with places:
                return await workers.inspect(upload, limits)
        except Problem as problem:
            return problem

    uploads = [file.read_bytes() for file in files]
    answers = await asyncio.gather(*map(ask, uploads))
    await workers.close()
    return answers


@pytest.fixture(scope="module")
def outcomes(corpus: Path, limits: UploadLimits) -> dict[str, Inspection | Problem]:
    """What comes of every file, by its name."""
    files = [*corpus.glob("*.pdf"), *corpus.glob("attack/*.pdf")]
    answers = asyncio.run(ask_all(files, limits))
    return {str(file.relative_to(corpus)): answer for file, answer in zip(files, answers, strict=True)}


def test_every_file_is_taken_or_refused_as_its_manifest_says(
    corpus: Path, outcomes: dict[str, Inspection | Problem]
) -> None:
    wanted = {row["file"]: find_expected_code(row) for row in rows(corpus)}
    wanted |= {f"attack/{row['file']}": find_expected_code(row) for row in rows(corpus / "attack")}
    found = {name: o.code if isinstance(o, Problem) else TAKEN for name, o in outcomes.items()}
    assert found == wanted
    assert {*wanted.values()} >= {TAKEN, "file_signed", "file_encrypted", "file_unsupported", "invalid_file"}
    refusals = [o.message for o in outcomes.values() if isinstance(o, Problem)]
    assert all(message.endswith(".") and len(message.split()) > 5 for message in refusals)


def test_every_taken_file_has_its_pages(corpus: Path, outcomes: dict[str, Inspection | Problem]) -> None:
    for row in rows(corpus):
        inspection = outcomes[row["file"]]
        if isinstance(inspection, Inspection):
            assert len(inspection.pages) == int(row["pages"]), row["file"]
            size = tuple(float(side) for side in row["displayed_size_pt"].split("x"))
            page = inspection.pages[0]
            assert (page.width, page.height) == pytest.approx(size, abs=0.01), row["file"]


def test_every_taken_file_is_harmless_and_looks_as_before(
    corpus: Path, outcomes: dict[str, Inspection | Problem]
) -> None:
    for name, inspection in outcomes.items():
        if not isinstance(inspection, Inspection):
            continue
        with Pdf.open(io.BytesIO(inspection.prepared)) as pdf:
            written = b"".join(
                write_object(item) for item in pdf.objects if isinstance(item, Dictionary | Stream | Array)
            )
        assert not FORBIDDEN.search(written), name
        if not name.startswith(tuple(REDRAWN)):
            was, now = picture((corpus / name).read_bytes()), picture(inspection.prepared)
            assert ImageChops.difference(was, now).getbbox() is None, name


def test_what_went_is_named(outcomes: dict[str, Inspection | Problem]) -> None:
    removed = {name[:2]: set(o.removed) for name, o in outcomes.items() if isinstance(o, Inspection)}
    assert removed["20"] == {"scripts", "form fields"}
    assert removed["21"] == {"attachments"}
    assert removed["24"] == {"restrictions", "form fields"}
    assert removed["39"] == {"actions", "attachments"}
    assert removed["01"] == set()


def test_a_mark_on_any_taken_file_is_seen_where_it_was_drawn(
    outcomes: dict[str, Inspection | Problem],
) -> None:
    for inspection in outcomes.values():
        if isinstance(inspection, Inspection):
            page = inspection.pages[0]
            side = min(page.width, page.height) / 4
            drawing = overlay(page.width, page.height, side, side / 2, size=side)
            after = stamp_pages(inspection.prepared, drawing)
            assert_marked(inspection.prepared, after, side, side / 2, size=side)


async def test_every_taken_file_can_be_sealed(
    outcomes: dict[str, Inspection | Problem], workers: Workers
) -> None:
    authority = an_authority()
    credential = a_seal(authority).credential

    async def describe_seal(inspection: Inspection) -> tuple[str, int]:
        order = SealOrder(inspection.prepared, every_type(len(inspection.pages)), the_facts(), NOW)
        result = await workers.seal(order, credential)
        verdict = await workers.verify(result.sealed, VerificationCase((authority.der,), NOW))
        return verdict["result"], result.page_count - len(inspection.pages)

    taken = [inspection for inspection in outcomes.values() if isinstance(inspection, Inspection)]
    assert set(await asyncio.gather(*map(describe_seal, taken))) == {("valid", 1)}
