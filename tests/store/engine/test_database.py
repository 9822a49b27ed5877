"""The writer and its readers, on a real file."""

import asyncio
import fcntl
import os
import resource
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from esign.core.errors import Problem
from esign.store.engine import connections, database, write_ahead_log
from esign.store.engine.connections import FILE, open_database, open_for_command
from esign.store.engine.database import GROUP, SMALL, WAITING, Database, Transaction
from esign.store.engine.failures import DatabaseMoved, StorageFailed
from esign.store.engine.locks import Locked, WriteLock, server_lock
from esign.store.engine.readers import PointReader, ReaderPool
from tests.store.files import modes


@pytest.fixture
async def pairs(db: Database) -> Database:
    """A database with a table in which every write leaves two rows."""

    async def write(tx: Transaction) -> None:
        await tx.run("CREATE TABLE pair (n INTEGER NOT NULL, half INTEGER NOT NULL, UNIQUE (n, half)) STRICT")

    await db.write(write)
    return db


async def put(db: Database, n: int, problem: Exception | None = None) -> int:
    async def write(tx: Transaction) -> int:
        await tx.run("INSERT INTO pair (n, half) VALUES (:n, 1)", n=n)
        if problem is not None:
            raise problem
        await tx.run("INSERT INTO pair (n, half) VALUES (:n, 2)", n=n)
        return n

    return await db.write(write)


async def whole(db: Database) -> list[int]:
    """The numbers that stand there; a half one is a failure."""
    rows = await db.all("SELECT n, count(*) AS halves FROM pair GROUP BY n ORDER BY n")
    assert {row["halves"] for row in rows} <= {2}
    return [row["n"] for row in rows]


async def nothing(tx: Transaction) -> None:
    pass


def commits(path: Path) -> int:
    """How many commits stand in the log: frames that carry a database size (SQLite file format, 4.1)."""
    log = path.with_name(path.name + "-wal").read_bytes()
    if not log:
        return 0
    page, salts = int.from_bytes(log[8:12], "big"), log[16:24]
    frames = [log[at : at + 24] for at in range(32, len(log), 24 + page)]
    return sum(frame[8:16] == salts and frame[4:8] != bytes(4) for frame in frames)


# ---------- group commit ----------


async def test_a_write_returns_what_its_function_returns_and_is_in_the_file(
    pairs: Database, tmp_path: Path
) -> None:
    assert await put(pairs, 7) == 7
    with closing(sqlite3.connect(f"file:{tmp_path / FILE}?mode=ro", uri=True)) as other:
        assert other.execute("SELECT n FROM pair").fetchall() == [(7,), (7,)]


async def test_many_writes_at_once_share_their_commits(pairs: Database, tmp_path: Path) -> None:
    before = commits(tmp_path / FILE)
    assert await asyncio.gather(*(put(pairs, n) for n in range(96))) == list(range(96))
    assert await whole(pairs) == list(range(96))
    assert commits(tmp_path / FILE) - before <= 96 // GROUP + 1


async def test_writes_one_after_the_other_are_each_committed(pairs: Database, tmp_path: Path) -> None:
    before = commits(tmp_path / FILE)
    for n in range(5):
        await put(pairs, n)
    assert commits(tmp_path / FILE) - before == 5


async def test_a_write_that_fails_leaves_nothing_and_harms_no_other(pairs: Database) -> None:
    problems = {n: Problem("document_not_draft") for n in range(0, 40, 3)}
    results = await asyncio.gather(
        *(put(pairs, n, problems.get(n)) for n in range(40)), return_exceptions=True
    )
    assert results == [problems.get(n, n) for n in range(40)]
    assert await whole(pairs) == [n for n in range(40) if n % 3]


async def test_a_broken_rule_of_the_schema_fails_only_its_own_write(pairs: Database) -> None:
    await put(pairs, 1)
    results = await asyncio.gather(put(pairs, 1), put(pairs, 2), return_exceptions=True)
    assert isinstance(results[0], sqlite3.IntegrityError)
    assert results[1] == 2
    assert await whole(pairs) == [1, 2]


