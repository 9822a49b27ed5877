"""Every file of the corpus through the API: taken and carried through to a valid seal, or refused in words."""

import asyncio
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pikepdf
import pytest
import pytest_asyncio

from esign.pdf.report import VerificationCase
from tests.api.site import Site, SiteAnswer, a_request, b64
from tests.conftest import CORPUS
from tests.manifest import TAKEN, find_expected_code, rows

pytestmark = pytest.mark.corpus

AT_ONCE = 2


@dataclass(frozen=True)
class Case:
    """A file and what the API has to say to it: 201 or a code."""

    path: Path
    expected: str
    pages: int | None


def cases() -> list[Case]:
    found = []
    for folder in (manifest.parent for manifest in CORPUS.glob("**/manifest.csv")):
        for row in rows(folder):
            pages = int(row["pages"]) if row.get("pages") else None
            wanted = "201" if find_expected_code(row) == TAKEN else find_expected_code(row)
            found.append(Case(folder / row["file"], wanted, pages))
    return sorted(found, key=lambda case: case.path)


@dataclass(frozen=True)
class Run:
    """What came of all files, and how long /healthz took meanwhile, in seconds, sorted."""

    answers: dict[Path, SiteAnswer]
    faults: dict[Path, AssertionError]
    emails: dict[Path, str]
    waits: list[float]

    def worst(self, share: float) -> float:
        return self.waits[min(len(self.waits) - 1, int(len(self.waits) * share))]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def run(site: Site) -> Run:
    """Every file uploaded, two at once; those that are taken get a signer with a field on the first page."""
    places = asyncio.Semaphore(AT_ONCE)
    run = Run({}, {}, {}, [])

    async def upload(case: Case) -> None:
        signer = site.signer(fields=[{"type": "signature", "page": 1, "x": 10, "y": 10}])
        content = await asyncio.to_thread(case.path.read_bytes)
        async with places:
            run.emails[case.path] = signer["email"]
            body = a_request(fileName=case.path.name, file=b64(content), recipients=[signer])
            try:
                run.answers[case.path] = await site.ask("POST", "/documents", body)
            except AssertionError as fault:  # of this file, not of them all
                run.faults[case.path] = fault

    watching = asyncio.create_task(watch(site, run.waits))
    try:
        await asyncio.gather(*map(upload, cases()))
    finally:
        watching.cancel()
    run.waits.sort()
    return run


async def watch(site: Site, waits: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        asked = loop.time()
        async with site.session.get(f"{site.base}/healthz") as answer:
            assert answer.status == 200
        waits.append(loop.time() - asked)
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.path.relative_to(CORPUS).as_posix())
def test_each_file_is_taken_or_refused_as_its_manifest_says(run: Run, case: Case) -> None:
    if case.path in run.faults:
        raise run.faults[case.path]
    answer = run.answers[case.path]
    assert answer.code == case.expected, answer
    if answer.status == 400:
        assert answer.body["error"]["message"].endswith(".") and len(answer.body["error"]["message"]) > 30


def test_the_server_answers_everybody_else_meanwhile(
    run: Run, pytestconfig: pytest.Config, capfd: pytest.CaptureFixture[str]
) -> None:
    figures = ", ".join(f"p{share} {run.worst(share / 100) * 1000:.1f} ms" for share in (50, 99, 100))
    asked = f"/healthz asked {len(run.waits)} times during {len(run.emails)} uploads, {AT_ONCE} at once"
    with capfd.disabled():
        pytestconfig.get_terminal_writer().line(f"\n{asked}: {figures}")
    assert len(run.waits) > 100
    assert run.worst(0.99) <= 0.5


@pytest.mark.asyncio(loop_scope="module")
async def test_every_file_that_was_taken_is_carried_through_to_a_valid_seal(site: Site, run: Run) -> None:
    places = asyncio.Semaphore(4)

    async def carry(case: Case) -> str | None:
        async with places:
            return await run_case(site, run, case)

    taken = [case for case in cases() if case.expected == "201"]
    assert len(taken) > 30
    faults = await asyncio.gather(*map(carry, taken))
    assert not list(filter(None, faults)), "\n".join(filter(None, faults))


async def run_case(site: Site, run: Run, case: Case) -> str | None:
    """Send, sign, seal, verify; what went wrong, if anything did."""
    if run.answers[case.path].status != 201:
        return f"{case.path.name}: not taken: {run.answers[case.path]}"
    document_id = run.answers[case.path].body["id"]
    sent = await site.ask("POST", f"/documents/{document_id}/send")
    if sent.status != 200:
        return f"{case.path.name}: not sent: {sent}"
    field = sent.body["recipients"][0]["fields"][0]["id"]
    person = await site.person(run.emails[case.path])
    await person.sign({field: {"kind": "typed", "text": "Ada Lovelace", "hand": "a"}})
    document: Any = await site.wait_until_sealed(document_id, seconds=60)
    sealed = await site.bytes_of(document_id, "sealed")
    found = await site.runtime.pdf.verify(sealed, VerificationCase((), site.clock.now(), site.runtime.roots))
    with pikepdf.open(io.BytesIO(sealed)) as pdf:
        pages = len(pdf.pages)
    if found["result"] != "valid" or found["signatures"][0]["coverage"] != "entire_file":
        return f"{case.path.name}: {found}"
    if pages != document["seal"]["pageCount"] or case.pages not in (None, document["pageCount"]):
        return f"{case.path.name}: {pages} pages"
    return None
