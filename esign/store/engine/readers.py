"""Reading connections, each with a thread. Queries that arrive while they are busy are run together in the next
turn.

A turn to a thread and back takes longer than a point read itself (measured: 150 µs against 10 µs), so one turn
answers all waiting queries: under load, many requests share it. aiosqlite takes a turn for each statement.
"""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from esign.core.errors import Problem
from esign.store.engine.failures import is_locked, result_code
from esign.store.engine.unreadable_rows import DamageLog

Row = sqlite3.Row
Asked = tuple[str, dict[str, object], asyncio.Future[list[Row]]]
Answered = tuple[asyncio.Future[list[Row]], list[Row] | None, Exception | None]

MOST = 32


class ReaderPool:
    """A pool of connections that only read; `all` returns rows of what is committed."""

    def __init__(self, path: Path, count: int, pragmas: Iterable[str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._free = [connect(path, pragmas) for _ in range(count)]
        self._connections = tuple(self._free)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="reader")
        self._waiting: list[Asked] = []
        self._closed = False

    async def all(self, sql: str, values: dict[str, object]) -> list[Row]:
        """Return all rows.

        Raises `unavailable` if the pool is closed before it runs the query, or the database is locked.
        """
        if self._closed:
            raise Problem("unavailable")
        future: asyncio.Future[list[Row]] = self._loop.create_future()
        self._waiting.append((sql, values, future))
        if len(self._waiting) == 1:
            self._loop.call_soon(self._start)  # after the other queries of this turn of the event loop
        return await future

    def close(self) -> None:
        """Refuse the waiting queries and close the connections."""
        self._closed = True
        for _, _, future in self._waiting:
            if not future.done():
                future.set_exception(Problem("unavailable"))
        self._waiting.clear()
        self._threads.shutdown()
        for connection in self._connections:
            connection.close()

    def _start(self) -> None:
        """Give the waiting queries to a free connection, if there is one."""
        if self._free and self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            self._threads.submit(self._work, self._free.pop(), batch)
            if self._waiting:
                self._loop.call_soon(self._start)

    def _work(self, connection: sqlite3.Connection, batch: Sequence[Asked]) -> None:
        """Run a batch of queries in a thread."""
        answers = [run_query(connection, asked) for asked in batch]
        self._loop.call_soon_threadsafe(self._finish, connection, answers)

    def _finish(self, connection: sqlite3.Connection, answers: Sequence[Answered]) -> None:
        """Set the results of a batch and take the next one."""
        self._free.append(connection)
        for future, rows, error in answers:
            if future.done():
                continue
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(rows or [])
        if self._waiting:
            self._loop.call_soon(self._start)


class PointReader:
    """Reads of one row by its key, run at once on the thread of the event loop: the queries of every request.

    It sees what is committed, like every reader. A page that is not in memory is read from disk while the event
    loop waits.
    """

    def __init__(self, path: Path, pragmas: Iterable[str]) -> None:
        self._connection: sqlite3.Connection | None = connect(path, pragmas)
        self.damage = DamageLog()

    async def all(self, sql: str, **values: object) -> list[Row]:
        """Return all rows. Raises `unavailable` once it is closed, or when the database is locked."""
        if self._connection is None:
            raise Problem("unavailable")
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if is_locked(error):
                raise Problem("unavailable", retry_after=1) from error
            if not is_undecodable(error):
                raise
            return fetch_leniently(self._connection, sql, values)

    async def one(self, sql: str, **values: object) -> Row | None:
        """Return the first row, or None."""
        rows = await self.all(sql, **values)
        return rows[0] if rows else None

    async def all_within(self, steps: int, sql: str, **values: object) -> list[Row] | None:
        """Return all rows, or None if SQLite needs more than so many steps of its machine. Ten thousand take 0.3 ms."""
        if self._connection is None:
            raise Problem("unavailable")
        self._connection.set_progress_handler(lambda: 1, steps)
        try:
            return await self.all(sql, **values)
        except sqlite3.OperationalError as error:
            if result_code(error) != sqlite3.SQLITE_INTERRUPT:
                raise
            return None
        finally:
            self._connection.set_progress_handler(None, 0)

    async def read_data_version(self) -> int:
        """Return a number that is another one after each commit, of this program or of another.

        What was read after it was returned is still true while it is returned again. It takes 2 µs.
        """
        rows = await self.all("PRAGMA data_version")  # all rows: an open cursor would keep its snapshot
        return int(rows[0][0])

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def run_query(connection: sqlite3.Connection, asked: Asked) -> Answered:
    """Run one query and return its future with the rows or the error."""
    sql, values, future = asked
    try:
        try:
            return future, connection.execute(sql, values).fetchall(), None
        except sqlite3.OperationalError as error:
            if not is_undecodable(error):
                raise
            return future, fetch_leniently(connection, sql, values), None
    except Exception as error:
        return future, None, Problem("unavailable", retry_after=1) if is_locked(error) else error


def is_undecodable(error: Exception) -> bool:
    """Return whether text of a row is not UTF-8: the only error of a read without a code of SQLite."""
    return isinstance(error, sqlite3.OperationalError) and result_code(error) is None


def fetch_leniently(connection: sqlite3.Connection, sql: str, values: dict[str, object]) -> list[Row]:
    """Return all rows, with text that is not UTF-8 as bytes, so that one damaged row hides no others."""
    connection.text_factory = decode_leniently
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.text_factory = str


def decode_leniently(text: bytes) -> str | bytes:
    """Return the decoded text, or the bytes if they are not UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def connect(path: Path, pragmas: Iterable[str]) -> sqlite3.Connection:
    """Open a connection with these pragmas that any thread may use."""
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=256, check_same_thread=False)
    connection.row_factory = Row
    for pragma in pragmas:
        connection.execute(pragma)
    return connection
