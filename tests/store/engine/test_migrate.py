import hashlib
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from esign.store.engine import migrate, search_words
from esign.store.engine.connections import FILE, open_for_command

NEWEST = migrate.list_scripts()[-1][0]


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def files(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.name != "write.lock"
    }


async def make(path: Path) -> None:
    async with open_for_command(path):
        pass


async def test_an_empty_file_gets_the_newest_schema_and_our_name(tmp_path: Path) -> None:
    await make(tmp_path / FILE)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        assert connection.execute("PRAGMA application_id").fetchone() == (0x65736967,)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = {
            name: strict
            for _, name, kind, _, _, strict in connection.execute("PRAGMA table_list")
            if kind == "table" and not name.startswith("sqlite_")
        }
    assert {"document", "recipient", "audit", "event", "outbox", "blob", "link", "api_key"} <= set(tables)
    assert set(tables.values()) == {1}
    assert (tmp_path / FILE).read_bytes()[68:72] == b"esig"


async def test_opening_again_changes_no_schema(tmp_path: Path) -> None:
    await make(tmp_path / FILE)
    before = schema(tmp_path / FILE)
    await make(tmp_path / FILE)
    assert schema(tmp_path / FILE) == before


def test_scripts_are_applied_in_the_order_of_their_numbers_and_leave_no_token() -> None:
    scripts = migrate.list_scripts()
    numbers = [number for number, _ in scripts]
    assert numbers[0] == 1 and numbers == sorted(set(numbers))
    for _, script in scripts:
        assert "{" not in script
        assert "BEGIN IMMEDIATE" not in script


def test_a_migration_that_breaks_off_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA max_page_count = 8")
        with pytest.raises(sqlite3.OperationalError, match="full"):
            migrate.migrate(connection)
    assert schema(path) == []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate.migrate(connection)
        assert migrate.check(connection) == NEWEST


async def test_a_newer_schema_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / FILE
    await make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {NEWEST + 1}")
    before = files(tmp_path)
    with pytest.raises(migrate.NewerSchema, match=str(NEWEST + 1)):
        await make(path)
    assert files(tmp_path) == before


# ---------- by what was applied ----------


def a_migration(number: int, name: str, sql: str) -> migrate.Migration:
    return migrate.read_migration(f"{number:04}_{name}", [sql])


FIRST = a_migration(1, "first", "CREATE TABLE document (id TEXT) {strict};")
FREE = a_migration(30, "free", "CREATE TABLE free (id TEXT) {strict};")
LATE = a_migration(50, "late", "CREATE TABLE late (id TEXT) {strict};")


def bring(path: Path, *known: migrate.Migration) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate.migrate(connection, known)


def entries(path: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT number, name FROM migration ORDER BY number").fetchall()


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_names_and_numbers_of_migrations_stand_once() -> None:
    known = migrate.load_migrations()
    assert len({each.name for each in known}) == len({each.number for each in known}) == len(known)


def test_a_script_with_a_free_number_below_the_highest_is_applied(tmp_path: Path) -> None:
    path = tmp_path / FILE
    bring(path, FIRST, LATE)
    assert version(path) == 50
    bring(path, FIRST, FREE, LATE)
    assert entries(path) == [(1, "first"), (30, "free"), (50, "late")]
    assert version(path) == 50


def test_a_script_that_got_another_number_is_not_applied_again(tmp_path: Path) -> None:
    path = tmp_path / FILE
    bring(path, FIRST, FREE)
    bring(path, FIRST, replace(FREE, number=31), LATE)
    assert [name for _, name in entries(path)] == ["first", "free", "late"]


def test_a_database_with_a_migration_that_is_not_known_is_refused_as_newer(tmp_path: Path) -> None:
    path = tmp_path / FILE
    bring(path, FIRST, FREE, LATE)
    before = files(tmp_path)
    with pytest.raises(migrate.NewerSchema, match="0030_free"):
        bring(path, FIRST, LATE)
    assert files(tmp_path) == before


def test_a_script_that_was_changed_after_it_was_applied_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / FILE
    bring(path, FIRST, FREE)
    before = files(tmp_path)
    changed = a_migration(30, "free", "CREATE TABLE free (id TEXT, more TEXT) {strict};")
    with pytest.raises(migrate.ChangedMigration, match="0030_free"):
        bring(path, FIRST, changed, LATE)
    assert files(tmp_path) == before
    monkeypatch.setattr(migrate, "EQUIVALENT", {"free": frozenset({FREE.sha256})})
    bring(path, FIRST, changed, LATE)
    assert len(entries(path)) == 3


def test_a_script_that_cannot_be_applied_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / FILE
    bring(path, FIRST)
    bad = a_migration(30, "free", "CREATE TABLE half (id TEXT) {strict}; DROP TABLE nowhere;")
    with pytest.raises(migrate.MigrationFailed, match=r"0030_free.*no such table: nowhere"):
        bring(path, FIRST, bad)
    assert entries(path) == [(1, "first")]
    assert "half" not in dict(schema(path))


def test_the_hash_of_a_script_covers_its_twin() -> None:
    assert (
        migrate.read_migration("0030_free", ["a", "b"]).sha256
        != migrate.read_migration("0030_free", ["a", "c"]).sha256
    )


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE theirs (id INTEGER)",
        "PRAGMA application_id = 252006674",
        "PRAGMA user_version = 1; CREATE TABLE document (id TEXT)",
        "PRAGMA journal_mode = DELETE; CREATE TABLE theirs (id INTEGER); PRAGMA application_id = 1",
    ],
)
async def test_the_database_of_another_program_is_refused_and_not_touched(
    tmp_path: Path, script: str
) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    before = files(tmp_path)
    with pytest.raises(migrate.ForeignDatabase):
        await make(path)
    assert files(tmp_path) == before


