import base64
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pikepdf
import pytest
import pytest_asyncio

from esign.actions.verification import verify_file
from esign.core.actor import Mode, Owner
from esign.core.people.api_key import Scope
from esign.pdf.report import Verification, VerificationCase
from esign.pdf.worker.queue_turn import QueueTurn
from esign.pdf.worker.workers import Workers
from tests.api.site import ONE_PAGE, Site, a_config, b64, encode_file, running
from tests.factories import an_organisation, store_organisation
from tests.store.files import stored_bytes

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def sealed_file(site: Site) -> tuple[str, bytes]:
    document = await site.complete_document()
    return document["id"], await site.bytes_of(document["id"], "sealed")


async def test_a_sealed_file_is_valid_and_known_to_its_organisation_in_its_mode_alone(site: Site) -> None:
    document_id, file = await sealed_file(site)
    found = await site.ok("POST", "/verify", {"file": b64(file)})
    document = await site.get(document_id)
    assert (found["result"], found["issuedHere"], found["documentId"]) == ("valid", True, document_id)
    assert (found["sha256"], found["pageCount"]) == (
        document["seal"]["sha256"],
        document["seal"]["pageCount"],
    )
    [signature] = found["signatures"]
    assert signature["intact"] and signature["valid"] and signature["trusted"] and not signature["reasons"]
    assert (signature["coverage"], signature["level"]) == ("entire_file", "B-B")
    [signer] = found["signers"]
    assert (signer["name"], signer["act"]) == (document["recipients"][0]["name"], "signed")
    assert signer["at"] == document["recipients"][0]["completedAt"]
    for key in (await site.new_key(mode=Mode.TEST), await site.new_key(organisation=await other(site))):
        other_view = await site.ok("POST", "/verify", {"file": b64(file)}, key=key)
        assert (other_view["result"], other_view["issuedHere"]) == ("valid", True)
        assert other_view["documentId"] is None


async def test_the_certificate_of_a_document_is_known_as_well(site: Site) -> None:
    document_id, _ = await sealed_file(site)
    certificate = await site.bytes_of(document_id, "certificate")
    found = await site.ok("POST", "/verify", {"file": b64(certificate)})
    assert (found["result"], found["issuedHere"], found["documentId"]) == ("valid", True, document_id)


async def other(site: Site) -> str:
    return (await store_organisation(site.runtime.db, an_organisation())).id


async def test_a_changed_file_is_invalid_and_no_document_s(site: Site) -> None:
    _, file = await sealed_file(site)
    at = file.index(b"/Type")
    changed = file[:at] + b"/type" + file[at + 5 :]
    for content in (changed, file + b"\n%%EOF\n1 0 obj"):
        found = await site.ok("POST", "/verify", {"file": b64(content)})
        assert found["result"] != "valid" and found["documentId"] is None


async def test_a_file_without_signature_says_so_to_any_key(site: Site) -> None:
    key = await site.new_key(Scope.DOCUMENTS_READ)
    found = await site.ok("POST", "/verify", {"file": ONE_PAGE}, key=key)
    assert (found["result"], found["signatures"], found["issuedHere"]) == ("unsigned", [], False)


async def test_nothing_of_a_verified_file_is_stored(site: Site) -> None:
    mark = b"mark-of-this-very-file"
    content = base64.b64decode(ONE_PAGE) + b"\n%" + mark
    await site.ok("POST", "/verify", {"file": b64(content)}, headers={"Idempotency-Key": "ignored"})
    assert mark not in stored_bytes(Path(site.runtime.config.storage.data_dir))
    assert await site.runtime.db.all("SELECT * FROM idempotency WHERE key = 'ignored'") == []


def encrypt_file() -> str:
    pdf = pikepdf.open(io.BytesIO(base64.b64decode(ONE_PAGE)))
    return encode_file(pdf, encryption=pikepdf.Encryption(owner="o", user="u"))


def pages(count: int) -> str:
    pdf = pikepdf.new()
    for _ in range(count):
        pdf.add_blank_page()
    return encode_file(pdf)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("no base64!", "invalid_file"),
        (b64(b"no PDF"), "invalid_file"),
        (b64(b"%PDF-1.7\nnothing else"), "invalid_file"),
        ("", "invalid_file"),
        (encrypt_file(), "file_encrypted"),
        (pages(6), "too_many_pages"),
        (b64(b"%PDF-1.7\n" + b"0" * 2**20), "file_too_large"),
        ("A" * 2 * 2**20, "file_too_large"),
    ],
)
async def test_what_cannot_be_judged_is_refused_with_one_of_four_codes(
    small: Site, file: str, code: str
) -> None:
    assert (await small.ask("POST", "/verify", {"file": file})).code == code


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {"verifies_per_minute": 0}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """An installation for small files."""
    config = a_config(tmp_path_factory.mktemp("small"), file_mib=1, pages=5, verifies_per_minute=0)
    async with running(config) as site:
        yield site


class Watching(Workers):
    """Real workers that note how much processor time a verification may take."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[int | None] = []

    async def verify(
        self, file: bytes, case: VerificationCase, turn: QueueTurn | None = None
    ) -> Verification:
        self.seconds.append(self._choose_limit(turn or QueueTurn()))
        return await super().verify(file, case, turn)


@pytest.mark.slow
async def test_a_file_that_anybody_brings_gets_five_seconds_of_processor_time(site: Site) -> None:
    _, file = await sealed_file(site)
    workers = Watching()
    watched = replace(site.runtime, pdf=workers)
    owner = Owner((await site.ok("GET", "/account"))["organisation"]["id"], Mode.LIVE)
    try:
        assert (await verify_file.verify(watched, owner, file))["result"] == "valid"
        assert (await verify_file.verify_for_anybody(watched, file)).verification["result"] == "valid"
    finally:
        await workers.close()
    assert workers.seconds == [5, 5]
