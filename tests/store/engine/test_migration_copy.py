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
        new = copy_database(connection, path, NOW - 29 * DAY)
    (folder / "esign.db").write_text("of the administrator")
    part = folder / f"{new.name}.part"
    part.touch()
    assert delete_old_copies(path.parent, NOW) == 2
    assert not old.exists() and not part.exists()
    assert {file.name for file in folder.iterdir()} == {new.name, "esign.db"}
    assert delete_old_copies(path.parent / "none", NOW) == 0
