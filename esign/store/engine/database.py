"""One SQLite file: a writer task that owns the only writing connection, and a few readers.

Measured: 360 commits a second alone, over 3,000 units a second when up to 16 share a commit, all durable (WAL,
synchronous=FULL). A cancelled request only abandons its future: the transaction ends either way.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import aiosqlite

from esign.core.errors import Problem
from esign.store.engine.failures import (
    DatabaseMoved,
    StorageFailed,
    is_locked,
    is_passing,
    is_storage,
    result_code,
)
from esign.store.engine.locks import POLL_SECONDS, WriteLock
from esign.store.engine.readers import (
    PointReader,
    ReaderPool,
    decode_leniently,
    fetch_leniently,
    is_undecodable,
)
from esign.store.engine.readers import Row as Row  # what both sides of the database give
from esign.store.engine.unreadable_rows import DamageLog
from esign.store.engine.write_ahead_log import WriteAheadLog
from esign.system.supervision import Heartbeat, describe_end

log = logging.getLogger("esign.store")

T = TypeVar("T")

GROUP = 16
SMALL, FEW = 256 * 2**10, 16  # values (bytes) and rows that are written on the event loop
FEW_WORDS = 1_000  # characters of words that are indexed there: 60 µs; those of 100 recipients take 0.6 ms
INDEX = "search_index"  # the table of FTS5, whose statements do more than they say
WAITING = 500
CHECKPOINT_SECONDS = 30.0
LOCKED_SECONDS = 1.5  # a write waits for a lock of another process; its caller gets an answer within 2
CLOSING_SECONDS = 5.0


class Reader(Protocol):
    """The source of a query: the database, or a transaction, which also sees its own writes."""

    async def all(self, sql: str, **values: object) -> list[Row]: ...

    async def one(self, sql: str, **values: object) -> Row | None: ...

    @property
    def damage(self) -> DamageLog: ...


class WritingConnection(NamedTuple):
    """The connection of the writer: itself, for what takes microseconds, and its thread for everything else.

    The writer runs one statement after the other, so only one of the two uses the connection at a time.
    """

    here: sqlite3.Connection
    thread: aiosqlite.Connection


class Transaction:
    """The statements that a write function may await, on the writing connection; it awaits nothing else.

    An INSERT of one row, `run_by_key` and a read by `points` run at once on the thread of the event loop: they take
    10 to 30 µs, and the way to a thread and back takes 80. The index of words is different: see `run`.
    """

    def __init__(self, connection: WritingConnection, damage: DamageLog) -> None:
        self._here, self._connection = connection
        self.points = TransactionPoints(connection.here, damage)
        self.damage = damage
        self.has_work = False
        self.has_indexed = False  # FTS5 holds words that it writes at the next savepoint or at the commit

    def wake_workers(self) -> None:
        """Wake the workers once the transaction is committed."""
        self.has_work = True

    async def all(self, sql: str, **values: object) -> list[Row]:
        """Return all rows; text that is not UTF-8 comes as bytes."""
        try:
            return list(await self._connection.execute_fetchall(sql, values))
        except sqlite3.OperationalError as error:
            if not may_run_again(sql, error):
                raise
        self._connection.text_factory = decode_leniently
        try:
            return list(await self._connection.execute_fetchall(sql, values))
        finally:
            self._connection.text_factory = str

    async def one(self, sql: str, **values: object) -> Row | None:
        """Return the first row, or None."""
        rows = await self.all(sql, **values)
        return rows[0] if rows else None

    async def run(self, sql: str, **values: object) -> int:
        """Run a statement and return the number of rows that changed.

        Of what changes the index of words, only a few words are indexed on the event loop.
        """
        if INDEX in sql:
            self.has_indexed = True
            if measure_values(values) > FEW_WORDS:
                return await self._run_in_thread(sql, values)
        if adds_row(sql):
            return await self.run_by_key(sql, **values)
        return await self._run_in_thread(sql, values)

    async def run_by_key(self, sql: str, **values: object) -> int:
        """Do the same with a statement that finds its few rows by a key; one with large values runs in the thread."""
        if measure_values(values) > SMALL:
            return await self._run_in_thread(sql, values)
        return self._here.execute(sql, values).rowcount

    async def _run_in_thread(self, sql: str, values: dict[str, object]) -> int:
        cursor = await self._connection.execute(sql, values)
        return cursor.rowcount

    async def run_and_wake(self, sql: str, **values: object) -> int:
        """Run a statement that makes work, and return the number of rows that changed; the workers wake for any."""
        changed = await self.run(sql, **values)
        if changed:
            self.wake_workers()
        return changed

    async def run_many(self, sql: str, rows: Sequence[dict[str, object]]) -> None:
        """Run a statement once for each row of values."""
        if (
            len(rows) <= FEW
            and adds_row(sql)
            and sum(map(measure_values, rows)) <= SMALL
            and INDEX not in sql
        ):
            self._here.executemany(sql, rows)
            return
        await self._connection.executemany(sql, rows)


class TransactionPoints:
    """Statements on few rows by a key that return rows, run at once on the thread of the event loop."""

    def __init__(self, connection: sqlite3.Connection, damage: DamageLog) -> None:
        self._connection = connection
        self.damage = damage

    async def all(self, sql: str, **values: object) -> list[Row]:
        """Return all rows; text that is not UTF-8 comes as bytes."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if not may_run_again(sql, error):
                raise
            return fetch_leniently(self._connection, sql, values)

    async def one(self, sql: str, **values: object) -> Row | None:
        """Return the first row, or None."""
        rows = await self.all(sql, **values)
        return rows[0] if rows else None