async def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_bytes(b"These are my notes and not a database. " * 100)
    before = files(tmp_path)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        await make(path)
    assert files(tmp_path) == before


def test_deliveries_that_waited_as_jobs_still_wait(tmp_path: Path) -> None:
    """Version 4 gave deliveries a table of their own."""
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        search_words.register(connection)
        for number, script in migrate.list_scripts():
            if number == 4:
                connection.execute(
                    "INSERT INTO organisation VALUES ('org_1', 'N', 'en', 'UTC', NULL, '#', NULL, 0)"
                )
                connection.execute(
                    "INSERT INTO event VALUES ('evt_1', 'org_1', 'live', NULL, NULL, 'document.sent', 1, x'7b7d')"
                )
                columns = "kind, key, lane, body, state, due_at, attempts, last_error, created_at"
                for key, state in (
                    ("evt_1:wh_1", "pending"),
                    ("evt_1:wh_2", "done"),
                    ("evt_gone:wh_1", "pending"),
                ):
                    job = ("webhook", key, "wh", b"{}", state, 9, 2, "status 500", 3)
                    connection.execute(f"INSERT INTO outbox ({columns}) VALUES ({'?, ' * 8}?)", job)
            if number <= 4:
                connection.executescript(script)
        rows = connection.execute(
            "SELECT webhook_id, event_id, event_type, status, created_at, due_at, tries, last_error FROM delivery"
        ).fetchall()
        assert rows == [("wh_1", "evt_1", "document.sent", "pending", 3, 9, 2, "status 500")]
        assert connection.execute("SELECT length(id), substr(id, 1, 4) FROM delivery").fetchone() == (
            30,
            "dlv_",
        )
        assert connection.execute("SELECT 1 FROM outbox").fetchall() == []


def test_keys_of_before_are_of_the_member_who_made_them_or_of_the_command_line(tmp_path: Path) -> None:
    """Version 30 bounds a key by its maker; what had none recorded was made on the command line."""
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        search_words.register(connection)
        for number, script in migrate.list_scripts():
            if number == 30:
                connection.execute(
                    "INSERT INTO organisation (id, name, locale, time_zone, colour, created_at)"
                    " VALUES ('org_1', 'N', 'en', 'UTC', '#3d4657', 0)"
                )
                by_member = '{"kind": "member", "id": "mem_1", "name": "Ada", "email": null}'
                by_system = '{"kind": "system", "id": null, "name": "command line", "email": null}'
                for id, by in (("key_1", by_member), ("key_2", by_system), ("key_3", None)):
                    connection.execute(
                        "INSERT INTO api_key (id, organisation_id, mode, name, hash, hint, scopes, created_at,"
                        " created_by) VALUES (?, 'org_1', 'live', 'K', ?, '', '[]', 0, ?)",
                        (id, id.encode(), by),
                    )
            connection.executescript(script)
        rows = connection.execute("SELECT id, maker_id FROM api_key ORDER BY id").fetchall()
    assert rows == [("key_1", "mem_1"), ("key_2", None), ("key_3", None)]
