"""Judges a database: is everything in it that was acknowledged, and is everything there once."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tests.reliability.crowd import Acknowledgement

STATUSES = {
    "sent": {"sent", "sealing", "completed", "declined", "cancelled"},
    "declined": {"declined"},
    "cancelled": {"cancelled"},
    "sealed": {"completed"},
}


def find_losses(path: Path, entries: Iterable[Acknowledgement]) -> list[str]:
    """Return a line for each acknowledged operation that is not in the database at `path`."""
    with closing(open_to_read(path)) as connection:
        documents = {
            row[0]: row[1:]
            for row in connection.execute("SELECT id, external_id, status, seal FROM document")
        }
        people = {
            row[:2]: row[2] for row in connection.execute("SELECT document_id, email, status FROM recipient")
        }
    return [
        f"{entry.act} {entry.document} {entry.detail}"
        for entry in entries
        if not is_kept(entry, documents.get(entry.document), people.get((entry.document, entry.detail)))
    ]


def is_kept(entry: Acknowledgement, document: tuple[str, str, str] | None, person: str | None) -> bool:
    """Return whether the rows show what was acknowledged."""
    if document is None:
        return False
    name, status, seal = document
    match entry.act:
        case "created":
            return name == entry.detail
        case "signed":
            return person == "completed"
        case "viewed":
            return person in {"viewed", "completed", "declined"}
        case "sealed":
            return status == "completed" and entry.detail in seal
        case act:
            return status in STATUSES[act]


def find_faults(path: Path) -> list[str]:
    """Return a line for each invariant that does not hold in itself: integrity, references, single effects."""
    faults: list[str] = []
    with closing(open_to_read(path)) as connection:
        whole = connection.execute("PRAGMA integrity_check").fetchall()
        if whole != [("ok",)]:
            faults.append(f"integrity_check: {whole[:3]}")
        if broken := connection.execute("PRAGMA foreign_key_check").fetchall():
            faults.append(f"foreign_key_check: {broken[:3]}")
        names = Counter(name for (name,) in connection.execute("SELECT external_id FROM document"))
        faults += [f"{name} was created {count} times" for name, count in names.items() if name and count > 1]
        faults += find_doubled_events(connection)
    return faults


def find_doubled_events(connection: sqlite3.Connection) -> list[str]:
    """Return a line for each document whose events have a gap, and each effect that is published twice."""
    faults: list[str] = []
    sequences: dict[str, list[int]] = {}
    rows = connection.execute(
        "SELECT document_id, sequence FROM event WHERE document_id IS NOT NULL ORDER BY document_id, sequence"
    )
    for document, sequence in rows:
        sequences.setdefault(document, []).append(sequence)
    faults += [
        f"{document} has the events {found}"
        for document, found in sequences.items()
        if found != list(range(1, len(found) + 1))
    ]
    twice = connection.execute(
        "SELECT document_id, type, count(*) FROM event WHERE type IN ('document.created', 'document.sent',"
        " 'document.completed', 'document.declined', 'document.cancelled') GROUP BY document_id, type"
        " HAVING count(*) > 1"
    )
    faults += [f"{document} has {count} times {kind}" for document, kind, count in twice]
    signed = connection.execute(
        "SELECT d.id, (SELECT count(*) FROM recipient r WHERE r.document_id = d.id AND r.status = 'completed'),"
        " (SELECT count(*) FROM event e WHERE e.document_id = d.id AND e.type = 'recipient.completed')"
        " FROM document d"
    )
    faults += [f"{id}: {people} have signed, {told} events" for id, people, told in signed if people != told]
    return faults


def open_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that writes nothing and leaves the log to the server."""
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
