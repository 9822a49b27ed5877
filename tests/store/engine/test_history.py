"""Databases of every schema in the history of this repository, each made by the code of its time.

`packaging/history` made them and says how.
"""

import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from esign.actions.verification import verify_trails
from esign.cli.verify_trails import verify_audit
from esign.config import Config
from esign.core.document.document import Status
from esign.core.instant import DAY
from esign.pdf.report import Verification
from esign.store.document import blobs, documents, trails
from esign.store.engine import migrate, search_words
from esign.store.engine.connections import FILE, open_for_command
from esign.store.queue import deliveries, due_jobs
from esign.system.app_key import KeySource, open_vault
from tests.factories import NOW

ARCHIVE = Path(__file__).parents[1] / "history.tar.xz"
with tarfile.open(ARCHIVE) as _names:
    COMMITS = sorted(name for name in _names.getnames() if "/" not in name)
BEFORE_TABLE = 26  # the highest number that a version without a table of migrations had
ENDED = {"completed", "declined", "expired"}
HEADS_SINCE = {"06cbe73", "afbdcc2", "83cdc87", "cd86d45", "a4c6a8e", "2b1d3a4", "1a422e9", "3e36004", "10440b4",
               "4543527", "4a63a78"}  # fmt: skip


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def data(history: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The data folder of one commit, to be changed."""
    return Path(shutil.copytree(history / request.param, tmp_path / "data"))


every_commit = pytest.mark.parametrize("data", COMMITS, indirect=True)


def shape(path: Path) -> dict[str, object]:
    """What a schema means: tables with their columns in whatever order, indexes and triggers."""
    with closing(sqlite3.connect(path)) as connection:
        found: dict[str, object] = {}
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master"):
            if kind == "table":
                columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,))
                found[name] = (sorted(column[1:] for column in columns), keys(connection, name))
            elif sql is not None:
                found[name] = " ".join(sql.split())
        return found


def keys(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return sorted(key[2:] for key in connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (table,)))


def list_applied(path: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return set(connection.execute("SELECT name, sha256 FROM migration"))


async def open_once(path: Path) -> None:
    async with open_for_command(path):
        pass


async def assert_present(path: Path, fresh: Path) -> None:
    """The database is of the present schema, whole, and knows what was applied to it."""
    await open_once(path)
    await open_once(fresh)
    assert shape(path) == shape(fresh)
    assert (
        list_applied(path)
        == list_applied(fresh)
        == {(each.name, each.sha256) for each in migrate.load_migrations()}
    )
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        newest = max(each.number for each in migrate.load_migrations())
        assert connection.execute("PRAGMA user_version").fetchone() == (newest,)


def test_there_is_a_database_of_every_set_of_scripts() -> None:
    assert len(COMMITS) == 21


@every_commit
async def test_a_database_of_each_landed_version_gets_the_present_schema(data: Path, tmp_path: Path) -> None:
    await assert_present(data / FILE, make(tmp_path / "fresh") / FILE)


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


@every_commit
async def test_everything_in_such_a_database_can_be_read(data: Path) -> None:
    keys = open_vault(KeySource(data / FILE))
    async with open_for_command(data / FILE) as db:
        await verify_trails.complete_heads(db, keys)
        ids = [row["id"] for row in await db.all("SELECT id FROM document")]
        found = [await documents.get(db, document_id) for document_id in ids]
        assert {document.status.value for document in found} >= {"draft", "sent", *ENDED}
        for document in found:
            assert await blobs.get(db, document.file.prepared)
            if document.status is Status.COMPLETED:
                assert document.seal is not None
                assert (await blobs.get(db, document.seal.sha256)).startswith(b"%PDF")
        jobs = await due_jobs.find_due(db, "mail", NOW + 10_000 * DAY, 100)
        waiting = await deliveries.find_due(db, NOW + 10_000 * DAY, 100)
        assert len(jobs) == 1 and len(waiting) >= 3


@every_commit
async def test_the_pictures_of_pages_that_older_versions_stored_are_let_go(data: Path) -> None:
    with closing(sqlite3.connect(data / FILE)) as connection:
        query = "SELECT DISTINCT image.value FROM document, json_each(file, '$.images') image"
        pictures = {sha256 for (sha256,) in connection.execute(query)}
    assert pictures
    async with open_for_command(data / FILE) as db:
        rows = await db.all("SELECT sha256, loose FROM blob")
        loose = {row["sha256"] for row in rows if row["loose"]}
        assert loose >= pictures
        for row in await db.all("SELECT id FROM document"):
            file = (await documents.get(db, row["id"])).file
            assert not loose & {file.uploaded, file.prepared}
        while await db.write(lambda tx: blobs.prune(tx, NOW + 10_000 * DAY, 16)):
            pass
        left = {row["sha256"] for row in await db.all("SELECT sha256 FROM blob")}
        assert left and not left & pictures


@every_commit
async def test_trails_without_a_head_are_completed_and_said_to_be_late(
    data: Path, request: pytest.FixtureRequest
) -> None:
    commit = request.node.callspec.params["data"]
    keys = open_vault(KeySource(data / FILE))
    async with open_for_command(data / FILE) as db:
        with closing(sqlite3.connect(data / FILE)) as connection:
            [(trails_there,)] = connection.execute("SELECT count(DISTINCT document_id) FROM audit")
        done = await verify_trails.complete_heads(db, keys)
        assert done == (0 if commit in HEADS_SINCE else trails_there)
        assert await verify_trails.complete_heads(db, keys) == 0
        chains = [chain async for chain in verify_trails.recompute(db, keys)]
        assert [chain.broken for chain in chains] == [None] * trails_there
        assert sum(chain.late for chain in chains) == done
        assert await trails.list_documents_without_trail(db) == []


@pytest.mark.parametrize("data", ["03e3005", "eb84af2", "f2806ab", "06cbe73", "4543527"], indirect=True)
async def test_files_sealed_before_they_carried_a_head_break_no_trail(
    data: Path, request: pytest.FixtureRequest
) -> None:
    config, said = Config.model_validate({"storage": {"data_dir": data}}), list[str]()
    assert await verify_audit(config, None, False, said.append), said
    held = int(request.node.callspec.params["data"] in HEADS_SINCE)
    assert f", {held} of them compared with their sealed files" in said[0]


@pytest.mark.parametrize("data", ["eb84af2"], indirect=True)
async def test_such_a_file_that_is_not_the_one_that_was_sealed_breaks_its_trail(data: Path) -> None:
    async with open_for_command(data / FILE) as db:
        await verify_trails.complete_heads(db, open_vault(KeySource(data / FILE)))
        [row] = await db.all("SELECT id FROM document WHERE status = 'completed'")

        async def judge(content: bytes) -> Verification:
            return cast(Verification, {"result": "valid", "issuedHere": False, "audit": None})

        assert await verify_trails.compare_own_file(db, row["id"], judge, late=True) == (
            True,
            "the file was changed, or was not sealed here",
        )


@pytest.mark.parametrize("data", ["f2806ab"], indirect=True)
async def test_a_broken_trail_is_not_completed(data: Path) -> None:
    keys = open_vault(KeySource(data / FILE))
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("DROP TRIGGER audit_is_never_changed")
        [(victim,)] = connection.execute("SELECT document_id FROM audit WHERE seq = 2 LIMIT 1")
        connection.execute("UPDATE audit SET at = at + 1 WHERE document_id = ? AND seq = 2", (victim,))
        connection.commit()
    async with open_for_command(data / FILE) as db:
        await verify_trails.complete_heads(db, keys)
        broken = [chain.document_id async for chain in verify_trails.recompute(db, keys) if chain.broken]
    assert broken == [victim]


@pytest.mark.parametrize("data", ["4543527"], indirect=True)
async def test_a_late_head_cannot_pass_for_one_that_was_always_there(data: Path) -> None:
    """Who has only the database can have an end vouched for anew, but not without its being said."""
    keys = open_vault(KeySource(data / FILE))
    await open_once(data / FILE)
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("DELETE FROM audit_head")
        connection.execute("INSERT INTO installation (name, value) VALUES ('heads', x'')")
        connection.commit()
    async with open_for_command(data / FILE) as db:
        assert await verify_trails.complete_heads(db, keys) > 0
        assert all([chain.late async for chain in verify_trails.recompute(db, keys)])
        await db.write(lambda tx: tx.run("UPDATE audit_head SET late = 0"))
        assert all([chain.broken async for chain in verify_trails.recompute(db, keys)])


# ---------- databases that a version with the old rule could not open ----------


def upgrade_by_number(path: Path) -> str | None:
    """What the last version without a table did: every script above the number, up to the first that fails."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        search_words.register(connection)
        [(version,)] = connection.execute("PRAGMA user_version")
        for number, script in migrate.list_scripts():
            if version < number <= BEFORE_TABLE:
                try:
                    connection.executescript(
                        f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;"
                    )
                except sqlite3.Error as error:
                    return str(error)
    return None


@every_commit
async def test_a_database_that_an_earlier_upgrade_left_half_way_is_completed(
    data: Path, tmp_path: Path
) -> None:
    upgrade_by_number(data / FILE)
    await assert_present(data / FILE, make(tmp_path / "fresh") / FILE)


@pytest.mark.parametrize("data", ["eb84af2", "1a422e9", "03e3005"], indirect=True)
def test_the_old_rule_could_not_open_all_of_them(data: Path) -> None:
    assert upgrade_by_number(data / FILE) is not None


def traces() -> Iterator[tuple[int, str, str]]:
    for migration in migrate.load_migrations():
        if migration.number <= BEFORE_TABLE:
            yield migration.number, migration.name, migrate.TRACES[migration.name]


@pytest.mark.parametrize(("number", "name", "trace"), list(traces()))
def test_each_script_from_before_the_table_is_known_by_what_it_alone_makes(
    tmp_path: Path, number: int, name: str, trace: str
) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        search_words.register(connection)
        older = [each for each in migrate.load_migrations() if each.number <= BEFORE_TABLE]
        for each in older:
            assert migrate.has_trace(connection, trace) == (each.number > number)
            connection.executescript(each.sql)
        assert migrate.has_trace(connection, trace)
