"""The process that holds the key of the seal: what it signs, what it refuses, and what becomes of it."""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from esign.pdf.seal_order import SealFailed
from esign.pdf.signer import messages
from esign.pdf.signer.seal_signer import COMMAND, SealSigner
from esign.pdf.signer.signed_attributes import encode_signed_attributes
from esign.pdf.worker import signature_request
from esign.pdf.worker.frames import FrameError
from esign.pdf.worker.workers import WorkerFailed, Workers
from tests.pdf.sealing import a_trail, make_seal_order
from tests.pdf.worker.test_workers import ODD, read_mapped_files, show_memory, until, wait_for_end
from tests.pki import Issued, a_seal, an_authority

ROOT = an_authority()
ISSUED = a_seal(ROOT)
SEAL = ISSUED.credential
DIGEST = bytes(range(32))
# A signer that is ready and never answers.
SILENT = (
    sys.executable,
    "-c",
    "import sys, time; from esign.pdf.signer.messages import *;"
    " sys.stdout.buffer.write(pack_message(READY, [bytes(3)])); sys.stdout.flush(); time.sleep(600)",
)
# One that takes a key, says so, and ends.
DYING = (
    sys.executable,
    "-c",
    "import sys; from esign.pdf.signer.messages import *; out = sys.stdout.buffer;"
    " out.write(pack_message(READY, [bytes(3)])); out.flush(); read_message(sys.stdin.buffer.read);"
    " out.write(pack_message(SIGNED)); out.flush()",
)


@asynccontextmanager
async def signing(**settings: Any) -> AsyncIterator[SealSigner]:
    signer = SealSigner(**settings)
    try:
        yield signer
    finally:
        await signer.close()


def check_signature(issued: Issued, digest: bytes, signature: bytes) -> None:
    """Raise unless it is over the attributes of a file with this digest."""
    message = encode_signed_attributes(issued.certificate.fingerprint(SHA256()), digest)
    hashing = {32: SHA256(), 48: SHA384(), 64: SHA512()}[len(digest)]
    public: Any = issued.certificate.public_key()
    terms = (
        (ec.ECDSA(hashing),)
        if isinstance(public, ec.EllipticCurvePublicKey)
        else (padding.PKCS1v15(), hashing)
    )
    public.verify(signature, message, *terms)


@pytest.mark.parametrize(("kind", "size"), [("rsa", 32), ("p256", 32), ("p384", 48), ("p521", 64)])
async def test_digests_are_signed_in_another_process(kind: str, size: int) -> None:
    issued = a_seal(ROOT, kind)
    digests = [os.urandom(size), os.urandom(size)]
    async with signing() as signer:
        for digest, signature in zip(
            digests, await signer.sign_digests(issued.credential, digests), strict=True
        ):
            check_signature(issued, digest, signature)
        assert signer.pid not in (None, os.getpid())


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (b"junk", "key cannot be read; install it again"),
        (a_seal(ROOT, "p384").credential.key_der, "does not belong to the seal certificate"),
        (
            ed25519.Ed25519PrivateKey.generate().private_bytes(
                Encoding.DER, PrivateFormat.PKCS8, NoEncryption()
            ),
            "use an RSA or elliptic-curve key",
        ),
    ],
    ids=["none", "of another certificate", "of another kind"],
)
async def test_a_key_that_cannot_seal_is_said_and_the_process_goes_on(key: bytes, reason: str) -> None:
    async with signing() as signer:
        await signer.prepare(SEAL)
        before = signer.pid
        with pytest.raises(SealFailed, match=reason):
            await signer.sign_digests(replace(SEAL, key_der=key), [DIGEST])
        assert len(await signer.sign_digests(SEAL, [DIGEST])) == 1
        assert signer.pid == before and signer.lost == 0


async def test_only_a_digest_of_the_right_length_is_signed() -> None:
    async with signing() as signer:
        for size in (0, 20, 48, 64):
            with pytest.raises(SealFailed, match="no digest"):
                await signer.sign_digests(SEAL, [bytes(size)])


