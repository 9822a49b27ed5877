"""The copy that is made of a database before a migration, and what a migration that fails leaves."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from esign.core.instant import DAY
from esign.store.engine import migrate, migration_copy
from esign.store.engine.connections import FILE, prepare
from esign.store.engine.migration_copy import FOLDER, CopyFailed, copy_database, delete_old_copies
from esign.system.clock import SystemClock
from tests.factories import NOW
from tests.pristine import lay_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of an older version: it lacks the last migration."""
    path = tmp_path / FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate.migrate(connection, migrate.load_migrations()[:-1])
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("INSERT INTO installation VALUES ('name', x'0102')")
    return path


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def read_schema(connection: sqlite3.Connection) -> tuple[list[tuple[str, str]], dict[str, int]]:
    schema = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return schema, migration_copy.count_rows(connection)


def test_a_database_is_copied_before_it_is_migrated_and_only_then(path: Path) -> None:
    before = migrate.load_migrations()[-2].number
    prepare(path, copy_first=True)
    [copy] = (path.parent / FOLDER).iterdir()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    with connected(copy) as connection:
        assert migrate.read_version(connection) == before
        assert connection.execute("SELECT value FROM installation").fetchone() == (b"\x01\x02",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    with connected(path) as connection:
        assert migrate.is_complete(connection)
    prepare(path, copy_first=True)
    assert list((path.parent / FOLDER).iterdir()) == [copy]


def test_a_new_database_and_one_of_this_version_are_not_copied(tmp_path: Path) -> None:
    lay_database(tmp_path / "present" / FILE)
    for path in (tmp_path / FILE, tmp_path / "present" / FILE):
        prepare(path, copy_first=True)
        assert not (path.parent / FOLDER).exists()


def test_without_room_nothing_is_copied_and_nothing_migrated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration_copy, "MARGIN", 2**60)
    with pytest.raises(CopyFailed, match=r"MiB are free; nothing was changed; .*backup_before_migration"):
        prepare(path, copy_first=True)
    assert list((path.parent / FOLDER).iterdir()) == []
    with connected(path) as connection:
        assert not migrate.is_complete(connection)
    prepare(path, copy_first=False)


def test_a_copy_that_is_not_whole_is_found_and_not_kept(path: Path) -> None:
    with connected(path) as connection:
        copy = copy_database(connection, path, NOW)
        with connected(copy) as changed:
            changed.execute("DELETE FROM installation")
        with pytest.raises(CopyFailed, match="rows are missing"):
            migration_copy.check_copy(connection, copy)
        with copy.open("r+b") as file:
            file.seek(4096 * 5)
            file.write(b"\xff" * 4096)
        with pytest.raises(CopyFailed, match="not whole"):
            migration_copy.check_copy(connection, copy)


def test_a_migration_that_fails_leaves_the_database_as_it_was(path: Path) -> None:
    last = migrate.load_migrations()[-1]
    bad = replace(
        last, number=9998, name="bad", sql="CREATE TABLE made (id TEXT); INSERT INTO nowhere VALUES (1);"
    )
    with connected(path) as connection:
        was = read_schema(connection)
        version = migrate.read_version(connection)
        with pytest.raises(
            migrate.MigrationFailed, match=r"migration 9998_bad cannot .* no such table: nowhere"
        ):
            migrate.migrate(connection, [*migrate.load_migrations(), bad])
        assert read_schema(connection) == was
        assert migrate.read_version(connection) == version


def test_copies_are_deleted_after_30_days_and_nothing_else_is(path: Path) -> None:
    folder = path.parent / FOLDER
    with connected(path) as connection:
        old = copy_database(connection, path, NOW - 31 * DAY)
        connection.execute("INSERT INTO installation VALUES ('other', x'03')")
        new = copy_database(connection, path, NOW - 29 * DAY)
    (folder / "esign.db").write_text("of the administrator")
    part = folder / f"{new.name}.part"
    part.touch()  # another process may be writing it
    assert delete_old_copies(path.parent, NOW) == 1
    assert not old.exists()
    assert {file.name for file in folder.iterdir()} == {new.name, part.name, "esign.db"}
    assert delete_old_copies(path.parent / "none", NOW) == 0


@pytest.mark.parametrize("copy_first", [True, False])
def test_a_start_removes_what_the_kill_of_an_earlier_one_left(path: Path, copy_first: bool) -> None:
    folder = path.parent / FOLDER
    folder.mkdir()
    left = folder / "esign-0.1.0-20260101T000000Z.db.part"
    for file in (left, folder / f"{left.name}-journal"):
        file.touch()
    (folder / "esign.db.part").write_text("of the administrator")
    prepare(path, copy_first=copy_first)
    assert sorted(file.name for file in folder.iterdir() if ".part" in file.name) == ["esign.db.part"]
    with connected(path) as connection:
        assert migrate.is_complete(connection)
    left.touch()
    prepare(path, copy_first=copy_first)
    assert not left.exists()


def test_an_error_of_the_disk_during_a_migration_keeps_the_copy_and_the_next_start_no_second(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(migrate, "migrate", fail)
            with pytest.raises(sqlite3.OperationalError):
                prepare(path, copy_first=True)
        assert len([*(path.parent / FOLDER).iterdir()]) == 1
    [copy] = (path.parent / FOLDER).iterdir()
    with connected(copy) as connection:
        assert not migrate.is_complete(connection)
        connection.execute("DELETE FROM installation")
    prepare(path, copy_first=True)
    assert len([*(path.parent / FOLDER).iterdir()]) == 2  # the other is of another state, and stays


def test_a_copy_is_not_dated_before_the_last_time_that_was_certain(path: Path) -> None:
    """A clock that went wrong while the server was down would have it deleted at once when it is put right."""
    certain = SystemClock().now() + 400 * DAY
    with connected(path) as connection:
        connection.execute(
            "INSERT INTO clock_mark (id, at, elapsed, boot_id) VALUES (1, ?, 0, '')", (certain,)
        )
    prepare(path, copy_first=True)
    [copy] = (path.parent / FOLDER).iterdir()
    assert delete_old_copies(path.parent, certain + 29 * DAY) == 0 and copy.exists()
    assert delete_old_copies(path.parent, certain + 31 * DAY) == 1
