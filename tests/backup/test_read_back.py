"""A backup counts only if its file holds what the checked copy holds, whether a process of its own reads it or not."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from esign.backup.archive import DamagedBackup, FileHash
from esign.backup.collect import copy_installation
from esign.backup.container import FORMAT, BackupAbout, describe_protection
from esign.backup.encryption import Protection
from esign.backup.make_backup import CannotBackUp, WrittenBackup, check_backup, write_files
from esign.backup.read_back import COMMAND, list_files, read_beside
from esign.backup.steady_file import WINDOW
from esign.system.disk import is_in_memory
from tests.backup.test_backup import WAYS, folder
from tests.backup.test_steady_file import count_cached_bytes

__all__ = ["folder"]

ODD_PROCESSES = {
    "it is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "it ends at once": "raise SystemExit(1)",
    "it says nothing": "",
    "it says something else": "print('[1, 2, 3]')",
    "it says half of it": "print('{\"files\": [')",
}
WAIT = "import signal; signal.pause()"


def write(folder: Path, protection: Protection) -> WrittenBackup:
    """Write a backup beside the data folder, with its copy in the folder `copy`."""
    copy, part = folder.parent / "copy", folder.parent / "part"
    copy.mkdir()
    about = BackupAbout(FORMAT, "0.2", "2026-11-29T00:00:00Z", describe_protection(protection))
    with part.open("w+b") as file:
        return write_files(part, file, copy_installation(folder, None, copy), protection, about)


def read(written: WrittenBackup, command: Sequence[str] = COMMAND, large: int = 0) -> list[FileHash]:
    """Read it back, in a process of its own if it is larger than `large`."""
    with read_beside(written.part, written.identity, large, command) as wait:
        return wait()


@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_is_read_here_and_in_a_process(folder: Path, way: str) -> None:
    written = write(folder, WAYS[way])
    assert {each.name for each in written.known} > {"data/esign.db", "data/app.key"}
    assert read(written) == read(written, large=2**40) == written.known


@pytest.mark.parametrize("large", [0, 2**40])
@pytest.mark.parametrize("way", WAYS)
def test_a_changed_bit_is_found_here_and_in_a_process(folder: Path, way: str, large: int) -> None:
    written = write(folder, WAYS[way])
    content = bytearray(written.part.read_bytes())
    content[len(content) // 2] ^= 4
    written.part.write_bytes(content)
    with pytest.raises(DamagedBackup):
        read(written, large=large)
    with pytest.raises(CannotBackUp, match=r"is not what is read back: .*; check its disk"):
        check_backup(written, folder.parent / "copy", lambda copy: [])


def test_a_file_that_cannot_be_read_is_damaged(folder: Path) -> None:
    written = write(folder, Protection())
    with pytest.raises(DamagedBackup, match="cannot be read: Is a directory"):
        read(replace(written, part=folder))
    written.part.unlink()
    with pytest.raises(DamagedBackup, match="cannot be read: No such file"):
        read(written)


def test_another_backup_in_its_place_is_found(folder: Path) -> None:
    """A disk that gives old bytes gives a backup that is whole, and not this one."""
    written = write(folder, Protection())
    other = replace(written, known=[replace(each, sha256="0" * 64) for each in written.known])
    with pytest.raises(CannotBackUp, match="it holds other files"):
        check_backup(other, folder.parent / "copy", lambda copy: [])


@pytest.mark.parametrize("how", [*ODD_PROCESSES, "it does not start"])
def test_a_backup_is_read_also_where_its_process_ends(folder: Path, how: str) -> None:
    written = write(folder, WAYS["passphrase"])
    command = (sys.executable, "-c", ODD_PROCESSES[how]) if how in ODD_PROCESSES else ("/nowhere",)
    assert read(written, command) == written.known


def test_the_process_ends_with_the_block(folder: Path) -> None:
    written = write(folder, Protection())
    before = list_children()
    with suppress(ZeroDivisionError), read_beside(written.part, None, 0, (sys.executable, "-c", WAIT)):
        [child] = list_children() - before
        raise ZeroDivisionError
    assert child not in list_children()


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


def test_a_process_whose_parent_has_ended_reads_nothing(folder: Path) -> None:
    """The parent was killed before the process could ask the system to end it too."""
    written = write(folder, Protection())
    order = {"parent": os.getpid(), "path": os.fsencode(written.part).hex(), "identity": None}
    orders = [order, {**order, "parent": 2**30}]
    ran = [
        subprocess.run(COMMAND, input=json.dumps(each).encode(), capture_output=True, check=False)
        for each in orders
    ]
    assert [(each.returncode, bool(each.stdout)) for each in ran] == [(0, True), (1, False)]


def test_a_large_backup_is_not_kept_in_memory(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "esign.db", isolation_level=None)) as connection:
        connection.executemany("INSERT INTO page VALUES (?)", [(os.urandom(2**20),) for _ in range(100)])
    written = write(folder, Protection())
    assert list_files(written.part, None) == written.known
    assert is_in_memory(folder) or count_cached_bytes(written.part) < WINDOW
