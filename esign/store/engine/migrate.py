"""Migrates the schema of a database to this program's version, forward only.

The table `migration` names each script that was applied, with the SHA-256 of its text. A script is identified
by its name without the number. The number only gives the order: a script may be renumbered, and one with a free
number below the highest is still applied. Databases from before that table are recognised by the tables and
columns they have. `PRAGMA user_version` holds the highest number as well, because versions without the table
refuse newer databases by it.
"""

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from esign.store.engine import search_words
from esign.store.engine.failures import is_storage

APPLICATION_ID = 0x65736967  # "esig", in the header of every database of this program

SQLITE = {
    "{strict}": "STRICT",
    "{bytes}": "BLOB",
    "{serial}": "INTEGER PRIMARY KEY AUTOINCREMENT",
}

# By the name of a script: the SHA-256 of its other texts that had the same effect.
EQUIVALENT: Mapping[str, frozenset[str]] = {}

TABLE = """
CREATE TABLE migration (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    sha256 TEXT NOT NULL
) STRICT;
"""

# By the name of a script from before the table: a table, or a column, that only this script creates.
TRACES: Mapping[str, str] = {
    "first": "document",
    "deletion": "idempotency.about",
    "search": "search",
    "webhooks": "delivery",
    "accounts": "member",
    "templates": "template",
    "recipients": "challenge",
    "testmode": "kept_mail.words",
    "audit_head": "audit_head",
    "loose_blobs": "blob.loose",
    "draft": "draft",
    "handoff": "handoff",
    "reading": "page_view",
    "embed": "organisation.embed_origins",
    "users": "app_user",
    "counts": "document_count",
    "settings": "app_user.seen_at",
    "time_stamps": "time_authority",
    "logo": "logo",
    "erasing": "erasing",
}
# Two released versions had only the beginning of this script: the index below, and a part of its columns.
GREW, BEGINNING = "accounts", "api_key_newest"


class UnfitSchema(Exception):
    """The schema of the database does not fit this program."""


class NewerSchema(UnfitSchema):
    """The database was written by a later version of the program."""


class ChangedMigration(UnfitSchema):
    """A script was applied to the database with a text that differs from this program's."""


class MigrationFailed(UnfitSchema):
    """A script failed on this database; none of it was applied."""


class ForeignDatabase(Exception):
    """The file is not a database of esign."""


@dataclass(frozen=True, slots=True)
class Migration:
    """A script; `sha256` is that of its text in the repository."""

    number: int
    name: str
    sql: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


def load_migrations() -> list[Migration]:
    """Return every script in the order of the numbers; a `.sqlite.sql` file is a part of its script."""
    folder = files("esign.store").joinpath("migrations")
    found: dict[str, list[Traversable]] = {}
    for file in sorted(folder.iterdir(), key=lambda f: (f.name[:4], f.name.count("."))):
        if file.name.endswith(".sql"):
            found.setdefault(file.name.partition(".")[0], []).append(file)
    return [
        read_migration(stem, [file.read_text("utf-8") for file in parts]) for stem, parts in found.items()
    ]


def read_migration(stem: str, parts: list[str]) -> Migration:
    """Return the migration made of these parts."""
    number, _, name = stem.partition("_")
    text = "\n".join(parts)
    return Migration(int(number), name, translate(text), hashlib.sha256(text.encode()).hexdigest())


def list_scripts() -> list[tuple[int, str]]:
    """Return (number, SQL) of every migration in order."""
    return [(each.number, each.sql) for each in load_migrations()]


def translate(script: str) -> str:
    """Return the script with its tokens replaced by SQLite's words."""
    for token, meant in SQLITE.items():
        script = script.replace(token, meant)
    return script


def migrate(connection: sqlite3.Connection, known: Sequence[Migration] | None = None) -> None:
    """Apply the `known` scripts that are missing, with their entries in the table, all in one transaction.

    Raises UnfitSchema and ForeignDatabase; then nothing was written.
    """
    known = known or load_migrations()
    check(connection, known)
    search_words.register(connection)
    steps = list(write_steps(connection, known))
    if not steps:
        return
    try:
        connection.executescript("\n".join(["BEGIN IMMEDIATE;", *steps, "COMMIT;"]))
    except sqlite3.Error as error:
        failed = find_first_missing(connection, known)
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if is_storage(error):
            raise
        raise MigrationFailed(f"migration {failed} cannot be applied to this database: {error}") from error


