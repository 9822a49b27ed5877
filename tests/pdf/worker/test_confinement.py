"""A process that did what each worker does first fails at each thing that a worker must not do; another does it."""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from esign.pdf.signer.seal_signer import SealSigner
from esign.pdf.worker.confinement_report import describe_confinement, read_confinement
from esign.pdf.worker.workers import COMMAND, Workers
from esign.system import landlock, seccomp
from esign.system.confinement import Confinement
from tests.pdf.worker import forbidden
from tests.pki import a_seal, an_authority

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or landlock.find_version() < 1, reason="the kernel confines nothing here"
)
# What an unconfined process may do depends on who runs the tests; root may do all but these in a container.
NOT_EVERYWHERE = {
    *("mount", "leave its namespaces", "load a BPF program", "take page faults", "make a ring for calls"),
    *("use the keyring", "trace the server", "read the memory of the server", "change a limit of the server"),
}


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder as that of a server, with a port and a socket that answer."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("esign.db", "app.key", "removable", "renamable"):
        (folder / name).write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as unix:
        (folder / "port").write_text(str(port.getsockname()[1]))
        unix.bind(str(folder / "socket"))
        unix.listen()
        yield folder


def attempt(how: str, folder: Path, names: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-I", str(forbidden.__file__), how, str(folder), str(os.getpid()), *names)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_worker_fails_at_each_thing_that_it_must_not_do(server_folder: Path) -> None:
    ran = attempt("confined", server_folder, [*forbidden.ATTEMPTS])
    assert ran.returncode == 0, ran.stderr
    came_to = json.loads(ran.stdout)
    assert came_to.keys() == forbidden.ATTEMPTS.keys()
    assert set(came_to.values()) <= {"PermissionError", "OSError", "FileNotFoundError"}, came_to
    assert [name for name, outcome in came_to.items() if outcome != "PermissionError"] == []


@pytest.mark.parametrize("name", forbidden.DEADLY)
def test_what_no_library_does_ends_a_worker(server_folder: Path, name: str) -> None:
    assert attempt("confined", server_folder, [name]).returncode == -signal.SIGSYS


def test_the_same_attempts_succeed_where_nothing_confines(server_folder: Path) -> None:
    last = "run a program"  # which takes the place of the one that tries
    names = [*(forbidden.ATTEMPTS.keys() | forbidden.DEADLY.keys()) - NOT_EVERYWHERE - {last}, last]
    ran = attempt("free", server_folder, names[:-1])
    assert {name: outcome for name, outcome in json.loads(ran.stdout).items() if outcome != "done"} == {}
    assert json.loads(attempt("free", server_folder, [last]).stdout) == {last: "done"}


def test_seccomp_alone_refuses_what_does_not_depend_on_a_path(server_folder: Path) -> None:
    """As on a kernel without Landlock: everything but reading is refused all the same."""
    code = "from esign.system import landlock; landlock.find_version = lambda: 0\n"
    script = code + Path(forbidden.__file__).read_text()
    reads = [name for name in forbidden.ATTEMPTS if name.startswith(("read", "list", "open the memory"))]
    names = [name for name in forbidden.ATTEMPTS if name not in reads]
    command = (sys.executable, "-I", "-c", script, "confined", str(server_folder), str(os.getpid()), *names)
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert set(json.loads(ran.stdout).values()) == {"PermissionError"}, ran.stdout


def test_a_filter_for_each_machine_jumps_within_its_end() -> None:
    for machine in seccomp.MACHINES.values():
        for opens in (True, False):
            code = seccomp.assemble_filter(machine, 4711, opens)
            assert len(code) < 4096  # BPF_MAXINSNS
            for at, (kind, if_true, if_false, _) in enumerate(code):
                if kind != seccomp.RETURN:
                    assert at + 1 + max(if_true, if_false) < len(code)
            assert code[-1] == (seccomp.RETURN, 0, 0, seccomp.ALLOW)


async def test_a_worker_and_the_signer_say_what_confines_them(caplog: pytest.LogCaptureFixture) -> None:
    found = read_confinement(COMMAND)
    assert found.is_complete and found.landlock == landlock.find_version()
    assert describe_confinement() == found.describe()
    caplog.set_level("INFO", "esign.seal")
    signer = SealSigner()
    try:
        await signer.prepare(a_seal(an_authority()).credential)
    finally:
        await signer.close()
    assert "the seal key is in a process of its own. It opens only what it needs" in caplog.text


async def test_a_worker_that_is_not_confined_goes_on_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    code = (
        "from esign.system import landlock, seccomp; landlock.find_version = lambda: 0;"
        " seccomp.forbid_calls = lambda opens_files: False;"
        " from esign.pdf.worker.worker import run_worker; run_worker()"
    )
    workers = Workers(command=(sys.executable, "-I", "-c", code))
    try:
        assert await workers.find_missing_characters(["a"]) == []
    finally:
        await workers.close()
    assert "The kernel offers no Landlock" in caplog.text and "no seccomp" in caplog.text


@pytest.mark.parametrize("offline", [True, False])
def test_each_missing_part_is_said(offline: bool) -> None:
    said = Confinement(0, False, offline).describe()
    assert len(said) == 3 and "no Landlock" in said[0] and "no seccomp" in said[1]
    assert ("can open connections" in said[2]) is not offline
