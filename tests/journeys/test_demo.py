"""`esign demo`: the main job with everybody's doors, and a step that does not hold is named."""

import asyncio
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from esign.demo import contract, journey
from tests.journeys.conftest import Demonstration
from tests.journeys.program import COMMAND, environment, esign
from tests.pki import a_seal, an_authority
from tests.ports import reserve_port

STEPS = [
    "start the server with its embedded defaults",
    "make an organisation, its owner and an API key",
    "register webhooks with a receiver of our own",
    "upload the contract with two signers in order",
    "send it",
    "Tomas Reyes opens the link from the mail and signs",
    "Nadia Brandt opens the link from the mail and signs",
    "wait for the seal",
    "check the signed webhooks that arrived",
    "download the sealed PDF and verify its seal",
    "change one byte in a copy and see it refused",
]


def failed_step(err: str) -> str:
    """The step that the last line on stderr names, with a cause."""
    found = re.fullmatch(r"esign: the step “(.+?)” failed: .{10,}", err.strip().splitlines()[-1])
    assert found, err
    return found[1]


def pdfsig(file: Path) -> str:
    return subprocess.run(("pdfsig", file), capture_output=True, check=False, cwd=file.parent).stdout.decode()


def test_every_step_is_printed_with_its_time_and_the_results_are_named(demonstration: Demonstration) -> None:
    assert (demonstration.ran.code, demonstration.ran.err) == (0, "")
    steps = re.findall(r"^  ✓ (.+?) +[\d,]+ ms$", demonstration.ran.out, re.MULTILINE)
    assert steps == STEPS
    for name in ("sealed.pdf", "tampered.pdf", "esign.toml"):
        assert str(demonstration.file(name)) in demonstration.ran.out
        assert demonstration.file(name).stat().st_size > 100


def test_the_sealed_file_is_accepted_and_the_tampered_one_refused_by_poppler(
    demonstration: Demonstration,
) -> None:
    said = pdfsig(demonstration.file("sealed.pdf"))
    assert "Signature is Valid." in said and "Total document signed" in said
    assert "Signature is Valid." not in pdfsig(demonstration.file("tampered.pdf"))


def test_the_two_files_differ_in_one_byte(demonstration: Demonstration) -> None:
    sealed, tampered = (demonstration.file(name).read_bytes() for name in ("sealed.pdf", "tampered.pdf"))
    assert len(sealed) == len(tampered)
    assert sum(a != b for a, b in zip(sealed, tampered, strict=True)) == 1


def test_what_stays_can_be_looked_at_with_the_command_line(demonstration: Demonstration) -> None:
    keys = esign("keys", "list", "--config", demonstration.config)
    assert (keys.code, keys.out.count("\n")) == (0, 1)
    mails = esign("outbox", "--config", demonstration.config)
    assert mails.out.count("Please sign:") == 2
    assert mails.out.count("Everyone has signed:") == 3
    assert contract.CAFE[1] in mails.out and contract.GARDENER[1] in mails.out


def test_the_command_in_the_hint_can_be_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["/opt/app/.venv/bin/esign", "demo"])
    assert journey.find_program() == "/opt/app/.venv/bin/esign"
    (tmp_path / "esign").touch(mode=0o755)
    assert journey.find_program() == "esign"


def test_without_a_folder_a_new_one_is_made_below_the_working_folder(tmp_path: Path) -> None:
    ran = esign("demo", "--exit", cwd=tmp_path)
    assert ran.code == 0
    [folder] = (tmp_path / "esign-demo").iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", folder.name)
    assert {"sealed.pdf", "tampered.pdf", "esign.toml", "data"} == {file.name for file in folder.iterdir()}
    assert list(tmp_path.iterdir()) == [tmp_path / "esign-demo"]


def test_settings_of_another_installation_do_not_lead_the_demonstration_astray(tmp_path: Path) -> None:
    elsewhere = {
        "ESIGN_STORAGE__DATA_DIR": str(tmp_path / "precious"),
        "ESIGN_SERVER__BASE_URL": "https://sign.example.test",
        "ESIGN_MAIL__HOST": "127.0.0.1",
        "ESIGN_MAIL__FROM": "sign@example.test",
    }
    ran = esign("demo", "--exit", "--into", tmp_path / "results", env=elsewhere)
    assert ran.code == 0
    assert not (tmp_path / "precious").exists()