async def test_a_process_that_is_killed_is_started_again_and_gets_its_key_again() -> None:
    asked: list[bytes] = []

    async def find_key(certificate_der: bytes) -> bytes:
        asked.append(certificate_der)
        return SEAL.key_der

    async with signing(find_key=find_key) as signer:
        kept = SEAL.forget_key()
        await signer.sign_digests(kept, [DIGEST])
        await signer.sign_digests(kept, [DIGEST])
        first = signer.pid
        assert first and len(asked) == 1
        os.kill(first, 9)
        assert len(await signer.sign_digests(kept, [DIGEST])) == 1
        assert signer.pid != first and len(asked) == 2
        await signer.forget_keys()
        assert signer.pid is None
        await wait_for_end(first)


async def test_the_process_starts_again_by_itself_and_a_broken_key_is_told_until_it_is_mended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept, broken = SEAL.forget_key(), False

    async def find_key(certificate_der: bytes) -> bytes:
        if broken:
            raise SealFailed("seal.key is gone; put it back.")
        return SEAL.key_der

    async with signing(find_key=find_key) as signer:
        assert not await signer.keep_ready([kept])
        first = signer.pid
        broken = True
        assert first and not await signer.keep_ready([kept]) and signer.pid == first
        assert await signer.sign_digests(kept, [DIGEST]), "it has the key already"
        os.kill(first, 9)
        await until(lambda: signer.pid is None)
        for _ in range(3):
            await signer.keep_ready([kept])
        assert signer.pid and signer.find_fault(kept) == "seal.key is gone; put it back."
        with pytest.raises(SealFailed, match="put it back"):
            await signer.sign_digests(kept, [DIGEST])
        assert caplog.text.count("seals wait: seal.key is gone") == 1

        broken = False
        async with asyncio.timeout(60):
            while not await signer.keep_ready([kept]):  # noqa: ASYNC110  it waits for its own pause
                await asyncio.sleep(0.05)
        assert signer.find_fault(kept) is None and await signer.sign_digests(kept, [DIGEST])


async def test_a_key_that_a_seal_could_use_again_is_told_as_healed(caplog: pytest.LogCaptureFixture) -> None:
    kept, broken = SEAL.forget_key(), True

    async def find_key(certificate_der: bytes) -> bytes:
        if broken:
            raise SealFailed("seal.key is gone; put it back.")
        return SEAL.key_der

    caplog.set_level(logging.INFO, "esign.seal")
    async with signing(find_key=find_key) as signer:
        assert not await signer.keep_ready([kept])
        await signer.sign_digests(SEAL, [DIGEST])
        assert signer.find_fault(kept), "a key that is given says nothing about the one in the file"
        broken = False
        assert await signer.sign_digests(kept, [DIGEST])
        assert signer.find_fault(kept) is None
        assert await signer.keep_ready([kept]), "seals may wait for it"
        assert "can be used again" in caplog.text
        assert not await signer.keep_ready([kept])
        broken = True
        await signer.forget_keys()
        await signer.keep_ready([kept])
        assert signer.find_fault(kept), "it does not wait for the pause of the fault before"


async def test_a_digest_that_is_refused_is_no_fault_of_the_key() -> None:
    async def find_key(certificate_der: bytes) -> bytes:
        return SEAL.key_der

    kept = SEAL.forget_key()
    async with signing(find_key=find_key) as signer:
        with pytest.raises(SealFailed, match="no digest"):
            await signer.sign_digests(kept, [bytes(20)])
        assert signer.find_fault(kept) is None


async def test_a_process_that_dies_after_it_was_given_its_key_is_started_less_and_less_often() -> None:
    moments: list[float] = []

    async def find_key(certificate_der: bytes) -> bytes:
        moments.append(asyncio.get_running_loop().time())
        return SEAL.key_der

    async with signing(find_key=find_key, command=DYING) as signer:
        async with asyncio.timeout(60):
            while len(moments) < 4:
                assert not await signer.keep_ready([SEAL.forget_key()])
                await asyncio.sleep(0.02)
        assert moments[2] - moments[1] >= 1 and moments[3] - moments[2] >= 2
        assert signer.find_fault(SEAL) is None