async def test_a_function_sees_what_those_before_it_in_the_group_wrote(pairs: Database) -> None:
    async def count(tx: Transaction) -> int:
        row = await tx.one("SELECT count(*) AS n FROM pair")
        assert row is not None
        return int(row["n"])

    results = await asyncio.gather(*(put(pairs, n) for n in range(3)), pairs.write(count), put(pairs, 9))
    assert results == [0, 1, 2, 6, 9]


async def test_rows_changed_are_counted(pairs: Database) -> None:
    await asyncio.gather(*(put(pairs, n) for n in range(3)))

    async def write(tx: Transaction) -> tuple[int, int, object]:
        gone = await tx.run("DELETE FROM pair WHERE n < :n", n=2)
        return (
            gone,
            await tx.run("DELETE FROM pair WHERE n = 5"),
            await tx.one("SELECT 1 FROM pair WHERE n = 5"),
        )

    assert await pairs.write(write) == (4, 0, None)


@pytest.mark.parametrize("size", [1, SMALL + 1])
async def test_a_statement_by_key_belongs_to_its_write(pairs: Database, size: int) -> None:
    await asyncio.gather(*(put(pairs, n) for n in range(3)))

    async def write(tx: Transaction) -> int:
        return await tx.run_by_key("UPDATE pair SET n = 7 WHERE n = :n AND :note <> ''", n=1, note="x" * size)

    async def fail(tx: Transaction) -> int:
        await tx.run_by_key("DELETE FROM pair WHERE n = :n AND :note <> ''", n=0, note="x" * size)
        raise Problem("document_not_draft")

    results = await asyncio.gather(pairs.write(write), pairs.write(fail), return_exceptions=True)
    assert results[0] == 2 and isinstance(results[1], Problem)
    assert await whole(pairs) == [0, 2, 7]


# ---------- readers ----------


async def test_readers_see_nothing_before_the_commit_and_everything_after_it(pairs: Database) -> None:
    written, go_on = asyncio.Event(), asyncio.Event()

    async def write(tx: Transaction) -> None:
        await tx.run("INSERT INTO pair (n, half) VALUES (1, 1)")
        await tx.run("INSERT INTO pair (n, half) VALUES (1, 2)")
        written.set()
        await go_on.wait()

    writing = asyncio.create_task(pairs.write(write))
    await written.wait()
    for _ in range(connections.READERS):
        assert await whole(pairs) == []
    go_on.set()
    await writing
    for _ in range(connections.READERS):
        assert await whole(pairs) == [1]


async def test_readers_cannot_write(pairs: Database) -> None:
    for _ in range(connections.READERS):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            await pairs.all("INSERT INTO pair (n, half) VALUES (1, 1)")
    assert await whole(pairs) == []


async def test_commits_are_durable_and_references_enforced(db: Database) -> None:
    async def write(tx: Transaction) -> dict[str, Any]:
        names = (
            "journal_mode",
            "foreign_keys",
            "wal_autocheckpoint",
            "secure_delete",
            "mmap_size",
            "trusted_schema",
        )
        return {name: (await tx.all(f"PRAGMA {name}"))[0][0] for name in names}

    assert await db.write(write) == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "wal_autocheckpoint": 0,
        "secure_delete": 1,
        "mmap_size": 0,
        "trusted_schema": 0,
    }
    # inside a transaction this setting reads the same and cannot be changed
    assert await db.write(synchronous) == 2


async def synchronous(tx: Transaction) -> int:
    return int((await tx.all("PRAGMA synchronous"))[0][0])


async def test_many_reads_at_once_each_get_their_own_answer(db: Database) -> None:
    async def one(n: int) -> int:
        row = await db.one("SELECT :n AS n", n=n)
        assert row is not None
        return int(row["n"])

    reading = [asyncio.create_task(one(n)) for n in range(300)]
    await asyncio.sleep(0)
    reading[7].cancel()
    wrong = asyncio.create_task(db.all("SELECT * FROM nowhere"))
    results = await asyncio.wait_for(asyncio.gather(*reading, wrong, return_exceptions=True), 20)
    assert isinstance(results.pop(), sqlite3.OperationalError)
    assert isinstance(results.pop(7), asyncio.CancelledError)
    assert results == [n for n in range(300) if n != 7]


