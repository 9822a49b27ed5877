"""Certificate and key from files: taken up when they change, never when they do not hold."""

import asyncio
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from esign.core.instant import DAY, Instant, to_datetime
from esign.https import HttpsCertificates, UnfitCertificate
from tests.https.conftest import CertificateFiles, connect, find_shown, read_serial, showing
from tests.pki import a_key

Damage = Callable[[CertificateFiles, Instant], None]


async def look_twice(certificates: HttpsCertificates, now: Instant) -> bool:
    """Two ticks: what changed must be the same at both."""
    return any([await certificates.refresh(now), await certificates.refresh(now)])


async def test_new_files_are_shown_to_new_connections_while_old_ones_go_on(
    files: CertificateFiles, now: Instant
) -> None:
    first = files.replace(files.issue())
    certificates = files.open(now)
    async with showing(certificates) as port:
        reader, writer = await connect(port)
        assert read_serial(writer) == first.serial
        second = files.replace(files.issue())
        assert await look_twice(certificates, now)
        assert await find_shown(port) == second.serial
        writer.write(b"still here\n")
        assert await reader.readline() == b"still here\n"
        writer.close()
    state = certificates.read_state()
    assert state.problem is None and state.certificate is not None and state.mode == "files"


@pytest.mark.parametrize("name", [None, "other.example.com"])
async def test_the_certificate_is_shown_whatever_name_is_asked_for(
    files: CertificateFiles, now: Instant, name: str | None
) -> None:
    pair = files.replace(files.issue())
    async with showing(files.open(now)) as port:
        assert await find_shown(port, name) == pair.serial


def write_wrong_key(files: CertificateFiles, now: Instant) -> None:
    files.certificate.write_bytes(files.issue().chain)


def write_expired(files: CertificateFiles, now: Instant) -> None:
    today = to_datetime(now)
    files.replace(files.issue(begins=today - timedelta(days=90), ends=today - timedelta(days=1)))


def write_future(files: CertificateFiles, now: Instant) -> None:
    today = to_datetime(now)
    files.replace(files.issue(begins=today + timedelta(days=3), ends=today + timedelta(days=90)))


def write_other_name(files: CertificateFiles, now: Instant) -> None:
    files.replace(files.issue("www.example.com"))


def write_garbage(files: CertificateFiles, now: Instant) -> None:
    files.certificate.write_bytes(b"<html>Not found</html>")


def write_key_for_certificate(files: CertificateFiles, now: Instant) -> None:
    files.certificate.write_bytes(files.issue().key)


def write_no_key(files: CertificateFiles, now: Instant) -> None:
    files.key.write_bytes(files.issue().chain)


def write_half_key(files: CertificateFiles, now: Instant) -> None:
    files.key.write_bytes(files.issue().key[:80])


def write_locked_key(files: CertificateFiles, now: Instant) -> None:
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
    )

    pair = files.replace(files.issue())
    locked = BestAvailableEncryption(b"secret")
    files.key.write_bytes(pair.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))


def write_weak_key(files: CertificateFiles, now: Instant) -> None:
    from tests.https.pairs import WebPair

    weak = a_key("rsa1024")
    pair = files.issue(key=weak)
    files.replace(WebPair(pair.certificate, weak))


def remove_certificate(files: CertificateFiles, now: Instant) -> None:
    files.certificate.unlink()


def close_key(files: CertificateFiles, now: Instant) -> None:
    """A folder is what no user can read as a file, root included."""
    files.key.unlink()
    files.key.mkdir()


@pytest.mark.parametrize(
    ("damage", "said", "brief"),
    [
        (write_wrong_key, "does not belong to its certificate", "the key does not belong to the certificate"),
        (write_expired, "expired on", "the certificate has expired"),
        (write_future, "isn’t valid before", "the certificate is not valid yet"),
        (write_other_name, "isn’t for sign.example.com but for www.example.com", "for another name"),
        (write_garbage, "holds no certificate in PEM", "no certificate in its file"),
        (write_key_for_certificate, "holds no certificate in PEM", "no certificate in its file"),
        (write_no_key, "holds no private key in PEM", "no key in its file"),
        (write_half_key, "holds no private key in PEM", "no key in its file"),
        (write_locked_key, "has a passphrase", "the key has a passphrase"),
        (write_weak_key, "key too small", "TLS refuses the certificate"),
        (remove_certificate, "cannot be read (No such file or directory)", "cannot be read"),
        (close_key, "cannot be read (Is a directory)", "cannot be read"),
    ],
)
async def test_what_does_not_hold_stays_outside_and_the_state_says_why(
    files: CertificateFiles, now: Instant, damage: Damage, said: str, brief: str
) -> None:
    first = files.replace(files.issue())
    certificates = files.open(now)
    async with showing(certificates) as port:
        damage(files, now)
        assert not await look_twice(certificates, now)
        assert await find_shown(port) == first.serial
        problem = certificates.read_state().problem
        assert problem is not None and said in problem.sentence and brief in problem.brief
        assert str(files.certificate.parent) not in problem.brief, "everybody can read it"
        assert certificates.read_state().is_valid(now)
        assert not await look_twice(certificates, now)
        assert certificates.read_state().problem == problem, "it is told until it is mended"
        mend(files)
        mended = files.replace(files.issue())
        assert await look_twice(certificates, now)
        assert await find_shown(port) == mended.serial
        assert certificates.read_state().problem is None