async def test_a_process_that_never_answers_is_ended_and_the_seal_fails() -> None:
    async with signing(command=SILENT, seconds_to_sign=0.05) as signer:
        with pytest.raises(SealFailed, match="ended while it signed"):
            await signer.sign_digests(SEAL, [DIGEST])
        assert signer.lost == 2 and signer.pid is None


async def test_a_process_that_does_not_start_says_why(caplog: pytest.LogCaptureFixture) -> None:
    command = (sys.executable, "-c", "raise SystemExit('no room for the signer')")
    async with signing(command=command) as signer:
        with pytest.raises(SealFailed, match="ended while it signed"):
            await signer.sign_digests(SEAL, [DIGEST])
    assert "does not start: no room for the signer" in caplog.text


async def test_who_waits_for_a_signature_at_the_end_starts_no_other_process() -> None:
    asked = asyncio.Event()

    async def find_key(certificate_der: bytes) -> bytes:
        asked.set()
        return SEAL.key_der

    kept = SEAL.forget_key()
    async with signing(find_key=find_key, command=SILENT) as signer:
        waiting = [asyncio.create_task(signer.sign_digests(kept, [DIGEST])) for _ in range(2)]
        await asked.wait()
        await signer.close()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(one, SealFailed) for one in ended) and signer.pid is None


async def test_a_folder_of_keys_that_hangs_does_not_hold_up_the_end() -> None:
    asked = asyncio.Event()

    async def find_key(certificate_der: bytes) -> bytes:
        asked.set()
        hanging: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        return await hanging

    signer = SealSigner(find_key=find_key)
    waiting = asyncio.create_task(signer.sign_digests(SEAL.forget_key(), [DIGEST]))
    await asked.wait()
    pid = signer.pid
    try:
        async with asyncio.timeout(30):
            await signer.close()
        assert pid
        await wait_for_end(pid)
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_no_worker_has_a_way_to_the_process() -> None:
    """Its pipes are in the server alone: what a worker has open is something else."""
    async with signing() as signer:
        workers = Workers(command=ODD, signer=signer)
        try:
            await signer.prepare(SEAL)
            ours = set(await workers.ask("open_files", list[int]))
            transport: Any = signer._process._transport  # type: ignore[union-attr]
            pipes = [transport.get_pipe_transport(number).get_extra_info("pipe") for number in (0, 1)]
            inodes = {os.fstat(pipe.fileno()).st_ino for pipe in pipes}
            assert len(ours) >= 3 and len(inodes) == 2 and not inodes & ours
        finally:
            await workers.close()


async def test_a_process_that_never_answers_well_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async with signing(command=("true",)) as signer:
        with pytest.raises(SealFailed, match="ended while it signed"):
            await signer.sign_digests(SEAL, [DIGEST])
        assert signer.lost == 2
    async with signing() as signer:
        with pytest.raises(SealFailed, match="is not known"):
            await signer.sign_digests(SEAL.forget_key(), [DIGEST])


async def test_a_cancelled_caller_leaves_no_answer_to_the_next() -> None:
    async with signing() as signer:
        await signer.prepare(SEAL)
        for turns in range(12):
            job = asyncio.create_task(signer.sign_digests(SEAL, [bytes([turns]) * 32]))
            for _ in range(turns):
                await asyncio.sleep(0)
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
            (signature,) = await signer.sign_digests(SEAL, [DIGEST])
            check_signature(ISSUED, DIGEST, signature)


@pytest.mark.parametrize(
    "sent",
    [
        b"\xff" * 64,
        b"L\x05" + bytes(64),
        b"S\x02" + b"\xff\xff\xff\xff",
        messages.pack_message(messages.SIGN, [b"no such key", DIGEST]),
        messages.pack_message(messages.SIGN, []),
        messages.pack_message(b"X", [b"a"]),
        messages.pack_message(messages.LOAD, [b"a"]),
        messages.pack_message(messages.LOAD, [b"a", b"b", b"c"])[:-1],
    ],
)
def test_anything_but_its_two_messages_ends_the_process(sent: bytes) -> None:
    ran = subprocess.run(COMMAND, input=sent, capture_output=True, check=False, timeout=60)
    assert ran.returncode != 0 and ran.stdout.startswith(messages.READY)
    assert messages.SIGNED not in ran.stdout[9:]


