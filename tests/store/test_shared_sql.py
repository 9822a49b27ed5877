"""Statements outside `store/engine` stay in the SQL that SQLite and PostgreSQL share."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "esign" / "store" / "engine"
OUTSIDE = [file for file in sorted((ROOT / "esign").rglob("*.py")) if not file.is_relative_to(ENGINE)]
STATEMENTS = [file for file in OUTSIDE if file.is_relative_to(ENGINE.parent)]
# A part of a migration that only SQLite understands has a file of its own: `NNNN_name.sqlite.sql`.
MIGRATIONS = [
    file for file in sorted((ENGINE.parent / "migrations").glob("*.sql")) if ".sqlite." not in file.name
]

FUNCTIONS = (
    r"bm25|changes|char|date|datetime|format|glob|group_concat|hex|highlight|ifnull|iif|instr|json|json_\w+|julianday"
    r"|last_insert_rowid|likelihood|likely|printf|quote|random|randomblob|snippet|soundex|strftime|time|timediff|total"
    r"|total_changes|typeof|unhex|unixepoch|unlikely|zeroblob"
)
SQLITE_ONLY = {
    "full-text search": r"\bMATCH\b|\bfts5\b|\bunicode61\b|\bVIRTUAL TABLE\b",
    "an index by name": r"\bINDEXED BY\b|\bNOT INDEXED\b",
    "a column kept from an index": r"\b(WHERE|AND|OR|ON|BY|,)\s+\+\s*[a-z_]",
    "a join that orders itself": r"\bCROSS JOIN\s+(\w+|\([^()]*\))(\s+\w+)?\s+ON\b",
    "the row id": r"(?i)\b(rowid|_rowid_|oid)\b",
    "the engine's settings": r"\bPRAGMA\b|\bpragma_\w+|\bsqlite_\w+|\bVACUUM\b|\bATTACH\b|\bEXPLAIN QUERY\b",
    "a conflict clause": r"\b(INSERT|UPDATE) OR \w+|\bREPLACE INTO\b",
    "a pattern": r"\b(GLOB|REGEXP)\b",
    "a function": rf"(?i)(?<![\w.])({FUNCTIONS})\s*\(",
    "the larger of two values": r"(?i)\b(min|max)\s*\((?:[^(),]|\([^()]*\))*,",
    "IS with a value": r"\bIS (NOT )?(?!NOT\b|NULL\b|DISTINCT FROM\b|TRUE\b|FALSE\b)\S",
    "bytes": r"\bAS BLOB\b|\bBLOB\b|\b[xX]'",
    "a collation": r"\bCOLLATE\b|\bNOCASE\b",
    "a table without a row id": r"\bWITHOUT ROWID\b|\bAUTOINCREMENT\b|\bSTRICT\b",
    "a trigger": r"\bTRIGGER\b|\bRAISE\s*\(",
    "a limit with a comma": r"\bLIMIT\s+[^\s,()]+\s*,|\bLIMIT\s+-1\b",
    "a write with a limit": r"(?s)^\s*(UPDATE|DELETE)\b.*\b(LIMIT|ORDER BY)\b",
    "two equals signs": r"[\w)]\s*==\s*[:\w(]",
    "a parameter without a name": r"[=<>(,]\s*\?",
    "a quoted name": r"`\w+`|\[\w+\]\s*[=,)]",
}
LIBRARIES = {"sqlite3", "aiosqlite"}


def strings(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Each string that is no docstring, with its line; `{}` is what an f-string fills in."""
    parts = {id(part) for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            texts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(texts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def without_subqueries(text: str) -> str:
    """The statement without what stands in brackets: the LIMIT of a subquery is its own."""
    before = ""
    while before != text:
        before, text = text, re.sub(r"\([^()]*\)", "", text)
    return text


def sqlite_only(text: str) -> list[str]:
    """What a statement uses that only SQLite has."""
    return [
        what
        for what, pattern in SQLITE_ONLY.items()
        if re.search(pattern, without_subqueries(text) if what == "a write with a limit" else text)
    ]


def place(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", STATEMENTS, ids=place)
def test_a_statement_uses_only_what_both_engines_understand(file: Path) -> None:
    found = [
        (line, what)
        for line, text in strings(ast.parse(file.read_text("utf-8")))
        for what in sqlite_only(text)
    ]
    assert found == [], "put it behind a function of store/engine that says what it answers"


@pytest.mark.parametrize("file", MIGRATIONS, ids=lambda file: file.name)
def test_a_migration_uses_only_what_both_engines_understand(file: Path) -> None:
    text = re.sub(r"--.*", "", file.read_text("utf-8"))
    assert [what for statement in text.split(";") for what in sqlite_only(statement)] == []


@pytest.mark.parametrize("file", OUTSIDE, ids=place)
def test_only_the_engine_knows_which_database_it_is(file: Path) -> None:
    module = ast.parse(file.read_text("utf-8"))
    imported = {
        alias.name for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {str(node.module) for node in ast.walk(module) if isinstance(node, ast.ImportFrom)}
    assert not imported & LIBRARIES


# ---------- the rules above can fail ----------


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("full-text search", "SELECT 1 FROM search_index i WHERE i.search_index MATCH :words"),
        ("an index by name", "SELECT 1 FROM document d INDEXED BY document_newest"),
        ("a column kept from an index", "SELECT 1 FROM document WHERE id = :id AND +mode = :mode"),
        ("a join that orders itself", "SELECT 1 FROM ({}) p CROSS JOIN document d ON d.id = p.id"),
        ("the row id", "SELECT rowid AS place, * FROM {}"),
        ("the engine's settings", "PRAGMA user_version"),
        ("the engine's settings", "SELECT 1 FROM sqlite_master"),
        ("a conflict clause", "INSERT OR IGNORE INTO blob (sha256) VALUES (:sha256)"),
        ("a pattern", "SELECT 1 FROM blob WHERE sha256 GLOB 'a*'"),
        ("a function", "SELECT json_extract(body, '$.id') FROM event"),
        ("a function", "SELECT 1 FROM template WHERE instr(lower(title), :text) > 0"),
        ("a function", "SELECT 1 FROM document WHERE likelihood(mode = :mode, 0.5)"),
        ("the larger of two values", "UPDATE webhook SET due_at = max(due_at, :now)"),
        ("the larger of two values", "SELECT min((SELECT 1), :now)"),
        ("IS with a value", "UPDATE link SET reached = :reached WHERE reached IS NOT 'email'"),
        ("IS with a value", "SELECT 1 FROM event WHERE document_id IS :id"),
        ("bytes", "SELECT CAST(key AS BLOB) AS key FROM outbox"),
        ("a collation", "SELECT 1 FROM app_user WHERE email = :email COLLATE NOCASE"),
        ("a trigger", "DROP TRIGGER document_count"),
        ("a limit with a comma", "SELECT 1 FROM event LIMIT 5, 10"),
        ("a write with a limit", "DELETE FROM event WHERE created_at < :before ORDER BY id LIMIT 5"),
        ("two equals signs", "SELECT 1 FROM event WHERE id == :id"),
        ("a parameter without a name", "SELECT 1 FROM event WHERE id = ?"),
    ],
)
def test_what_only_sqlite_has_is_seen(what: str, text: str) -> None:
    assert sqlite_only(text) == [what]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT max(CASE type WHEN 'a' THEN at END) AS a, min(at) FROM audit WHERE at IS NOT NULL",
        "SELECT min((SELECT due_at FROM delivery WHERE id = lane.id LIMIT 1)) AS due_at FROM lane",
        "DELETE FROM event WHERE (id) IN (SELECT id FROM event ORDER BY id LIMIT :limit)",
        "SELECT 1 FROM a CROSS JOIN b WHERE a.id = b.id AND (CAST(:q AS TEXT) IS NULL OR a.q LIKE :q ESCAPE '!')",
        "INSERT INTO a (id) VALUES (:id) ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING id",
        "UPDATE a SET b = :b WHERE c IS DISTINCT FROM :c",
    ],
)
def test_what_both_engines_have_is_left_alone(text: str) -> None:
    assert sqlite_only(text) == []