def mend(files: CertificateFiles) -> None:
    if files.key.is_dir():
        files.key.rmdir()


async def test_files_that_are_written_one_after_the_other_raise_no_alarm(
    files: CertificateFiles, now: Instant
) -> None:
    files.replace(files.issue())
    certificates = files.open(now)
    new = files.issue()
    files.certificate.write_bytes(new.chain)
    assert not await certificates.refresh(now)
    files.key.write_bytes(new.key)
    assert not await certificates.refresh(now) and certificates.read_state().problem is None
    assert await certificates.refresh(now) and certificates.read_state().problem is None


async def test_a_file_that_can_be_read_again_is_taken_up_without_being_written(
    files: CertificateFiles, now: Instant
) -> None:
    first = files.replace(files.issue())
    certificates = files.open(now)
    away = files.key.with_suffix(".away")
    files.key.rename(away)
    await look_twice(certificates, now)
    assert certificates.read_state().problem is not None
    away.rename(files.key)
    assert await look_twice(certificates, now)
    state = certificates.read_state()
    assert state.problem is None and state.certificate is not None and state.certificate.chain == first.chain


async def test_the_end_is_told_14_days_before_it_and_when_it_is_there(
    files: CertificateFiles, now: Instant
) -> None:
    files.replace(files.issue(ends=to_datetime(now) + timedelta(days=60)))
    certificates = files.open(now)
    assert certificates.read_state().problem is None
    await certificates.refresh(now + 47 * DAY)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "the certificate ends soon"
    assert certificates.read_state().is_valid(now + 47 * DAY)
    await certificates.refresh(now + 61 * DAY)
    problem = certificates.read_state().problem
    assert problem is not None and "expired on" in problem.sentence
    assert not certificates.read_state().is_valid(now + 61 * DAY)


@pytest.mark.parametrize("damage", [write_wrong_key, write_garbage, write_locked_key, remove_certificate])
def test_a_start_without_a_certificate_that_can_be_shown_is_refused(
    files: CertificateFiles, now: Instant, damage: Damage
) -> None:
    files.replace(files.issue())
    damage(files, now)
    with pytest.raises(UnfitCertificate):
        files.open(now)


@pytest.mark.parametrize("damage", [write_expired, write_other_name])
async def test_a_start_with_one_that_browsers_refuse_is_not_since_people_may_still_read(
    files: CertificateFiles, now: Instant, damage: Damage
) -> None:
    files.replace(files.issue())
    damage(files, now)
    certificates = files.open(now)
    assert certificates.read_state().problem is not None
    await look_twice(certificates, now)
    assert certificates.read_state().problem is not None


def test_no_copy_of_the_key_stays_in_the_data_folder(files: CertificateFiles, now: Instant) -> None:
    files.replace(files.issue())
    files.open(now)
    folder: Path = files.data / "https"
    assert list(folder.iterdir()) == [] and folder.stat().st_mode & 0o777 == 0o700


def test_what_a_killed_run_left_is_removed(files: CertificateFiles, now: Instant) -> None:
    files.replace(files.issue())
    (files.data / "https").mkdir(mode=0o700)
    left = files.data / "https" / ".pair.abc"
    left.write_bytes(b"key")
    os.utime(left)
    files.open(now)
    assert not left.exists()


async def test_a_handshake_before_there_is_a_certificate_is_refused(tmp_path: Path) -> None:
    from esign.https.present_context import PresentContext

    context = PresentContext(tmp_path)

    async def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(nothing, "127.0.0.1", 0, ssl=context.listener)
    with pytest.raises((ConnectionError, OSError)):
        await find_shown(server.sockets[0].getsockname()[1])
    server.close()
