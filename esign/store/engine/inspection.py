"""Checks whether the pages of a database are intact, without writing anything."""

import sqlite3
from contextlib import closing
from pathlib import Path

from esign.store.engine.failures import is_corrupt

AT_START = 256 * 2**20  # bytes; SQLite checks them in a second or two, larger databases while the server runs
WORST = 3  # findings that are reported


class DamagedDatabase(Exception):
    """Pages of the database are damaged; the message says which, and what to do."""


def check_at_start(path: Path) -> None:
    """Raise DamagedDatabase if a database that is small enough to be checked now has damaged pages."""
    if path.exists() and path.stat().st_size <= AT_START and (found := find_damage(path)):
        raise DamagedDatabase(describe_damage(path, found))


def describe_damage(path: Path, found: list[str]) -> str:
    """Return the message about damaged pages, and what to do."""
    return (
        f"the database {path} is damaged ({'; '.join(found)}); restore esign.db from a backup,"
        f" or save what can be read: sqlite3 {path} .recover"
    )


def find_damage(path: Path) -> list[str]:
    """Return the first findings of `PRAGMA quick_check`; empty if all is well or the file is not a database.

    Reads every page: a second for some hundred MiB. Call it in a thread.
    """
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        return list_damage(connection)


def list_damage(connection: sqlite3.Connection) -> list[str]:
    """Return the same of a database that is open."""
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    try:
        rows = connection.execute(f"PRAGMA quick_check({WORST})").fetchall()
    except sqlite3.DatabaseError as error:
        if is_corrupt(error):
            return [str(error)]
        return []  # opening the database reports every other error
    found = [line for (text,) in rows for line in str(text).splitlines()]
    return [] if found == ["ok"] else found[:WORST]