def write_steps(connection: sqlite3.Connection, known: Sequence[Migration]) -> Iterator[str]:
    """Yield the statements that bring the schema up to date, each script with its entry in the table."""
    applied, highest = read_applied(connection), read_version(connection)
    missing = [each for each in known if applied is None or each.name not in applied]
    if applied is None and is_empty(connection):
        yield f"{TABLE}\nPRAGMA application_id = {APPLICATION_ID};"
    elif applied is None:
        adopted = dict(adopt(connection, known))
        yield "\n".join([TABLE, *adopted.values()])
        missing = [each for each in known if each.name not in adopted]
    for migration in missing:
        highest = max(highest, migration.number)
        yield f"{migration.sql}\n{write_entry(migration)}\nPRAGMA user_version = {highest};"


def find_first_missing(connection: sqlite3.Connection, known: Sequence[Migration]) -> Migration:
    """Return the first script that has no entry in the table: after a failure, the one that failed."""
    applied = read_applied(connection) if connection.in_transaction else None
    return next((each for each in known if each.name not in (applied or {})), known[-1])


def is_complete(connection: sqlite3.Connection) -> bool:
    """Return whether the database has the schema of this program, or nothing at all."""
    applied = read_applied(connection)
    return is_empty(connection) or (
        applied is not None and all(each.name in applied for each in load_migrations())
    )


def write_entry(migration: Migration) -> str:
    """Return the statement that records a migration as applied.

    Name and hash are spliced in: both come from this repository.
    """
    values = f"'{migration.name}', {migration.number}, '{migration.sha256}'"
    return f"INSERT INTO migration (name, number, sha256) VALUES ({values});"


# ---------- what a file is ----------


def check(connection: sqlite3.Connection, known: Sequence[Migration] | None = None) -> int:
    """Return the highest number that was applied, 0 for an empty file. Raises UnfitSchema and ForeignDatabase."""
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version = read_version(connection)
    if application_id != APPLICATION_ID and not (is_empty(connection) and application_id == 0):
        raise ForeignDatabase("the file is a database of another program")
    by_name = {each.name: each for each in known or load_migrations()}
    newest = max(each.number for each in by_name.values())
    if version > newest:
        raise NewerSchema(f"the database has schema {version}, this program knows schemas up to {newest}")
    for name, (number, sha256) in (read_applied(connection) or {}).items():
        if name not in by_name:
            raise NewerSchema(
                f"migration {number:04}_{name} was applied to the database, and this program does not know it"
            )
        if sha256 != by_name[name].sha256 and sha256 not in EQUIVALENT.get(name, ()):
            raise ChangedMigration(
                f"migration {by_name[name]} was applied to the database with another text than this program has"
            )
    return version


def read_version(connection: sqlite3.Connection) -> int:
    """Return the number in the header of the database."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether the database has no tables."""
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def read_applied(connection: sqlite3.Connection) -> dict[str, tuple[int, str]] | None:
    """Return (number, hash) of each applied script by its name, or None if there is no table of them."""
    if not has_trace(connection, "migration"):
        return None
    rows = connection.execute("SELECT name, number, sha256 FROM migration ORDER BY number")
    return {name: (number, sha256) for name, number, sha256 in rows}


def has_trace(connection: sqlite3.Connection, trace: str) -> bool:
    """Return whether there is a table or an index of this name or, with a dot, a column."""
    table, _, column = trace.partition(".")
    if column:
        columns = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return column in {name for (name,) in columns}
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None


# ---------- databases from before the table of migrations ----------


def adopt(connection: sqlite3.Connection, known: Sequence[Migration]) -> Iterator[tuple[str, str]]:
    """Yield the name of each script that an older database already has, and the statements that record it.

    Its version number does not say which: numbers were used twice, and scripts below the highest were left out.
    """
    for migration in known:
        trace = TRACES.get(migration.name)
        if trace and has_trace(connection, trace):
            yield migration.name, write_entry(migration)
        elif migration.name == GREW and has_trace(connection, BEGINNING):
            missing = find_missing_statements(connection, migration)
            yield migration.name, "\n".join([*missing, write_entry(migration)])


def find_missing_statements(connection: sqlite3.Connection, migration: Migration) -> Iterator[str]:
    """Yield the statements of a partly applied script that are still missing."""
    for statement in split_statements(migration.sql):
        made = re.match(r"CREATE (?:TABLE|INDEX) (\w+)|ALTER TABLE (\w+) ADD COLUMN (\w+)", statement)
        dropped = re.match(r"DROP (?:TABLE|INDEX) (\w+)", statement)
        if made and has_trace(connection, made[1] or f"{made[2]}.{made[3]}"):
            continue
        if dropped and not has_trace(connection, dropped[1]):
            continue
        yield statement


def split_statements(script: str) -> Iterator[str]:
    """Yield each statement of a script without triggers, without its comments."""
    for statement in re.sub(r"--.*", "", script).split(";"):
        if statement.strip():
            yield f"{statement.strip()};"
