"""Brings the schema of a database to this program's version: numbered scripts, forward only."""

import sqlite3
from importlib.resources import files
from importlib.resources.abc import Traversable

from esign.store import words

APPLICATION_ID = 0x65736967  # "esig", in the header of every database of ours

SQLITE = {
    "{strict}": "STRICT",
    "{bytes}": "BLOB",
    "{serial}": "INTEGER PRIMARY KEY AUTOINCREMENT",
}


class NewerSchema(Exception):
    """The database was written by a later version of the program."""


class ForeignDatabase(Exception):
    """The file is not a database of esign."""


def scripts() -> list[tuple[int, str]]:
    """(version, SQL) of every migration in order; a `.sqlite.sql` twin follows its script."""
    folder = files("esign.store").joinpath("migrations")
    found: dict[int, list[Traversable]] = {}
    for file in sorted(folder.iterdir(), key=lambda f: (f.name[:4], f.name.count("."))):
        if file.name.endswith(".sql"):
            found.setdefault(int(file.name[:4]), []).append(file)
    return [(n, "\n".join(translate(f.read_text("utf-8")) for f in found[n])) for n in sorted(found)]


def translate(script: str) -> str:
    for token, meant in SQLITE.items():
        script = script.replace(token, meant)
    return script


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing, each script in one transaction with its version number.

    Raises NewerSchema and ForeignDatabase before anything is written.
    """
    version = check(connection)
    words.register(connection)
    for number, script in scripts():
        if number > version:
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{script}\n"
                f"PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {number};\nCOMMIT;"
            )


def check(connection: sqlite3.Connection) -> int:
    """The schema version of the file; 0 for an empty one."""
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application_id != APPLICATION_ID and not (empty and application_id == 0):
        raise ForeignDatabase("the file is a database of another program")
    newest = scripts()[-1][0]
    if version > newest:
        raise NewerSchema(f"the database has schema {version}, this program knows schemas up to {newest}")
    return version
