"""The seal certificate is renewed while the server runs; documents carry the one that sealed them."""

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from esign.app import read_seal_key
from esign.authority.self_signed import AuthorityFolder
from esign.core.actor import Mode
from esign.core.instant import DAY, to_datetime
from esign.jobs import keep_signer, renew_certificates
from esign.jobs.schedule import TICKS
from tests.fakes import FakeClock
from tests.journeys.site import JourneySite
from tests.journeys.test_health import ask
from tests.journeys.test_seal import text_of, verify


def fingerprint(site: JourneySite) -> str:
    return hashlib.sha256(site.runtime.credentials[Mode.LIVE].certificate_der).hexdigest()


async def read_sealed(site: JourneySite, email: str = "first@example.test") -> bytes:
    return await site.api.file(await site.complete_document(recipients=[{"name": "Nora", "email": email}]))


def words(file: bytes) -> str:
    return "".join(text_of(file, slice(1, None)).split()).lower()


async def test_a_server_that_runs_for_years_renews_its_seal_and_both_seals_hold(
    site: JourneySite, clock: FakeClock
) -> None:
    [seconds] = [each.seconds for each in TICKS if each.tick is renew_certificates.tick]
    assert seconds * 1000 <= DAY
    assert await renew_certificates.tick(site.runtime) == 0
    clock.advance(days=1096 - 100)
    before, old = await read_sealed(site), fingerprint(site)
    assert await renew_certificates.tick(site.runtime) == 0, "it is too early"
    clock.advance(days=11)
    assert await renew_certificates.tick(site.runtime) == 2, "live and test mode"
    after, new = await read_sealed(site, "second@example.test"), fingerprint(site)
    assert old != new
    for file, print_of in ((before, old), (after, new)):
        found = await verify(site, file)
        certificate = found["signatures"][0]["certificate"]
        assert (found["result"], found["issuedHere"]) == ("valid", True)
        assert certificate and certificate["sha256"] == print_of
        assert print_of in words(file), "the certificate page names the one that was used"
    assert (await ask(site, "/readyz"))[0] == 200


async def test_a_document_that_waits_for_a_valid_certificate_is_sealed_once_it_is_renewed(
    site: JourneySite, clock: FakeClock
) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    clock.advance(days=1200)
    for minutes in (1, 5, 15, 60):
        await site.work("seal")
        clock.advance(minutes=minutes)
    await site.work("seal")
    told = await site.api.get(document)
    assert "expired" in told["sealError"] and (await ask(site, "/readyz"))[0] == 503
    assert await renew_certificates.tick(site.runtime) == 2
    await site.work("seal")
    assert await site.api.status(document) == "completed"


async def test_what_cannot_be_renewed_is_told_in_time_by_log_and_readiness(
    site: JourneySite, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    folder = site.runtime.config.storage.data_dir
    (folder / "authority.key").rename(folder.parent / "kept-elsewhere")
    clock.advance(days=1020)
    caplog.set_level(logging.WARNING, "esign.seal")
    assert await renew_certificates.tick(site.runtime) == 1, "only that of test mode"
    status, said = await ask(site, "/readyz")
    assert (status, said["status"], said["warnings"]) == (200, "ok", ["seal certificate ends soon"])
    assert str(folder) not in json.dumps(said)
    assert "authority.key is missing; put it back" in caplog.text
    caplog.clear()
    await renew_certificates.tick(site.runtime)
    assert caplog.text == "", "said once, not every hour"
    (folder.parent / "kept-elsewhere").rename(folder / "authority.key")
    assert await renew_certificates.tick(site.runtime) == 1
    assert "warnings" not in (await ask(site, "/readyz"))[1]


async def test_files_that_cannot_be_used_leave_the_seal_as_it_is_and_are_told(
    site: JourneySite, caplog: pytest.LogCaptureFixture
) -> None:
    before = fingerprint(site)
    await keep_signer.tick(site.runtime)  # as at a start; the signer keeps the key
    (site.runtime.config.storage.data_dir / "seal.key").write_bytes(b"junk")
    assert await renew_certificates.tick(site.runtime) == 0
    assert "seal.key is not a PEM private key" in caplog.text and "stays the one before" in caplog.text
    assert fingerprint(site) == before and (await verify(site, await read_sealed(site)))["result"] == "valid"


async def test_a_key_that_is_gone_when_the_signer_dies_is_told_and_seals_wait_for_it(
    site: JourneySite,
) -> None:
    key = site.runtime.config.storage.data_dir / "seal.key"
    content = key.read_bytes()
    key.write_bytes(b"junk")
    await site.runtime.pdf.signer.forget_keys()  # as after its death
    document = await site.api.send_document()
    await site.all_sign(document)
    await site.work("seal")
    told = await site.api.get(document)
    assert told["status"] == "sealing" and "seal.key is not a PEM private key" in told["sealError"]
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["signer"]) == (503, "seal key cannot be used")
    assert str(key.parent) not in json.dumps(said)
    assert await keep_signer.tick(site.runtime) == 0
    key.write_bytes(content)
    async with asyncio.timeout(60):
        while not await keep_signer.tick(site.runtime):  # noqa: ASYNC110  it waits for its own pause
            await asyncio.sleep(0.1)
    assert (await ask(site, "/readyz"))[0] == 200
    await site.work("seal")
    assert await site.api.status(document) == "completed", "it is due at once"