def may_run_again(sql: str, error: Exception) -> bool:
    """Return whether a statement that failed because of text that is not UTF-8 writes nothing, so may run twice."""
    return is_undecodable(error) and sql.lstrip().startswith("SELECT")


@cache
def adds_row(sql: str) -> bool:
    """Return whether a statement is an INSERT of the row that its parameters hold.

    One whose first column is the index itself is a command to FTS5, such as to merge it, and takes up to 70 ms.
    """
    text = sql.upper()
    begins = text.split()[:4]
    is_command = f"({INDEX.upper()}," in begins
    return begins[:2] == ["INSERT", "INTO"] and "VALUES" in text and "SELECT" not in text and not is_command


def measure_values(values: Mapping[str, object]) -> int:
    """Return how long the texts and contents among the values are, in characters and bytes."""
    return sum(len(value) for value in values.values() if isinstance(value, str | bytes))


Write = Callable[[Transaction], Awaitable[T]]


@dataclass(slots=True)
class QueuedWrite(Generic[T]):
    """A write, and until when (in the time of the event loop) it waits for a lock of another process.

    `only_for_caller` says that nothing is written once its caller has gone.
    """

    write: Write[T]
    future: asyncio.Future[T]
    until: float
    only_for_caller: bool = False


class Database:
    """`write` runs a function in a durable transaction; `all`, `one` and `points` read what is committed."""

    def __init__(
        self, path: Path, writer: WritingConnection, readers: ReaderPool, points: PointReader
    ) -> None:
        self._path = path
        self._connection = writer
        self._writer = writer.thread
        self._readers = readers
        self.points = points
        self.damage = points.damage
        self._queue: asyncio.Queue[QueuedWrite[Any]] = asyncio.Queue(WAITING)
        self._lock = WriteLock(path)
        self.wal = WriteAheadLog(path, writer.thread, self._lock)
        self._identity = identify_file(path)
        self.on_work: Callable[[], None] | None = None  # called after a commit that made work for the workers
        self.on_full: Callable[[], None] | None = None  # called when a write found no room on the disk
        self._closed = False
        self.heartbeat = Heartbeat("database writer")
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failed.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._task = self._start_writer()

    async def all(self, sql: str, **values: object) -> list[Row]:
        """Return all rows. Raises `unavailable` when the database is closed or locked."""
        return await self._readers.all(sql, values)

    async def one(self, sql: str, **values: object) -> Row | None:
        """Return the first row, or None."""
        rows = await self.all(sql, **values)
        return rows[0] if rows else None

    async def write(self, write: Write[T], *, only_for_caller: bool = False) -> T:
        """Run `write` in a transaction; its result is durable when it returns.

        A caller that goes away has it written all the same, because it may record what has happened. With
        `only_for_caller` nothing is written if the caller goes away before its turn: a job that it claims would be
        worked on by nobody.

        Raises what `write` raises, and `unavailable` when it cannot be queued or committed.
        """
        if self._closed or self.failed.done():
            raise Problem("unavailable")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        try:
            self._queue.put_nowait(QueuedWrite(write, future, loop.time() + LOCKED_SECONDS, only_for_caller))
        except asyncio.QueueFull:
            raise Problem("unavailable", retry_after=1) from None
        return await future

    async def close(self) -> None:
        """Let the queued writes finish, checkpoint the log and close; a second call does nothing.

        A write that does not end is rolled back, and the callers that still wait get `unavailable`.
        """
        if self._closed:
            return
        self._closed = True
        if not self._task.done():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue.join(), CLOSING_SECONDS)
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        try:
            if not self.failed.done():
                self.failed.cancel()
                await self.wal.checkpoint()
        finally:
            await self._writer.close()
            self._readers.close()
            self.points.close()
            self._lock.close()

    def _start_writer(self) -> asyncio.Task[None]:
        task = asyncio.create_task(self._work(), name="database writer")
        task.add_done_callback(self._note_end)
        # A commit may be under way in a thread, which nothing can stop: a hang is told, and not cancelled.
        self.heartbeat.task = task
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        """Start the writer again unless the database is closed or its storage failed."""
        error = None if task.cancelled() else task.exception()
        if self._closed or self.failed.done():
            return
        reason = describe_end(task.cancelled(), error, is_hung=False)
        log.error("the writer of the database ended and is started again: %s", reason, exc_info=error)
        self.heartbeat.note_restart(reason)
        self._task = self._start_writer()

    async def _work(self) -> None:
        """Commit queued writes in groups, and tend the log while there are none, until the database is closed."""
        while True:
            self.heartbeat.beat(CHECKPOINT_SECONDS)
            group = await self._next_group()
            self.heartbeat.beat()
            try:
                await (self._commit(group) if group else self.wal.tend())
            except BaseException as error:  # no caller may wait for ever for a writer that ended
                if isinstance(error, asyncio.CancelledError) and not self._closed:
                    # Not the storage: what was begun is rolled back, and another task goes on.
                    for queued in group:
                        settle(queued.future, None, Problem("unavailable"))
                    raise
                self._stop(group, error)
                if isinstance(error, Exception):
                    return
                raise
            finally:
                for _ in group:
                    self._queue.task_done()

    async def _next_group(self) -> list[QueuedWrite[Any]]:
        """Return the queued writes that one commit takes, or an empty list after a while without writes."""
        try:
            async with asyncio.timeout(CHECKPOINT_SECONDS):
                group = [await self._queue.get()]
        except TimeoutError:
            return []
        while len(group) < GROUP and not self._queue.empty():
            group.append(self._queue.get_nowait())
        return group

    async def _commit(self, group: list[QueuedWrite[Any]]) -> None:
        """Run the whole group in one transaction, each function in its own savepoint."""
        group = await self._begin(group)
        if not group:
            return
        results: list[tuple[QueuedWrite[Any], Any, BaseException | None]] = []
        tx = Transaction(self._connection, self.damage)
        try:
            for queued in group:
                if not (queued.only_for_caller and queued.future.cancelled()):
                    results.append(await self._run_unit(tx, queued))
            await self._writer.execute("COMMIT")
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                await self._writer.execute(
                    "SELECT 1"
                )  # after the statement that its thread still carries out
            if self._writer.in_transaction:
                await self._writer.execute("ROLLBACK")
            if not is_passing(error):
                raise
            if result_code(error) == sqlite3.SQLITE_FULL and self.on_full is not None:
                self.on_full()
            results = [(queued, None, Problem("unavailable")) for queued in group]
        finally:
            self._lock.release()
        for queued, result, problem in results:
            settle(queued.future, result, problem)
        if tx.has_work and self.on_work is not None:
            self.on_work()
        if self.wal.is_due():
            await self.wal.tend()

    async def _begin(self, group: list[QueuedWrite[Any]]) -> list[QueuedWrite[Any]]:
        """Take both locks, begin a transaction, and return the writes that still wait.

        A write that waits too long for a lock of another process is refused and not carried out. If none is
        left, no transaction is begun.
        """
        loop = asyncio.get_running_loop()
        while not await self._try_begin():
            now = loop.time()
            for queued in group:
                if queued.until <= now:
                    settle(queued.future, None, Problem("unavailable", retry_after=1))
            group = [queued for queued in group if queued.until > now]
            if not group:
                break
            await asyncio.sleep(POLL_SECONDS)
        return group

    async def _try_begin(self) -> bool:
        """Take both locks and begin a transaction; return False if another process holds one. Raises
        DatabaseMoved.
        """
        if identify_file(self._path) != self._identity:
            raise DatabaseMoved
        if not self._lock.try_hold():
            return False
        try:
            self._connection.here.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self._lock.release()
            if is_locked(error):
                return False
            raise
        return True

    async def _run_unit(
        self, tx: Transaction, queued: QueuedWrite[Any]
    ) -> tuple[QueuedWrite[Any], Any, BaseException | None]:
        """Run one write in a savepoint, which ends with the transaction; return its result or its error.

        Errors of the storage are raised, because they concern the whole group.
        """
        if tx.has_indexed:  # FTS5 writes here what it holds of the writes before: up to 13 ms
            await self._writer.execute("SAVEPOINT unit")
            tx.has_indexed = False
        else:
            self._connection.here.execute("SAVEPOINT unit")
        try:
            result = await queued.write(tx)
        except Exception as error:
            if is_storage(error):
                raise
            await self._writer.execute("ROLLBACK TO unit")
            return queued, None, error
        return queued, result, None

    def _stop(self, group: Iterable[QueuedWrite[Any]], error: BaseException) -> None:
        """Refuse every waiting write and report why: after a failed write none may be acknowledged."""
        waiting = [*group]
        while not self._queue.empty():
            waiting.append(self._queue.get_nowait())
            self._queue.task_done()
        for queued in waiting:
            settle(queued.future, None, Problem("unavailable"))
        if not self.failed.done():
            self.failed.set_exception(
                error if isinstance(error, DatabaseMoved) else StorageFailed(str(error))
            )


def identify_file(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, or None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def settle(future: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    """Set the result or the error of a future whose caller still waits."""
    if future.done():
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)