def test_a_message_that_is_too_long_is_not_sent() -> None:
    for fields in ([bytes(messages.LONGEST_FIELD + 1)], [b""] * (messages.MOST_FIELDS + 1)):
        with pytest.raises(messages.MessageError):
            messages.pack_message(messages.LOAD, fields)


async def test_the_signer_is_small_and_loads_no_pdf_library() -> None:
    async with signing(command=show_memory("esign.pdf.signer.signer:run_signer")) as signer:
        await signer.sign_digests(SEAL, [DIGEST])
        assert signer.pid
        mapped = read_mapped_files(signer.pid)
    assert "cryptography" in mapped
    assert not [name for name in ("pikepdf", "pdfium", "PIL", "typst") if name in mapped]


# ---------- through a worker ----------


async def test_no_worker_has_the_key() -> None:
    """Its memory is searched after a seal for the number in the key."""
    issued = a_seal(ROOT)
    secret = issued.key.private_numbers().private_value.to_bytes(32, "big")  # type: ignore[union-attr]
    signer = SealSigner(command=show_memory("esign.pdf.signer.signer:run_signer"))
    workers = Workers(command=show_memory("esign.pdf.worker.worker:run_worker"), signer=signer)
    try:
        await workers.seal(make_seal_order(a_trail(3)), issued.credential)
        (pid,) = workers.pids
        assert signer.pid
        assert not is_in_memory(pid, secret)
        assert is_in_memory(signer.pid, secret), "it would be found where it is"
    finally:
        await workers.close()


def is_in_memory(pid: int, wanted: bytes) -> bool:
    """Whether a process has these bytes in memory that it can write to, in either order: OpenSSL keeps words."""
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, rights, *_ = line.split()
            if "rw" not in rights or "[v" in line:
                continue
            first, last = (int(end, 16) for end in place.split("-"))
            memory.seek(first)
            try:
                found = memory.read(last - first)
            except OSError:  # it has been given back meanwhile
                continue
            if wanted in found or wanted[::-1] in found:
                return True
    return False


async def test_a_signer_that_dies_during_a_seal_costs_a_moment(workers: Workers) -> None:
    order = make_seal_order(a_trail(3))
    await workers.seal(order, SEAL)
    assert workers.signer.pid
    os.kill(workers.signer.pid, 9)
    assert (await workers.seal(order, SEAL)).sealed


async def test_a_signer_that_does_not_start_is_a_seal_that_failed() -> None:
    workers = Workers(signer=SealSigner(command=("/no/such/signer",)))
    try:
        with pytest.raises(WorkerFailed, match="ended while it signed"):
            await workers.seal(make_seal_order(a_trail(3)), SEAL)
        assert workers.pids, "the worker is not to blame"
    finally:
        await workers.close()


async def test_a_worker_gets_signatures_only_in_a_job_that_seals_and_once() -> None:
    """What a worker sends that a file has taken over."""
    async with signing() as signer:
        workers = Workers(command=(*ODD, "seal=sign_twice"), signer=signer)
        try:
            with pytest.raises(WorkerFailed, match="something else than was asked"):
                await workers.ask("sign_now", int)
            assert signer.pid is None, "nobody asked for a signature"
            with pytest.raises(WorkerFailed, match="something else than was asked"):
                await workers.seal(make_seal_order(a_trail(3)), SEAL)
        finally:
            await workers.close()


@pytest.mark.parametrize("digests", [[], [DIGEST] * 3, [b""], [bytes(33)], [bytes(2**20)]])
def test_a_request_for_anything_but_a_seal_is_none(digests: list[bytes]) -> None:
    body = {"sign": [{"$part": number} for number in range(len(digests))]}
    with pytest.raises(FrameError):
        signature_request.read_request(body, digests)
