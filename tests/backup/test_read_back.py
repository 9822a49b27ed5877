"""A backup counts only if its file holds what the checked copy holds."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from esign.backup.archive import DamagedBackup
from esign.backup.collect import copy_installation
from esign.backup.container import FORMAT, BackupAbout, describe_protection
from esign.backup.encryption import Protection
from esign.backup.make_backup import CannotBackUp, WrittenBackup, require_written, write_files
from esign.backup.read_back import list_files
from esign.backup.steady_file import WINDOW
from esign.system.disk import is_in_memory
from tests.backup.test_backup import WAYS, folder
from tests.backup.test_steady_file import count_cached_bytes

__all__ = ["folder"]


def write(folder: Path, protection: Protection) -> WrittenBackup:
    """Write a backup beside the data folder, with its copy in the folder `copy`."""
    copy, part = folder.parent / "copy", folder.parent / "part"
    copy.mkdir()
    about = BackupAbout(FORMAT, "0.2", "2026-11-29T00:00:00Z", describe_protection(protection))
    with part.open("w+b") as file:
        return write_files(part, file, copy_installation(folder, None, copy), protection, about)


@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_is_read(folder: Path, way: str) -> None:
    written = write(folder, WAYS[way])
    assert {each.name for each in written.known} > {"data/esign.db", "data/app.key"}
    assert list_files(written.part, written.identity) == written.known
    require_written(written, folder.parent / "copy")


@pytest.mark.parametrize("way", WAYS)
def test_a_changed_bit_is_found(folder: Path, way: str) -> None:
    written = write(folder, WAYS[way])
    content = bytearray(written.part.read_bytes())
    content[len(content) // 2] ^= 4
    written.part.write_bytes(content)
    with pytest.raises(CannotBackUp, match=r"is not what is read back: .*; check its disk"):
        require_written(written, folder.parent / "copy")


def test_a_file_that_cannot_be_read_is_damaged(folder: Path) -> None:
    written = write(folder, Protection())
    with pytest.raises(DamagedBackup, match="cannot be read: Is a directory"):
        list_files(folder, None)
    written.part.unlink()
    with pytest.raises(DamagedBackup, match="cannot be read: No such file"):
        list_files(written.part, None)


def test_another_backup_in_its_place_is_found(folder: Path) -> None:
    """A disk that gives old bytes gives a backup that is whole, and not this one."""
    written = write(folder, Protection())
    other = replace(written, known=[replace(each, sha256="0" * 64) for each in written.known])
    with pytest.raises(CannotBackUp, match="it holds other files"):
        require_written(other, folder.parent / "copy")


def test_a_large_backup_is_not_kept_in_memory(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "esign.db", isolation_level=None)) as connection:
        connection.executemany("INSERT INTO page VALUES (?)", [(os.urandom(2**20),) for _ in range(100)])
    written = write(folder, Protection())
    assert list_files(written.part, None) == written.known
    assert is_in_memory(folder) or count_cached_bytes(written.part) < WINDOW