async def test_without_exit_it_goes_on_serving_until_it_is_told_to_stop(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "demo",
        "--into",
        tmp_path / "results",
        env=environment({"PYTHONUNBUFFERED": "1"}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        async with asyncio.timeout(60):
            while not (
                found := re.search(rb"Still serving at (http://\S+);", await process.stdout.readline())
            ):
                assert process.returncode is None, await process.stderr.read()
        base, line = found[1].decode(), (await process.stdout.readline()).decode()
        owner = re.fullmatch(r"Sign in there as (\S+) with the password (\S+)\n", line)
        assert owner
        form = {"email": owner[1], "password": owner[2]}
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            async with session.get(f"{base}/healthz") as answer:
                assert answer.status == 200
            async with session.post(f"{base}/sign-in", data=form) as answer:
                assert answer.status == 200 and "Fernhill Gardens" in await answer.text()
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            _, err = await process.communicate()
        assert (process.returncode, err) == (0, b"")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def test_on_a_terminal_something_moves_while_one_waits(tmp_path: Path) -> None:
    words = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    ran = esign(
        *COMMAND, "demo", "--exit", "--into", tmp_path / "results", command=(sys.executable, "-c", words)
    )
    assert ran.code == 0
    assert "⠙ wait for the seal" in ran.out
    assert ran.out.count("✓") == len(STEPS)


# ---------- broken from outside ----------


def test_a_receiver_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{reserve_port()}/"
    ran = esign("demo", "--exit", "--into", tmp_path / "results", "--webhook", gone)
    assert ran.code == 1
    assert failed_step(ran.err) == "check the signed webhooks that arrived"
    assert "was not delivered" in ran.err
    assert "Every step held" not in ran.out


def test_a_receiver_where_none_may_be_is_named(tmp_path: Path) -> None:
    ran = esign("demo", "--exit", "--into", tmp_path / "results", "--webhook", "http://10.0.0.1/")
    assert ran.code == 1
    assert failed_step(ran.err) == "register webhooks with a receiver of our own"


def a_pkcs12(folder: Path, first: datetime, last: datetime) -> dict[str, str]:
    """The settings of a seal certificate with this validity."""
    bundle, passphrase = folder / "seal.p12", folder / "passphrase"
    bundle.write_bytes(a_seal(an_authority(), first=first, last=last).pkcs12("correct horse"))
    passphrase.write_text("correct horse\n")
    for secret in (bundle, passphrase):
        secret.chmod(0o600)
    return {"ESIGN_SEAL__PKCS12": str(bundle), "ESIGN_SEAL__PASSPHRASE_FILE": str(passphrase)}


def test_a_seal_certificate_of_ones_own_is_used(tmp_path: Path) -> None:
    year = timedelta(days=365)
    own = a_pkcs12(tmp_path, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC) + 20 * year)
    ran = esign("demo", "--exit", "--into", tmp_path / "results", env=own)
    assert (ran.code, ran.err) == (0, "")
    assert "Acme Ltd Document Seal" in pdfsig(tmp_path / "results" / "sealed.pdf")


def test_a_seal_certificate_that_has_expired_is_named(tmp_path: Path) -> None:
    lapsed = a_pkcs12(tmp_path, datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
    ran = esign("demo", "--exit", "--into", tmp_path / "results", env=lapsed)
    assert ran.code == 1
    assert failed_step(ran.err) in ("start the server with its embedded defaults", "wait for the seal")
    assert "expired on 2025-06-01" in ran.err
    assert not (tmp_path / "results" / "sealed.pdf").exists()


@pytest.mark.parametrize(
    ("setting", "value", "step"),
    [
        ("ESIGN_SEAL__PKCS12", "/there/is/none.p12", STEPS[0]),
        ("ESIGN_LIMITS__PAGES", "0", STEPS[0]),
        ("ESIGN_ORGANISATION__PLAN", "free", STEPS[1]),
        ("ESIGN_LIMITS__PAGES", "2", STEPS[3]),
    ],
)
def test_a_setting_that_stands_in_the_way_is_named(
    tmp_path: Path, setting: str, value: str, step: str
) -> None:
    ran = esign("demo", "--exit", "--into", tmp_path / "results", env={setting: value})
    assert (ran.code, failed_step(ran.err)) == (1, step)


# ---------- folders ----------


def test_a_folder_with_something_in_it_is_left_alone(demonstration: Demonstration, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    for folder in (tmp_path, demonstration.folder):
        before = sorted(folder.iterdir())
        ran = esign("demo", "--exit", "--into", folder)
        assert ran.code == 2
        assert "not empty" in ran.err and "--into" in ran.err
        assert sorted(folder.iterdir()) == before


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        ran = esign("demo", "--exit", "--into", folder)
        assert ran.code == 2
        assert "--into" in ran.err


async def test_two_demonstrations_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    runs = await asyncio.gather(
        *(asyncio.to_thread(esign, "demo", "--exit", "--into", tmp_path / str(n)) for n in range(2))
    )
    assert [ran.code for ran in runs] == [0, 0]
