"""`esign upgrade-check`: what it says of data of any version, and that it changes nothing of it."""

import hashlib
import re
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from esign.cli import main
from esign.store.engine import connections, migrate, rehearsal
from esign.system.clock import SystemClock
from tests.journeys.program import Ran
from tests.store.engine.test_history import ARCHIVE, COMMITS

DONE, FAILED, USAGE, NEWER, DAMAGED = 0, 1, 2, 4, 65


def check(folder: Path, *flags: str) -> Ran:
    """Run the command in this process on the data in `folder`."""
    environment = {"ESIGN_STORAGE__DATA_DIR": str(folder)}
    ran = CliRunner().invoke(main, ["upgrade-check", *flags], env=environment)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


def fingerprint(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file of the folder with its time and content, and the folder's time: it shows files that came and went."""
    files = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
    found = {
        name: (file.stat().st_mtime_ns, hashlib.sha256(file.read_bytes()).hexdigest())
        for name, file in files.items()
    }
    return {**found, ".": (folder.stat().st_mtime_ns, "")}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a database of this version."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    connections.prepare(folder / connections.FILE)
    return folder


def unpack(commit: str, place: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        members = [member for member in archive if member.name.partition("/")[0] == commit]
        archive.extractall(place, members, filter="data")
    return place / commit


@pytest.mark.parametrize("commit", [COMMITS[0], COMMITS[len(COMMITS) // 2], COMMITS[-1]])
def test_what_it_names_is_what_a_start_applies(
    commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = unpack(commit, tmp_path)
    before = fingerprint(folder)
    ran = check(folder, "--scratch", str(tmp_path))
    assert (ran.code, ran.err) == (DONE, "")
    assert fingerprint(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [commit], "the copy is gone"
    assert re.search(
        r"On a copy this took \d+\.\d s\. The database grows by \d+ MiB; meanwhile \d+ MiB", ran.out
    )
    assert "Nothing was changed." in ran.out and "Make a backup" in ran.out
    named = re.findall(r"^  (\d{4}_\w+)$", ran.out, re.MULTILINE)
    with closing(sqlite3.connect(folder / connections.FILE)) as connection:
        has_table = migrate.has_trace(connection, "migration")
        applied = set(migrate.read_applied(connection) or ())
    connections.prepare(folder / connections.FILE)
    with closing(sqlite3.connect(folder / connections.FILE)) as connection:
        after = migrate.read_applied(connection) or {}
    new = [f"{number:04}_{name}" for name, (number, _) in after.items() if name not in applied]
    # What an older database has without a table of migrations is only entered in the table.
    assert named == new if has_table else set(named) < set(new)
    assert check(folder).out.count("a start applies no migration") == 1


def test_on_data_of_this_version_it_says_that_nothing_will_happen(data: Path) -> None:
    before = fingerprint(data)
    ran = check(data)
    assert ran.code == DONE and "a start applies no migration" in ran.out
    assert fingerprint(data) == before


def test_beside_a_program_that_writes_it_reads_what_was_committed(data: Path) -> None:
    with closing(sqlite3.connect(data / connections.FILE)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)")
        writer.commit()
        ran = check(data, "--no-rehearsal")
        writer.execute("BEGIN IMMEDIATE")  # nothing holds it up
    assert ran.code == DONE
    assert "A start applies 1 migration:" in ran.out and "On a copy" not in ran.out


def test_a_migration_that_fails_on_this_data_is_told_before_the_start(data: Path) -> None:
    with closing(sqlite3.connect(data / connections.FILE)) as connection:
        connection.execute("DELETE FROM migration WHERE name = 'contacts'")
        connection.commit()
    before = fingerprint(data)
    ran = check(data)
    assert ran.code == NEWER and "0070_contacts cannot be applied to this database" in ran.err
    assert fingerprint(data) == before


def test_data_of_a_newer_version_ends_with_4(data: Path) -> None:
    with closing(sqlite3.connect(data / connections.FILE)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    ran = check(data)
    assert ran.code == NEWER and "install the newer version of esign again" in ran.err


def test_a_damaged_database_ends_with_65(data: Path) -> None:
    with (data / connections.FILE).open("r+b") as file:
        file.seek(4096 * 5)
        file.write(b"\xff" * 4096)
    ran = check(data)
    assert ran.code == DAMAGED and "is damaged" in ran.err


def test_before_the_first_start_there_is_nothing_to_upgrade(tmp_path: Path) -> None:
    ran = check(tmp_path / "none")
    assert ran.code == DONE and "the first start makes it" in ran.out
    assert not (tmp_path / "none").exists()


def test_a_copy_is_made_only_where_there_is_room_for_it(data: Path, tmp_path: Path) -> None:
    with (data / f"{connections.FILE}-wal").open("wb") as log:
        log.truncate(2**42)  # a file with a hole: it is as long, and takes no room
    with pytest.raises(rehearsal.NoRoom, match=r"needs 12,582,9\d\d MiB in .* are free; .* --scratch"):
        rehearsal.rehearse(data / connections.FILE, tmp_path, SystemClock())
