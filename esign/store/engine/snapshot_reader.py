"""Reads a database from beside its server, in short read transactions, for inspections that take minutes.

A read transaction keeps the write-ahead log from being cut: one over a whole inspection would let it grow until the
end. So an inspection reads in batches, and each batch is a `snapshot` of its own, in which all tables are of the same
moment. It blocks its thread, and no writer.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esign.store.engine import migrate
from esign.store.engine.connections import READER_PRAGMAS
from esign.store.engine.failures import is_out_of_storage
from esign.store.engine.inspection import AT_START
from esign.store.engine.readers import Row, fetch_leniently, is_undecodable
from esign.store.engine.unreadable_rows import DamageLog

WORST = 20  # findings about the pages of one table that are reported
CHUNKS_AT_ONCE = 16  # of at most 1 MiB


class OlderSchema(Exception):
    """The database is of an earlier version, and a start of this one would migrate it; the message says so."""


class SnapshotReader:
    """A connection that only reads. Close it in the end."""

    def __init__(self, path: Path) -> None:
        """Open the database. Raises sqlite3.Error, migrate.UnfitSchema, migrate.ForeignDatabase and OlderSchema."""
        self.path = path
        self._connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
        )
        try:
            self._connection.row_factory = Row
            for pragma in READER_PRAGMAS:
                self._connection.execute(pragma)
            self._require_newest_schema()
        except BaseException:
            self._connection.close()
            raise

    def _require_newest_schema(self) -> None:
        migrate.check(self._connection)
        applied = migrate.read_applied(self._connection) or {}
        if missing := [each for each in migrate.load_migrations() if each.name not in applied]:
            raise OlderSchema(
                "the database is of an earlier version, and the next start of esign migrates it: what is missing is"
                f" {', '.join(map(str, missing))}"
            )

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside the context as it is at one moment."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def all(self, sql: str, **values: object) -> list[Row]:
        """Return all rows; text that is not UTF-8 comes as bytes."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if not is_undecodable(error):
                raise
            return fetch_leniently(self._connection, sql, values)

    def each(self, sql: str, **values: object) -> Iterator[Row]:
        """Yield the rows one at a time. The statement reads text that may be damaged as bytes."""
        yield from self._connection.execute(sql, values)

    def walk(self, table: str, columns: str = "*", at_once: int = 1_000) -> Iterator[list[Row]]:
        """Yield all rows of a table with their `place`, some at a time, in the order in which they were written."""
        place = -(2**62)
        sql = f"SELECT rowid AS place, {columns} FROM {table} WHERE rowid > :place ORDER BY rowid LIMIT {at_once}"
        while rows := self.all(sql, place=place):
            yield rows
            place = rows[-1]["place"]

    def walk_chunks(self) -> Iterator[list[Row]]:
        """Yield the chunks of all contents in the order of the disk, with the size that their blob has, or None."""
        sql = f"""
            SELECT c.rowid AS place, c.sha256, c.number, c.content, b.size
            FROM blob_chunk c LEFT JOIN blob b ON b.sha256 = c.sha256
            WHERE c.rowid > :place ORDER BY c.rowid LIMIT {CHUNKS_AT_ONCE}
        """
        place = -(2**62)
        while rows := self.all(sql, place=place):
            yield rows
            place = rows[-1]["place"]

    # ---------- what only the engine knows ----------

    def check_pages(self) -> Iterator[str]:
        """Yield what `PRAGMA integrity_check` finds, in the pages of the database and in its indexes.

        A large database is checked table by table, so that no read takes as long as all of it.
        """
        if self.path.stat().st_size <= AT_START:
            yield from self._check_integrity(f"({WORST})")
            return
        for row in self.all("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"):
            yield from self._check_integrity(f"('{row['name']}')")

    def _check_integrity(self, argument: str) -> list[str]:
        try:
            rows = self._connection.execute(f"PRAGMA integrity_check{argument}").fetchmany(WORST)
        except sqlite3.DatabaseError as error:
            if is_out_of_storage(error):
                raise
            return [str(error)]
        found = [line for (text,) in rows for line in str(text).splitlines()]
        return [] if found == ["ok"] else found[:WORST]

    def find_lost_references(self, *left_out: str) -> Iterator[tuple[str, object, str]]:
        """Yield (table, place of the row, table that it refers to) of rows that refer to a row that does not exist.

        The tables that are `left_out` are not checked.
        """
        keys = "SELECT DISTINCT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name)"
        for (table,) in self.all(keys):
            if table not in left_out:
                for row in self.all(f"PRAGMA foreign_key_check('{table}')"):
                    yield row[0], row[1], row[2]

    def find_indexed_numbers(self, label: str, after: int, until: int) -> list[int]:
        """Return the numbers of the index of words that have this label, above `after` and up to `until`, in order."""
        rows = self.all(
            "SELECT rowid FROM search_index WHERE search_index MATCH :label AND rowid > :after AND rowid <= :until"
            " ORDER BY rowid",
            label=f'"{label}"',
            after=after,
            until=until,
        )
        return [int(row[0]) for row in rows]


class SnapshotQueries:
    """The same connection where a `Reader` is asked for: by functions that a command shares with the server."""

    def __init__(self, reader: SnapshotReader) -> None:
        self._reader = reader
        self.damage = DamageLog()

    async def all(self, sql: str, **values: object) -> list[Row]:
        """Return all rows."""
        return self._reader.all(sql, **values)

    async def one(self, sql: str, **values: object) -> Row | None:
        """Return the first row, or None."""
        rows = self._reader.all(sql, **values)
        return rows[0] if rows else None
