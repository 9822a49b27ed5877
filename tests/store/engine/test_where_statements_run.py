"""Statements that take microseconds run on the event loop; all others leave it free."""

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from esign.store.engine import database, write_ahead_log
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Transaction


@pytest.mark.parametrize(
    ("sql", "adds"),
    [
        ("INSERT INTO pair (a, b) VALUES (:a, :b)", True),
        ("  insert into pair (a, b)\n VALUES (:a, :b) ON CONFLICT DO UPDATE SET b = :b", True),
        ("INSERT INTO pair SELECT a + 1, b FROM pair", False),
        ("INSERT INTO pair (a, b) VALUES ((SELECT count(*) FROM pair), 1)", False),
        ("INSERT OR REPLACE INTO pair (a, b) VALUES (:a, :b)", False),
        ("UPDATE pair SET b = 1", False),
        ("DELETE FROM pair", False),
        ("WITH old AS (SELECT 1) INSERT INTO pair VALUES (1, 2)", False),
    ],
)
def test_only_an_insert_of_its_own_values_adds_a_row(sql: str, adds: bool) -> None:
    assert database.adds_row(sql) is adds


@asynccontextmanager
async def watch_threads(path: Path) -> AsyncIterator[tuple[Database, dict[str, int]]]:
    """A database, and the thread that ran each statement last, by its beginning."""
    ran: dict[str, int] = {}

    async def create(tx: Transaction) -> None:
        await tx.run("CREATE TABLE pair (a INTEGER PRIMARY KEY, b)")

    def note(sql: str) -> None:
        ran[" ".join(sql.split()[:2])] = threading.get_ident()

    async with open_for_command(path) as db:
        await db.write(create)
        here: sqlite3.Connection = db._connection.here
        here.set_trace_callback(note)
        yield db, ran
        here.set_trace_callback(None)


async def put(tx: Transaction, a: int, b: Any) -> None:
    await tx.run("INSERT INTO pair (a, b) VALUES (:a, :b)", a=a, b=b)


async def test_a_small_row_is_written_on_the_event_loop_and_a_large_one_in_a_thread(tmp_path: Path) -> None:
    async with watch_threads(tmp_path / FILE) as (db, ran):
        await db.write(lambda tx: put(tx, 1, b"x" * database.SMALL))
        assert ran["INSERT INTO"] == threading.get_ident()
        assert ran["COMMIT"] != threading.get_ident()
        await db.write(lambda tx: put(tx, 2, b"x" * (database.SMALL + 1)))
        assert ran["INSERT INTO"] != threading.get_ident()
        assert len(await db.all("SELECT a FROM pair")) == 2


async def test_small_rows_need_the_thread_only_for_the_commit(tmp_path: Path) -> None:
    async with watch_threads(tmp_path / FILE) as (db, ran):
        await db.write(lambda tx: put(tx, 1, b"small"))
        assert {beginning for beginning, thread in ran.items() if thread != threading.get_ident()} == {
            "COMMIT"
        }


async def test_many_rows_and_changes_of_unknown_size_leave_the_event_loop_free(tmp_path: Path) -> None:
    async def write(tx: Transaction) -> None:
        rows: list[dict[str, object]] = [{"a": n, "b": n} for n in range(database.FEW + 1)]
        await tx.run_many("INSERT INTO pair (a, b) VALUES (:a, :b)", rows)
        await tx.run("UPDATE pair SET b = b + 1")
        assert [row["b"] for row in await tx.all("SELECT b FROM pair WHERE a < 2 ORDER BY a")] == [1, 2]

    async with watch_threads(tmp_path / FILE) as (db, ran):
        await db.write(write)
        for beginning in ("INSERT INTO", "UPDATE pair", "SELECT b"):
            assert ran[beginning] != threading.get_ident()


async def test_points_of_a_transaction_see_what_it_wrote(tmp_path: Path) -> None:
    async def write(tx: Transaction) -> object:
        await tx.run_many("INSERT INTO pair (a, b) VALUES (:a, :b)", [{"a": 1, "b": "one"}])
        found = await tx.points.one("SELECT b FROM pair WHERE a = :a", a=1)
        assert await tx.points.one("SELECT b FROM pair WHERE a = :a", a=2) is None
        return found and found["b"]

    async with watch_threads(tmp_path / FILE) as (db, ran):
        assert await db.write(write) == "one"
        assert ran["SELECT b"] == threading.get_ident()


async def test_a_row_that_is_refused_on_the_event_loop_undoes_only_its_own_function(tmp_path: Path) -> None:
    async with watch_threads(tmp_path / FILE) as (db, _):
        await db.write(lambda tx: put(tx, 1, "kept"))

        async def write_twice(tx: Transaction) -> None:
            await put(tx, 2, "undone")
            await put(tx, 1, "refused")

        with pytest.raises(sqlite3.IntegrityError):
            await db.write(write_twice)
        assert [row["a"] for row in await db.all("SELECT a FROM pair")] == [1]


async def test_points_give_text_that_is_not_utf_8_as_bytes(tmp_path: Path) -> None:
    async def write(tx: Transaction) -> object:
        await tx.run("INSERT INTO pair (a, b) VALUES (1, CAST(x'ff41' AS TEXT))")
        found = await tx.points.one("SELECT b FROM pair WHERE a = 1")
        return found and found["b"]

    async with watch_threads(tmp_path / FILE) as (db, _):
        assert await db.write(write) == b"\xffA"


async def test_a_change_that_returns_such_text_runs_once(tmp_path: Path) -> None:
    async def write(tx: Transaction) -> object:
        await tx.run("INSERT INTO pair (a, b) VALUES (1, CAST(x'ff41' AS TEXT))")
        with pytest.raises(sqlite3.OperationalError):
            await tx.points.one("UPDATE pair SET a = a + 1 WHERE a > :a RETURNING b", a=0)
        return [row["a"] for row in await tx.points.all("SELECT a FROM pair")]

    async with watch_threads(tmp_path / FILE) as (db, _):
        assert await db.write(write) == [2]


async def test_a_small_change_by_a_key_is_made_on_the_event_loop(tmp_path: Path) -> None:
    sql = "UPDATE pair SET b = :b WHERE a = :a"
    async with watch_threads(tmp_path / FILE) as (db, ran):
        await db.write(lambda tx: put(tx, 1, "before"))
        assert await db.write(lambda tx: tx.run_by_key(sql, a=1, b="after")) == 1
        assert ran["UPDATE pair"] == threading.get_ident()
        assert await db.write(lambda tx: tx.run_by_key(sql, a=1, b=b"x" * (database.SMALL + 1))) == 1
        assert ran["UPDATE pair"] != threading.get_ident()
        assert await db.write(lambda tx: tx.run_by_key(sql, a=2, b="nobody")) == 0


async def test_a_log_that_does_not_grow_is_brought_into_the_file_after_some_commits(tmp_path: Path) -> None:
    async def put_large(tx: Transaction) -> None:
        await put(tx, 0, b"x" * 5 * 2**20)

    async def put_next(tx: Transaction) -> None:
        await tx.run("INSERT INTO pair (b) VALUES (1)")

    checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
    async with watch_threads(tmp_path / FILE) as (db, ran):
        await db.write(put_large)
        await db.write(put_next)  # begins when the writer has looked at the log
        assert checkpoint in ran
        ran.clear()
        for _ in range(write_ahead_log.CHECKPOINT_COMMITS - 2):
            await db.write(put_next)
        assert checkpoint not in ran
        for _ in range(3):
            await db.write(put_next)
        assert checkpoint in ran
