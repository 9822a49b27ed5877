"""Statements that take microseconds run on the event loop; all others leave it free."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from esign.store.engine import database, search_index, write_ahead_log
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Transaction
from tests.factories import a_document, a_recipient


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
        ("INSERT INTO search_index (rowid, words) VALUES (:number, :words)", True),
        ("INSERT INTO search_index (search_index, rank) VALUES ('merge', :pages)", False),
        ("INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', :number, :words)", False),
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


async def test_what_the_index_of_words_writes_leaves_the_event_loop_free(tmp_path: Path) -> None:
    """FTS5 keeps words in memory, and writes them at a savepoint, a merge or the commit, whoever causes it."""
    written: set[int] = set()
    indexed: dict[bool, list[int]] = {True: [], False: []}

    def note(sql: str) -> None:
        if sql.startswith("--") and "search_index_data" in sql and "SELECT" not in sql:
            written.add(threading.get_ident())
        elif sql.startswith("INSERT INTO search_index (rowid"):
            indexed[len(sql) > database.FEW_WORDS].append(threading.get_ident())

    async def write(tx: Transaction, first: int, people: int) -> None:
        for n in range(first, first + 4):
            named = tuple(a_recipient(f"Person {n} {m}", email=f"{n}.{m}@example.com") for m in range(people))
            await search_index.index_document(tx, a_document(id=f"doc_{n:026}", recipients=named))

    async def forget(tx: Transaction) -> None:
        await search_index.forget(tx, f"doc_{10:026}")

    async with open_for_command(tmp_path / FILE) as db:
        db._connection.here.set_trace_callback(note)
        for first in range(0, 64, 8):
            people = 1 if first % 16 else 40
            await asyncio.gather(
                db.write(partial(write, first=first, people=people)),
                db.write(partial(write, first=first + 4, people=people)),
                db.write(nothing),
            )
        await asyncio.gather(db.write(forget), db.write(nothing))
        while await db.write(lambda tx: search_index.compact(tx, 32)):
            pass
        db._connection.here.set_trace_callback(None)
    assert written and threading.get_ident() not in written
    assert set(indexed[False]) == {threading.get_ident()}
    assert indexed[True] and threading.get_ident() not in indexed[True]


async def nothing(tx: Transaction) -> None:
    pass


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
