"""A backup counts only if its file holds what the checked copy holds, whether a process of its own reads it or not."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from esign.backup.archive import DamagedBackup, FileHash
from esign.backup.collect import copy_installation
from esign.backup.container import FORMAT, BackupAbout, describe_protection
from esign.backup.encryption import Protection
from esign.backup.make_backup import CannotBackUp, WrittenBackup, check_backup, write_files
from esign.backup.read_back import COMMAND, read_beside
from tests.backup.test_backup import WAYS, folder

__all__ = ["folder"]

ODD_PROCESSES = {
    "it is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "it ends at once": "raise SystemExit(1)",
    "it says nothing": "",
    "it says something else": "print('[1, 2, 3]')",
    "it says half of it": "print('{\"files\": [')",
}
WAIT = "import time; time.sleep(1000)"


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
    with pytest.raises(DamagedBackup, match="Is a directory"):
        read(replace(written, part=folder))


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
