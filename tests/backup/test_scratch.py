"""The folder of the unencrypted copies: closed, gone afterwards, also those of processes that were killed."""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from esign.backup.collect import copy_installation
from esign.backup.encryption import Protection
from esign.backup.make_backup import CannotBackUp, make_backup
from esign.backup.scratch import open_scratch, require_room
from esign.cli.exit_codes import FAILED, describe_failure
from esign.store.engine.failures import StorageFailed
from esign.system.disk import is_in_memory
from tests.backup.checks import check_later
from tests.pki import NOW


def make_left(folder: Path, mode: int = 0o700) -> Path:
    folder.mkdir(mode)
    (folder / "esign.db").write_bytes(b"contracts")
    return folder


def test_folders_of_processes_that_were_killed_go_and_nothing_else(tmp_path: Path) -> None:
    elsewhere = make_left(tmp_path / "elsewhere")
    left = make_left(tmp_path / "esign-backup-abcd1234")
    (left / "link").symlink_to(elsewhere)
    (tmp_path / "esign-backup-linked00").symlink_to(elsewhere)
    others = [make_left(tmp_path / "esign-backup-mine"), make_left(tmp_path / "esign-backup-open1234", 0o755)]
    with open_scratch(tmp_path) as one:
        assert one.stat().st_mode & 0o777 == 0o700 and not left.exists()
        make_left(one / "data")
        with open_scratch(tmp_path) as two:
            assert one.exists() and two != one, "what another process works with stays"
        assert not two.exists()
    assert not one.exists() and all((each / "esign.db").exists() for each in [elsewhere, *others])
    assert (tmp_path / "esign-backup-linked00").is_symlink()


def test_a_folder_in_memory_is_known(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    for kind, expected in (("tmpfs", True), ("ext4", False)):
        mounts.write_text(
            "1 0 0:0 / / rw - overlay x rw\n"
            f"36 35 {os.major(device)}:{os.minor(device)} / /x rw,noatime master:1 - {kind} x rw\n"
        )
        assert is_in_memory(tmp_path, mounts) is expected
    assert not is_in_memory(tmp_path, tmp_path / "none")


@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), StorageFailed("database or disk is full")]
)
def test_a_scratch_disk_that_fills_up_is_said_as_that(tmp_path: Path, failure: Exception) -> None:
    data = tmp_path / "data"
    data.mkdir(0o700)
    with closing(sqlite3.connect(data / "esign.db")) as connection:
        connection.execute("CREATE TABLE page (content BLOB)")

    def check(copy: Path) -> list[str]:
        raise failure

    with pytest.raises(CannotBackUp, match=r"the copy in .* cannot be made.*--scratch") as refused:
        make_backup(data, None, tmp_path / "backup", Protection(), NOW, check_later(check), tmp_path)
    assert (describe_failure(refused.value) or (0,))[0] == FAILED
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    with pytest.raises(Exception, match=r"needed in .* name another folder with --scratch"):
        require_room(tmp_path, 2**60)


def test_a_slow_target_does_not_hold_the_log(tmp_path: Path) -> None:
    """Once the files of a backup are copied, the log of the database can be brought into its file and cut."""
    data, scratch = tmp_path / "data", tmp_path / "scratch"
    data.mkdir(0o700)
    scratch.mkdir(0o700)
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE page (content BLOB)")
        files = copy_installation(data, None, scratch)
        writer.execute("INSERT INTO page VALUES ('later')")
        assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    for file in files:
        (tmp_path / Path(file.name).name).write_bytes(file.read(0, file.size))
    with closing(sqlite3.connect(tmp_path / "esign.db")) as copy:
        assert copy.execute("SELECT count(*) FROM page").fetchone() == (0,)
    assert all(each.stat().st_mode & 0o777 == 0o600 for each in (scratch / "data").iterdir())
