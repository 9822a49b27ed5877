"""A process that did what each worker does first fails at each thing that a worker must not do; another does it.

What the kernel and the container offer is asked here without a line of ours, and decides what has to be refused: on a
machine without Landlock, reading is not, and the program has to say so.
"""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from esign.actions.server.diagnosis import CheckState
from esign.actions.server.settings_checks import check_confinement
from esign.pdf.signer.seal_signer import SealSigner
from esign.pdf.worker.confinement_report import describe_confinement, read_confinement
from esign.pdf.worker.workers import COMMAND, Workers
from esign.system import seccomp
from esign.system.confinement import Confinement
from tests.pdf.worker import forbidden
from tests.pdf.worker.kernel import ask_kernel
from tests.pki import a_seal, an_authority

# What an unconfined process may do depends on who runs the tests, on the container, and on the file system.
NOT_EVERYWHERE = {
    *("mount", "leave its namespaces", "load a BPF program", "take page faults", "make a ring for calls"),
    *("use the keyring", "trace the server", "read the memory of the server", "change a limit of the server"),
    *("open the memory of the server", "read the environment of the server", "make a file without a name"),
    *("open the server as a descriptor", "make shared memory"),
}
READS = {name for name in forbidden.ATTEMPTS if name.startswith(("read", "list", "open the memory"))}
# What Landlock of its first version refuses besides.
CHANGES = {
    *("write a file", "write to a file that exists", "make a folder", "remove a file", "rename a file"),
    *("make a link", "run a program"),
}


@dataclass(frozen=True)
class Offer:
    """What confines a process on this machine, if a program asks for it."""

    landlock: int
    seccomp: bool

    @property
    def refused(self) -> set[str]:
        """The attempts that must fail here."""
        names = set[str]()
        if self.landlock:
            names |= READS | CHANGES
        if self.seccomp:
            names |= forbidden.ATTEMPTS.keys() - READS
        return names


@pytest.fixture(scope="module")
def offer() -> Offer:
    return Offer(*ask_kernel())


@pytest.fixture
def server_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder as that of a server, with a port and a socket that answer, and the id of a process in its place."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("esign.db", "app.key", "removable", "renamable"):
        (folder / name).write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as unix:
        (folder / "port").write_text(str(port.getsockname()[1]))
        unix.bind(str(folder / "socket"))
        unix.listen()
        with subprocess.Popen(("sleep", "600")) as process:  # not this one: what is traced stops
            (folder / "pid").write_text(str(process.pid))
            try:
                yield folder
            finally:
                process.kill()


def attempt(how: str, folder: Path, names: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-I", str(forbidden.__file__), how, str(folder), *names)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_worker_fails_at_each_thing_that_it_must_not_do(server_folder: Path, offer: Offer) -> None:
    """In two runs, as a program that is run takes the place of the one that tries."""
    last = "run a program"
    came_to: dict[str, str] = {}
    for names in ([name for name in forbidden.ATTEMPTS if name != last], [last]):
        ran = attempt("confined", server_folder, names)
        assert ran.returncode == 0, ran.stderr
        came_to |= json.loads(ran.stdout)
    assert came_to.keys() == forbidden.ATTEMPTS.keys()
    assert {name: outcome for name, outcome in came_to.items() if name in offer.refused} == dict.fromkeys(
        offer.refused, "PermissionError"
    )
    assert read_confinement(COMMAND)[:2] == (offer.landlock, offer.seccomp), "and it says so"


def test_what_no_library_does_ends_a_worker(server_folder: Path, offer: Offer) -> None:
    if not offer.seccomp:
        return  # `test_the_doctor_and_the_log_say_what_confines` sees that it is said
    ended = {name: attempt("confined", server_folder, [name]).returncode for name in forbidden.DEADLY}
    assert ended == dict.fromkeys(forbidden.DEADLY, -signal.SIGSYS)


def test_the_same_attempts_succeed_where_nothing_confines(server_folder: Path) -> None:
    last = "run a program"
    names = [*(forbidden.ATTEMPTS.keys() | forbidden.DEADLY.keys()) - NOT_EVERYWHERE - {last}, last]
    ran = attempt("free", server_folder, names[:-1])
    assert {name: outcome for name, outcome in json.loads(ran.stdout).items() if outcome != "done"} == {}
    assert json.loads(attempt("free", server_folder, [last]).stdout) == {last: "done"}


@pytest.mark.parametrize(
    "lost", ["landlock.find_version = lambda: 0", "seccomp.forbid_calls = lambda opens_files: False"]
)
def test_one_of_the_two_alone_refuses_what_it_can(server_folder: Path, offer: Offer, lost: str) -> None:
    """As on a kernel that lacks the other."""
    script = f"from esign.system import landlock, seccomp; {lost}\n{Path(forbidden.__file__).read_text()}"
    left = replace(offer, landlock=0) if "landlock" in lost else replace(offer, seccomp=False)
    names = sorted(left.refused)
    command = (sys.executable, "-I", "-c", script, "confined", str(server_folder), *names)
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(ran.stdout) == dict.fromkeys(names, "PermissionError")


def test_a_filter_for_each_machine_jumps_within_its_end() -> None:
    for machine in seccomp.MACHINES.values():
        for opens in (True, False):
            code = seccomp.assemble_filter(machine, 4711, opens)
            assert len(code) < 4096  # BPF_MAXINSNS
            for at, (kind, if_true, if_false, _) in enumerate(code):
                if kind != seccomp.RETURN:
                    assert at + 1 + max(if_true, if_false) < len(code)
            assert code[-1] == (seccomp.RETURN, 0, 0, seccomp.ALLOW)


async def test_the_doctor_and_the_log_say_what_confines(
    offer: Offer, caplog: pytest.LogCaptureFixture
) -> None:
    found = read_confinement(COMMAND)
    assert describe_confinement() == (found.is_complete, found.describe())
    assert check_confinement().state is (CheckState.OK if found.is_complete else CheckState.WARNING)
    assert ("no Landlock" in found.describe()[0]) is not bool(offer.landlock)
    assert ("no seccomp" in found.describe()[1]) is not offer.seccomp
    caplog.set_level("INFO", "esign.seal")
    signer = SealSigner()
    try:
        await signer.prepare(a_seal(an_authority()).credential)
    finally:
        await signer.close()
    assert caplog.text.count("the seal key is in a process of its own.") == 1
    assert " ".join(found.describe()[:2]) in caplog.text


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
