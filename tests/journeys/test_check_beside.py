"""The copy that a backup is made of is checked while the backup is written, and stays as it is until that ends."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from esign.cli.check_beside import COMMAND, check_beside
from esign.cli.check_copy import check_copy
from esign.store.engine.connections import FILE
from esign.system.app_key import KeySource
from tests.journeys.test_doctor import LOST, data, spoil

__all__ = ["data"]


ODD_PROCESSES = {
    "it is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "it ends at once": "raise SystemExit(1)",
    "it fails with an answer": "print('[]'); raise SystemExit(1)",
    "it says nothing": "",
    "it says something else": "print('[1, 2, 3]')",
    "it says half of it": "print('[\"')",
}
WAIT = "import signal; signal.pause()"


def check(
    data: Path, source: KeySource | None, large: int = 0, command: tuple[str, ...] = COMMAND
) -> list[str]:
    """Check a folder, in a process of its own if its database is larger than `large`."""
    with check_beside(data, source, large, command) as wait:
        return wait()


@pytest.mark.parametrize("name", ["nothing", *LOST])
def test_a_process_finds_what_is_found_here(data: Path, name: str) -> None:
    if name in LOST:
        spoil(data, LOST[name][0])
    source = KeySource(data / FILE)
    found = check(data, source)
    assert bool(found) == (name != "nothing" and LOST[name][1] != {"jobs"})
    assert found == check(data, source, large=2**40) == check_copy(data, source)


def test_the_copy_is_unchanged_until_the_findings_are_asked_for(data: Path) -> None:
    """Its log, too, is written into the backup meanwhile: it must not be brought into the file."""
    other = data.with_name("copy")
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute("UPDATE organisation SET name = 'in the log'")
        subprocess.run(["cp", "-r", data, other], check=True)
    (other / f"{FILE}-shm").unlink()
    before = hash_files(other)
    assert before[f"{FILE}-wal"] != hashlib.sha256(b"").hexdigest()
    children = list_children()
    with check_beside(other, KeySource(other / FILE), 0) as wait:
        [child] = list_children() - children
        os.waitid(os.P_PID, int(child), os.WEXITED | os.WNOWAIT)
        assert {
            name: sha256 for name, sha256 in hash_files(other).items() if not name.endswith("-shm")
        } == before
        assert wait() == []
    with closing(sqlite3.connect(other / FILE)) as connection:
        assert connection.execute("SELECT DISTINCT name FROM organisation").fetchall() == [("in the log",)]


def hash_files(folder: Path) -> dict[str, str]:
    """Return the hash of each file in a folder."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


@pytest.mark.parametrize("large", [0, 2**40])
def test_another_key_is_named(data: Path, large: int) -> None:
    (data / "app.key").write_bytes(os.urandom(32))
    [found] = check(data, KeySource(data / FILE), large)
    assert "app.key" in found and str(data) not in found
    (data / "app.key").unlink()
    [found] = check(data, KeySource(data / FILE), large)
    assert found.startswith("app.key is missing")


@pytest.mark.parametrize("large", [0, 2**40])
def test_without_a_key_the_rest_is_checked(data: Path, large: int) -> None:
    (data / "app.key").unlink()
    assert check(data, None, large) == []
    spoil(data, LOST["a content was changed"][0])
    assert check(data, None, large)


@pytest.mark.parametrize("how", [*ODD_PROCESSES, "it does not start"])
def test_a_copy_is_checked_also_where_its_process_ends(data: Path, how: str) -> None:
    spoil(data, LOST["a content was changed"][0])
    command = (sys.executable, "-c", ODD_PROCESSES[how]) if how in ODD_PROCESSES else ("/nowhere",)
    source = KeySource(data / FILE)
    found = check(data, source, 0, command)
    assert found and found == check_copy(data, source)


def test_the_process_ends_with_the_block(data: Path) -> None:
    before, priority = list_children(), os.getpriority(os.PRIO_PROCESS, 0)
    command = (sys.executable, "-c", WAIT)
    with suppress(ZeroDivisionError), check_beside(data, KeySource(data / FILE), 0, command):
        [child] = list_children() - before
        raise ZeroDivisionError
    assert child not in list_children()
    assert os.getpriority(os.PRIO_PROCESS, 0) == priority, "it may take a lock of the server afterwards"


FIRST = """
import json, os, sys
from pathlib import Path
from esign.cli.check_beside import check_first
from esign.system.idle_priority import give_way

SHOW = "import json, os; print(json.dumps([str(os.getpriority(os.PRIO_PROCESS, 0))]))"
give_way()
with check_first(Path(sys.argv[1]), None, 0, (sys.executable, "-c", SHOW)) as wait:
    print(json.dumps([os.getpriority(os.PRIO_PROCESS, 0), *map(int, wait())]))
"""


def test_the_check_goes_before_what_waits_for_it(data: Path) -> None:
    shown = subprocess.check_output([sys.executable, "-c", FIRST, data], text=True)
    assert json.loads(shown) == [19, max(os.getpriority(os.PRIO_PROCESS, 0), 10)]


def list_children() -> set[str]:
    """Return the numbers of the processes that this one started and that it has not yet waited for."""
    return {
        stat.parent.name
        for stat in Path("/proc").glob("[0-9]*/stat")
        if read_parent(stat) == str(os.getpid())
    }


def read_parent(stat: Path) -> str:
    """Return the number of the process that started one, none if that has ended (proc(5))."""
    try:
        return stat.read_text().rpartition(")")[2].split()[1]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_a_process_whose_parent_has_ended_checks_nothing(data: Path) -> None:
    """The parent was killed before the process could ask the system to end it too."""
    order = {"parent": os.getpid(), "folder": os.fsencode(data).hex(), "key": None}
    ran = [
        subprocess.run(COMMAND, input=json.dumps(each).encode(), capture_output=True, check=False)
        for each in (order, {**order, "parent": 2**30})
    ]
    assert [(each.returncode, bool(each.stdout)) for each in ran] == [(0, True), (1, False)]