async def test_files_that_were_replaced_are_taken_up_when_the_key_before_fails(
    site: JourneySite, caplog: pytest.LogCaptureFixture
) -> None:
    folder, before = site.runtime.config.storage.data_dir, fingerprint(site)
    AuthorityFolder(folder, "", "Fern", to_datetime(site.runtime.clock.now())).make_anew()
    (folder / "seal.key").unlink()
    await site.runtime.pdf.signer.forget_keys()  # as after its death
    document = await site.api.send_document()
    await site.all_sign(document)
    await site.work("seal")
    assert await site.api.status(document) == "sealing"
    await keep_signer.tick(site.runtime)
    assert fingerprint(site) != before
    await site.work("seal")
    assert await site.api.status(document) == "completed", "it is due at once"
    assert (await ask(site, "/readyz"))[0] == 200
    assert "stays the one before" not in caplog.text


async def test_a_folder_of_keys_that_hangs_takes_no_thread_from_others(site: JourneySite) -> None:
    key, certificate = (
        site.runtime.config.storage.data_dir / "seal.key",
        site.runtime.credentials[Mode.LIVE].certificate_der,
    )
    kept = key.rename(key.with_name("kept"))
    os.mkfifo(key)  # who opens it waits, as in a folder on another machine that is gone
    for _ in range(40):  # more than there are threads
        reading = asyncio.create_task(read_seal_key(site.runtime.keyring, certificate))
        for _ in range(3):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    elsewhere = asyncio.create_task(asyncio.to_thread(str))
    await asyncio.wait([elsewhere], timeout=5)
    is_free = elsewhere.done()
    hung = os.open(key, os.O_RDWR)
    kept.replace(key)
    os.write(hung, key.read_bytes())
    os.close(hung)
    await elsewhere
    assert is_free
    assert await read_seal_key(site.runtime.keyring, certificate)


async def test_no_key_is_in_the_database(site: JourneySite, clock: FakeClock) -> None:
    clock.advance(days=1100)
    await renew_certificates.tick(site.runtime)
    await read_sealed(site)
    folder = site.runtime.config.storage.data_dir
    stored = b"".join(path.read_bytes() for path in folder.glob("esign.db*"))
    assert b"SQLite format 3" in stored
    for key in keys_in(folder):
        assert key not in stored


def keys_in(folder: Path) -> Iterator[bytes]:
    """What of each key would be found wherever it was written: the secret number, and the lines of its PEM."""
    files = sorted(folder.glob("*.key"))
    assert len(files) == 7, "two authorities, four seals and the application's"
    for path in files:
        if path.name == "app.key":
            yield path.read_bytes()
            continue
        lines = path.read_bytes().splitlines()[1:-1]
        yield lines[0][40:]
        key = load_pem_private_key(path.read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        yield key.private_numbers().private_value.to_bytes(32, "big")