# ---------- callers that go away ----------


async def test_a_cancelled_caller_leaves_no_open_transaction_and_a_whole_write_or_none(
    pairs: Database, tmp_path: Path
) -> None:
    tasks = [asyncio.create_task(put(pairs, n)) for n in range(80)]
    for turn in range(0, 80, 4):
        await asyncio.sleep(0)
        tasks[turn].cancel()
        tasks[turn + 1].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    kept = [n for n, result in enumerate(results) if result == n]
    assert len(kept) >= 40
    assert any(isinstance(result, asyncio.CancelledError) for result in results)

    assert await put(pairs, 1000) == 1000
    there = await whole(pairs)
    assert set(kept) <= set(there)
    with closing(sqlite3.connect(tmp_path / FILE, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")


async def test_a_caller_that_goes_away_in_the_middle_of_its_write_still_has_it_written(
    pairs: Database,
) -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def write(tx: Transaction) -> None:
        await tx.run("INSERT INTO pair (n, half) VALUES (1, 1)")
        inside.set()
        await go_on.wait()
        await tx.run("INSERT INTO pair (n, half) VALUES (1, 2)")

    caller = asyncio.create_task(pairs.write(write))
    await inside.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()
    await put(pairs, 2)
    assert await whole(pairs) == [1, 2]


@pytest.mark.parametrize("only", [False, True])
async def test_what_is_only_for_its_caller_is_not_written_once_the_caller_went_away(
    pairs: Database, only: bool
) -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def write(tx: Transaction) -> None:
        inside.set()
        await go_on.wait()

    first = asyncio.create_task(pairs.write(write))
    await inside.wait()

    async def put_one(tx: Transaction) -> None:
        for half in (1, 2):
            await tx.run("INSERT INTO pair (n, half) VALUES (1, :half)", half=half)

    gone = asyncio.create_task(pairs.write(put_one, only_for_caller=only))
    stays = asyncio.create_task(put(pairs, 2))
    await asyncio.sleep(0)
    gone.cancel()
    go_on.set()
    await asyncio.gather(first, gone, stays, return_exceptions=True)
    assert gone.cancelled()
    assert await whole(pairs) == ([2] if only else [1, 2])


# ---------- too much, full, broken ----------


async def test_more_waiting_writes_than_the_bound_are_refused_at_once(pairs: Database) -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def hold(tx: Transaction) -> None:
        inside.set()
        await go_on.wait()

    holding = asyncio.create_task(pairs.write(hold))
    await inside.wait()
    waiting = [asyncio.create_task(put(pairs, n)) for n in range(WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(Problem) as refused:
        await pairs.write(nothing)
    assert (refused.value.code, refused.value.retry_after) == ("unavailable", 1)
    assert refused.value.status == 503

    go_on.set()
    await asyncio.gather(holding, *waiting)
    assert len(await whole(pairs)) == WAITING


async def limit_pages(db: Database, more: int) -> None:
    """From now on the file may grow by `more` pages: as if the disk were full then."""

    async def write(tx: Transaction) -> None:
        (pages,) = await tx.all("PRAGMA page_count")
        await tx.all(f"PRAGMA max_page_count = {pages[0] + more}")

    await db.write(write)


async def put_much(tx: Transaction) -> None:
    await tx.run("CREATE TABLE much (content BLOB) STRICT")
    await tx.run("INSERT INTO much VALUES (zeroblob(4194304))")


async def test_a_full_disk_refuses_what_does_not_fit_and_the_program_goes_on(pairs: Database) -> None:
    await put(pairs, 1)
    await limit_pages(pairs, 20)
    with pytest.raises(Problem) as refused:
        await pairs.write(put_much)
    assert refused.value.code == "unavailable"
    assert not pairs.failed.done()
    assert await whole(pairs) == [1]
    assert await pairs.all("SELECT 1 FROM sqlite_master WHERE name = 'much'") == []

    assert await put(pairs, 2) == 2
    await limit_pages(pairs, 10_000)
    await pairs.write(put_much)
    assert await whole(pairs) == [1, 2]


async def test_nobody_of_a_group_that_met_a_full_disk_is_told_it_was_written(pairs: Database) -> None:
    await limit_pages(pairs, 20)
    results = await asyncio.gather(
        put(pairs, 1), pairs.write(put_much), put(pairs, 2), return_exceptions=True
    )
    assert [getattr(result, "code", result) for result in results] == ["unavailable"] * 3
    assert await whole(pairs) == []


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL])
async def test_what_passes_takes_its_group_back_and_the_next_write_finds_nothing_open(
    pairs: Database, code: int
) -> None:
    error = sqlite3.OperationalError("somebody else is at it")
    error.sqlite_errorcode = code
    results = await asyncio.gather(put(pairs, 1), put(pairs, 2, error), return_exceptions=True)
    assert [getattr(result, "code", result) for result in results] == ["unavailable"] * 2
    assert await put(pairs, 3) == 3
    assert await whole(pairs) == [3]
    assert not pairs.failed.done()


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Every write beyond `size` bytes of any file of this process fails, as on a broken disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_after_a_failed_write_of_the_disk_nothing_is_acknowledged_any_more(tmp_path: Path) -> None:
    path = tmp_path / FILE
    async with open_for_command(path) as db:
        await db.write(put_table)
        await put(db, 1)
        await break_the_disk(db, path)

    async with open_for_command(path) as again:
        assert await whole(again) == [1]


async def break_the_disk(db: Database, path: Path) -> None:
    with largest_file(path.with_name(FILE + "-wal").stat().st_size + 8192):
        results = await asyncio.gather(put(db, 2), db.write(put_much), put(db, 3), return_exceptions=True)
        assert [getattr(result, "code", result) for result in results] == ["unavailable"] * 3
        assert isinstance(db.failed.exception(), StorageFailed)
    with pytest.raises(Problem, match="unavailable"):
        await put(db, 4)


async def put_table(tx: Transaction) -> None:
    await tx.run("CREATE TABLE pair (n INTEGER NOT NULL, half INTEGER NOT NULL) STRICT")


class RefusingConnection:
    """A writing connection whose checkpoints fail with an SQLite result code."""

    def __init__(self, connection: Any, code: int) -> None:
        self._connection = connection
        self._code = code
        self.asked = 0
        self.at_commit: BaseException | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def execute(self, sql: str, values: Any = ()) -> Any:
        if self.at_commit is not None and sql == "COMMIT":
            raise self.at_commit
        return await self._connection.execute(sql, values)

    async def execute_fetchall(self, sql: str, values: Any = ()) -> Any:
        if "wal_checkpoint" not in sql:
            return await self._connection.execute_fetchall(sql, values)
        self.asked += 1
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = self._code
        raise error


@asynccontextmanager
async def refusing_checkpoints(path: Path, code: int) -> AsyncIterator[tuple[Database, RefusingConnection]]:
    connections.prepare(path)
    opened = await connections.connect_writer(path, connections.SERVING_PRAGMAS)
    writer: Any = RefusingConnection(opened.thread, code)
    points = PointReader(path, connections.PRAGMAS)
    db = Database(path, opened._replace(thread=writer), ReaderPool(path, 1, connections.PRAGMAS), points)
    try:
        await db.write(put_table)
        yield db, writer
    finally:
        await db.close()


async def put_a_large_log(tx: Transaction) -> None:
    await tx.run("INSERT INTO pair SELECT value, 1 FROM (WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL"
                 " SELECT value + 1 FROM c WHERE value < 500000) SELECT value FROM c)")  # fmt: skip


async def test_a_full_disk_at_a_checkpoint_leaves_the_log_and_goes_on(tmp_path: Path) -> None:
    async with refusing_checkpoints(tmp_path / FILE, sqlite3.SQLITE_FULL) as (db, writer):
        await db.write(put_a_large_log)
        await put(db, 0)
        assert writer.asked > 0
        assert not db.failed.done()


async def test_a_broken_disk_at_a_checkpoint_stops_the_program(tmp_path: Path) -> None:
    async with refusing_checkpoints(tmp_path / FILE, sqlite3.SQLITE_IOERR | (3 << 8)) as (db, writer):
        await db.write(put_a_large_log)
        with pytest.raises(StorageFailed):
            await asyncio.wait_for(db.failed, 10)
        assert writer.asked == 1
        with pytest.raises(Problem, match="unavailable"):
            await put(db, 1)


class Unforeseen(BaseException):
    """Not even an Exception."""


@pytest.mark.parametrize("error", [MemoryError(), Unforeseen()])
async def test_whatever_ends_the_writer_nobody_waits_for_it(tmp_path: Path, error: BaseException) -> None:
    async with refusing_checkpoints(tmp_path / FILE, sqlite3.SQLITE_FULL) as (db, writer):
        writer.at_commit = error
        both = asyncio.gather(put(db, 1), put(db, 2), return_exceptions=True)
        results = await asyncio.wait_for(both, 10)
        assert [getattr(result, "code", result) for result in results] == ["unavailable"] * 2
        assert isinstance(db.failed.exception(), StorageFailed)
        assert await whole(db) == []
        with pytest.raises(Problem, match="unavailable"):
            await put(db, 3)


async def test_a_large_log_is_brought_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / FILE
    async with open_for_command(path) as db:
        before = path.stat().st_size
        await db.write(put_much)
        await db.write(nothing)
        assert path.stat().st_size > before + 4_000_000


# ---------- the end ----------


async def test_closing_lets_the_waiting_writes_finish_and_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / FILE
    async with open_for_command(path) as db:
        await db.write(put_table)
        waiting = [asyncio.create_task(put(db, n)) for n in range(40)]
        await asyncio.sleep(0)
        await db.close()
        assert await asyncio.gather(*waiting) == list(range(40))
        assert not path.with_name(FILE + "-wal").exists()
        with pytest.raises(Problem, match="unavailable"):
            await db.write(nothing)
    async with open_for_command(path) as again:
        assert await whole(again) == list(range(40))


async def test_reads_that_are_not_answered_before_the_end_are_refused(tmp_path: Path) -> None:
    async with open_for_command(tmp_path / FILE) as db:
        reading = [asyncio.create_task(db.all("SELECT 1 AS one")) for _ in range(200)]
        await asyncio.sleep(0)
        await db.close()
        answers = await asyncio.wait_for(asyncio.gather(*reading, return_exceptions=True), 10)
        assert {getattr(a, "code", "answered") for a in answers} <= {"answered", "unavailable"}
        with pytest.raises(Problem, match="unavailable"):
            await asyncio.wait_for(db.all("SELECT 1"), 10)


async def test_a_write_that_comes_while_the_others_finish_is_refused_and_not_forgotten(
    tmp_path: Path,
) -> None:
    async with open_for_command(tmp_path / FILE) as db:
        await db.write(put_table)
        waiting = asyncio.create_task(put(db, 1))
        await asyncio.sleep(0)
        closing_ = asyncio.create_task(db.close())
        await asyncio.sleep(0)
        with pytest.raises(Problem, match="unavailable"):
            await asyncio.wait_for(put(db, 2), 10)
        await closing_
        assert await waiting == 1


async def test_a_write_that_never_ends_does_not_keep_the_database_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "CLOSING_SECONDS", 0.05)

    async def hang(tx: Transaction) -> None:
        await tx.run("INSERT INTO pair (n, half) VALUES (1, 1)")
        await asyncio.Event().wait()

    async with open_for_command(tmp_path / FILE) as db:
        await db.write(put_table)
        both = asyncio.gather(db.write(hang), put(db, 2), return_exceptions=True)
        await asyncio.sleep(0)
        await asyncio.wait_for(db.close(), 10)
        assert [getattr(each, "code", each) for each in await both] == ["unavailable"] * 2
    async with open_for_command(tmp_path / FILE) as again:
        assert await whole(again) == []


async def test_what_fails_while_opening_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(sqlite3.OperationalError):
        await connections.connect_writer(tmp_path / FILE, ["PRAGMA busy_timeout = 1", "no statement at all"])
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


# ---------- two at once ----------


async def test_a_command_and_the_server_write_the_same_file_without_loss(
    pairs: Database, tmp_path: Path
) -> None:
    async with open_for_command(tmp_path / FILE) as command:
        await asyncio.gather(*(put(db, n) for n in range(60) for db in [(pairs, command)[n % 2]]))
        assert await whole(command) == await whole(pairs) == list(range(60))


async def test_a_write_waits_while_another_process_holds_the_advisory_lock(
    pairs: Database, tmp_path: Path
) -> None:
    handle = os.open(tmp_path / "write.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    writing = asyncio.create_task(put(pairs, 1))
    done, _ = await asyncio.wait({writing}, timeout=0.2)
    assert not done
    assert await whole(pairs) == []
    os.close(handle)
    assert await writing == 1


@contextmanager
def foreign_lock(folder: Path, kind: str) -> Iterator[None]:
    """What another process does: hold `write.lock`, or a write transaction on the database."""
    if kind == "write.lock":
        handle = os.open(folder / "write.lock", os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
    else:
        with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["write.lock", "transaction"])
async def test_a_lock_of_another_process_refuses_all_who_wait_within_two_seconds_and_then_it_goes_on(
    pairs: Database, tmp_path: Path, kind: str
) -> None:
    loop = asyncio.get_running_loop()
    took: list[float] = []

    async def refuse_write(n: int) -> None:
        began = loop.time()
        with pytest.raises(Problem) as problem:
            await put(pairs, n)
        took.append(loop.time() - began)
        assert (problem.value.status, problem.value.retry_after) == (503, 1)

    with foreign_lock(tmp_path, kind):
        first = [asyncio.create_task(refuse_write(n)) for n in range(3 * GROUP)]
        await asyncio.wait(first, timeout=0.7)  # others come while these wait
        assert await whole(pairs) == []  # reading goes on
        await asyncio.wait_for(asyncio.gather(*first, *(refuse_write(n) for n in range(3 * GROUP, 80))), 20)
        assert max(took) < 2
    assert await put(pairs, 1000) == 1000
    assert await whole(pairs) == [1000]
    assert not pairs.failed.done()


async def test_a_lock_of_another_process_that_ends_in_time_refuses_nobody(
    pairs: Database, tmp_path: Path
) -> None:
    for kind in ("write.lock", "transaction"):
        with foreign_lock(tmp_path, kind):
            waiting = [asyncio.create_task(put(pairs, n)) for n in range(20)]
            done, _ = await asyncio.wait(waiting, timeout=0.2)
            assert not done
        assert await asyncio.gather(*waiting) == list(range(20))
        await pairs.write(lambda tx: tx.run("DELETE FROM pair"))


async def test_a_write_lock_that_was_deleted_still_keeps_two_apart(pairs: Database, tmp_path: Path) -> None:
    await put(pairs, 1)
    (tmp_path / "write.lock").unlink()
    await put(pairs, 2)
    assert (tmp_path / "write.lock").exists()
    (tmp_path / "write.lock").unlink()
    another = WriteLock(tmp_path / FILE)  # a command that begins now
    assert another.try_hold()
    writing = asyncio.create_task(put(pairs, 3))
    done, _ = await asyncio.wait({writing}, timeout=0.2)
    assert not done
    another.release()
    assert await writing == 3
    another.close()


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("then", ["moved", "replaced", "deleted"])
async def test_nothing_is_acknowledged_that_would_be_written_to_a_database_out_of_its_place(
    tmp_path: Path, what: str, then: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    db = await open_database(data / FILE)
    await db.write(lambda tx: tx.run("CREATE TABLE pair (n INTEGER) STRICT"))
    place = data if what == "folder" else data / FILE
    aside = tmp_path / "aside"
    if then == "deleted":
        (data / FILE).unlink()
    else:
        place.rename(aside)
    if then == "replaced":
        shutil.copytree(aside, data) if what == "folder" else shutil.copy(aside, place)
    for _ in range(2):
        with pytest.raises(Problem) as refused:
            await db.write(lambda tx: tx.run("INSERT INTO pair VALUES (1)"))
        assert refused.value.code == "unavailable"
    assert isinstance(db.failed.exception(), DatabaseMoved)
    await db.close()


async def test_a_start_does_not_wait_for_a_lock_for_ever(
    pairs: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STARTING_SECONDS", 0.05)
    with foreign_lock(tmp_path, "write.lock"), pytest.raises(Locked, match="holds write"):
        await asyncio.to_thread(connections.prepare, tmp_path / FILE)


# ---------- a long reader ----------


@contextmanager
def long_reader(path: Path) -> Iterator[None]:
    """What a backup does: one read transaction for as long as it takes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield


async def put_more(db: Database) -> None:
    await db.write(lambda tx: tx.run("INSERT INTO much VALUES (zeroblob(65536))"))


async def test_nobody_waits_for_a_long_reader_and_the_log_is_cut_after_it(
    pairs: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_ahead_log, "LARGE_LOG", 2**20)
    monkeypatch.setattr(write_ahead_log, "CHECKPOINT_PAGES", 10)
    monkeypatch.setattr(write_ahead_log, "TRUNCATE_SECONDS", 0)
    log = tmp_path / (FILE + "-wal")
    with long_reader(tmp_path / FILE):
        await pairs.write(put_much)
        async with asyncio.timeout(10):  # one commit waited as long before
            for n in range(100):
                await put(pairs, n)
        assert log.stat().st_size > 4 * 2**20
        async with asyncio.timeout(20):
            while (large := pairs.wal.find_large()) is None:
                await put_more(pairs)
        assert large.size >= 4 * 2**20 and large.seconds >= 0
        assert await whole(pairs) == list(range(100))
    async with asyncio.timeout(20):
        while pairs.wal.find_large() is not None:
            await put_more(pairs)
    assert log.stat().st_size <= 2**20


async def test_every_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    usual = os.umask(0)
    try:
        with server_lock(tmp_path):
            async with open_for_command(tmp_path / FILE) as db:
                await db.write(put_table)
                found = modes(tmp_path)
    finally:
        os.umask(usual)
    assert set(found) == {FILE, FILE + "-wal", FILE + "-shm", "write.lock", "lock"}
    assert set(found.values()) == {0o600}


# ---------- points ----------


async def test_a_point_read_sees_each_commit_at_once_and_cannot_write(pairs: Database) -> None:
    for n in range(20):
        await put(pairs, n)
        row = await pairs.points.one("SELECT max(n) AS newest FROM pair")
        assert row is not None and row["newest"] == n
    assert await pairs.points.one("SELECT n FROM pair WHERE n = :n", n=99) is None
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await pairs.points.one("DELETE FROM pair")


async def test_a_point_read_ends_after_so_many_steps(pairs: Database) -> None:
    many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :most) SELECT i FROM n"
    for _ in range(2):
        found = await pairs.points.all_within(10_000, many, most=100)
        assert found is not None and len(found) == 100
        assert await pairs.points.all_within(10_000, many, most=10_000) is None
        assert len(await pairs.points.all(many, most=10_000)) == 10_000
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await pairs.points.all_within(10_000, "SELECT 1 FROM nowhere")


async def test_after_the_end_a_point_read_is_refused(tmp_path: Path) -> None:
    async with open_for_command(tmp_path / FILE) as db:
        pass
    with pytest.raises(Problem) as refused:
        await db.points.one("SELECT 1")
    assert refused.value.code == "unavailable"
