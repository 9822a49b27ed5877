"""Trails in hands that have the database and not the application key: whatever is done to them is noticed (T25).

That also a rewrite with the application key is noticed, by the head in the sealed file, is in tests/api/test_audit.py.
"""

import sqlite3
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from esign.actions.verification import verify_trails
from esign.core.actor import SYSTEM, Actor, Origin
from esign.core.document import audit
from esign.core.document.state.outcome import Event
from esign.store.document import outcomes, trails
from esign.store.engine.connections import FILE
from esign.store.engine.database import Database
from esign.store.queue import audit_entries
from esign.system.vault import Vault
from tests.factories import NOW, ORIGIN, SENDER, is_intact
from tests.store.plans import walks

ANA = Actor("recipient", "rcp_1", "Ana Ö", "ana@example.com")
FACTS = (
    Event("document.created", NOW, SENDER, origin=ORIGIN, data={"pageCount": 3, "fileSha256": "ab" * 32}),
    Event("document.sent", NOW + 1, SENDER, origin=ORIGIN),
    Event("recipient.sent", NOW + 1, SYSTEM, "rcp_1", detail={"email": "ana@example.com"}),
    Event("recipient.viewed", NOW + 2, ANA, "rcp_1", Origin("2001:db8::1", "Firefox")),
    Event("recipient.declined", NOW + 3, ANA, "rcp_1", Origin("2001:db8::1"), detail={"reason": "Zu teuer"}),
)
NAMES = ("doc_1", "doc_2", "doc_3")
FLIPS = 1_000


@pytest.fixture
async def tamper(tmp_path: Path, db: Database, vault: Vault) -> AsyncIterator[sqlite3.Connection]:
    """The file with three trails, without its triggers, opened by somebody else."""
    for name in NAMES:
        for fact in FACTS:
            await db.write(lambda tx, n=name, f=fact: outcomes.record(tx, n, (f,), vault))  # type: ignore[misc]
    connection = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("DROP TRIGGER audit_is_never_deleted")
    connection.execute("DROP TRIGGER audit_is_never_changed")
    yield connection
    connection.close()


async def list_broken(db: Database, vault: Vault) -> list[str]:
    """What is wrong, trail by trail."""
    found = [
        f"{chain.document_id}: {chain.broken}"
        async for chain in verify_trails.recompute(db, vault)
        if chain.broken
    ]
    return [*found, *(f"{lost} is lost" for lost in await trails.list_documents_without_trail(db))]


async def test_trails_as_they_were_written_are_intact(
    db: Database, vault: Vault, tamper: sqlite3.Connection
) -> None:
    chains = [chain async for chain in verify_trails.recompute(db, vault)]
    assert [(c.document_id, c.entries, c.broken) for c in chains] == [(name, 5, None) for name in NAMES]
    assert chains[0].head == (await audit_entries.find_entries(db, "doc_1"))[-1].hash


@pytest.mark.slow
async def test_every_flipped_bit_is_noticed_in_its_own_trail(
    db: Database, vault: Vault, tamper: sqlite3.Connection
) -> None:
    """1,000 of them, in every column of every row: text, numbers, hashes and salts."""
    columns = [row[1] for row in tamper.execute("PRAGMA table_info(audit)")]
    cells = [
        (rowid, name, column, value)
        for column in columns
        for rowid, name, value in tamper.execute(f"SELECT rowid, document_id, {column} FROM audit").fetchall()
        if value is not None
    ]
    missed, flips = [], 0
    for number in count():
        rowid, name, column, value = cells[number * 7 % len(cells)]
        try:
            tamper.execute(
                f"UPDATE audit SET {column} = {flip_bit(value, number * 7919)} WHERE rowid = {rowid}"
            )
        except sqlite3.IntegrityError:  # the number of another row of the same trail
            continue
        if not any(name in line for line in await list_broken(db, vault)):
            missed.append((name, column, value))
        tamper.execute(f"UPDATE audit SET {column} = ? WHERE rowid = ?", (value, rowid))
        if (flips := flips + 1) == FLIPS:
            break
    assert missed == []
    assert await list_broken(db, vault) == []


def flip_bit(value: str | int | bytes, bit: int) -> str:
    """SQL for the value with one bit changed, damaged text included."""
    if isinstance(value, int):
        return str(value ^ 1 << bit % 62)
    raw = bytearray(value.encode() if isinstance(value, str) else value)
    raw[bit // 8 % len(raw)] ^= 1 << bit % 8
    return f"CAST(x'{raw.hex()}' AS TEXT)" if isinstance(value, str) else f"x'{raw.hex()}'"


@pytest.mark.parametrize("seq", range(1, 6))
async def test_a_deleted_row_is_noticed_also_the_last(
    db: Database, vault: Vault, tamper: sqlite3.Connection, seq: int
) -> None:
    tamper.execute("DELETE FROM audit WHERE document_id = 'doc_2' AND seq = ?", (seq,))
    [said] = await list_broken(db, vault)
    assert said == ("doc_2: " + verify_trails.CUT if seq == 5 else said) and said.startswith("doc_2: ")


@pytest.mark.parametrize("kept", range(5))
async def test_a_tail_that_was_cut_off_is_noticed_and_so_is_a_whole_trail(
    db: Database, vault: Vault, tamper: sqlite3.Connection, kept: int
) -> None:
    tamper.execute("DELETE FROM audit WHERE document_id = 'doc_2' AND seq > ?", (kept,))
    assert await list_broken(db, vault) == [f"doc_2: {verify_trails.CUT}" if kept else "doc_2 is lost"]


@pytest.mark.parametrize("first", range(1, 5))
async def test_two_rows_that_changed_places_are_noticed(
    db: Database, vault: Vault, tamper: sqlite3.Connection, first: int
) -> None:
    for was, becomes in ((first, 99), (first + 1, first), (99, first + 1)):
        tamper.execute("UPDATE audit SET seq = ? WHERE document_id = 'doc_1' AND seq = ?", (becomes, was))
    [said] = await list_broken(db, vault)
    assert said.startswith(f"doc_1: entry {first} ")


@pytest.mark.parametrize("seq", [0, -1, 6])
async def test_a_row_put_in_is_noticed(
    db: Database, vault: Vault, tamper: sqlite3.Connection, seq: int
) -> None:
    """At the end even with a hash that follows."""
    lines = await audit_entries.find_entries(db, "doc_3")
    more = audit.make_entry(FACTS[3], "doc_3", seq, lines[-1].hash, bytes(16))
    columns = ", ".join(audit_entries.COLUMNS)
    values = {n: getattr(more, n) for n in audit_entries.COLUMNS} | {
        "data": "{}",
        "personal": None,
        "salt": None,
    }
    marks = ", ".join(":" + n for n in audit_entries.COLUMNS)
    tamper.execute(f"INSERT INTO audit ({columns}) VALUES ({marks})", values)
    [said] = await list_broken(db, vault)
    assert said.startswith("doc_3: ")


async def test_a_trail_written_anew_without_the_application_key_is_noticed(
    db: Database, vault: Vault, tamper: sqlite3.Connection
) -> None:
    """Every hash right, the stored head's number too: only its mac is missing."""
    tamper.execute("DELETE FROM audit WHERE document_id = 'doc_1'")
    tamper.execute("DELETE FROM audit_head WHERE document_id = 'doc_1'")
    for fact in (*FACTS[:4], FACTS[3]):
        await db.write(lambda tx, f=fact: outcomes.record(tx, "doc_1", (f,), Vault(b"x" * 32)))  # type: ignore[misc]
    assert is_intact(await audit_entries.find_entries(db, "doc_1"))
    assert await list_broken(db, vault) == [f"doc_1: {verify_trails.CUT}"]


async def test_a_head_of_another_trail_does_not_fit(
    db: Database, vault: Vault, tamper: sqlite3.Connection
) -> None:
    tamper.execute(
        "UPDATE audit_head SET mac = other.mac FROM (SELECT mac FROM audit_head WHERE document_id = 'doc_1') other"
        " WHERE document_id = 'doc_2'"
    )
    assert await list_broken(db, vault) == [f"doc_2: {verify_trails.CUT}"]


async def test_what_is_personal_goes_with_its_document_and_not_before(
    db: Database, vault: Vault, tamper: sqlite3.Connection
) -> None:
    tamper.execute("UPDATE audit SET personal = NULL, salt = NULL WHERE document_id = 'doc_1' AND seq = 4")
    assert await list_broken(db, vault) == [
        "doc_1: what is personal was erased, although the document was not deleted"
    ]
    deleted = (Event("document.deleted", NOW + 9, SENDER),)
    await db.write(lambda tx: outcomes.record(tx, "doc_1", deleted, vault))
    assert await list_broken(db, vault) == []


async def test_a_trail_may_be_longer_than_what_is_read_at_once(db: Database, vault: Vault) -> None:
    many = trails.PAGE * 2 + 1
    for _ in range(3):
        await db.write(lambda tx: outcomes.record(tx, "doc_1", FACTS[:1] * (many // 3), vault))
    await db.write(lambda tx: outcomes.record(tx, "doc_2", FACTS, vault))
    lengths = [(c.entries, c.broken) async for c in verify_trails.recompute(db, vault)]
    assert lengths == [(many // 3 * 3, None), (5, None)]
    only = [c async for c in verify_trails.recompute(db, vault, "doc_1")]
    assert [c.entries for c in only] == [many // 3 * 3]


async def test_what_is_written_while_it_reads_breaks_nothing(db: Database, vault: Vault) -> None:
    await db.write(lambda tx: outcomes.record(tx, "doc_1", FACTS[:1] * trails.PAGE, vault))
    last = None
    async for line in trails.walk(db):
        if line.seq == 1:
            await db.write(lambda tx: outcomes.record(tx, "doc_1", FACTS, vault))
        last = line
    assert last and (last.seq, last.head_seq) == (trails.PAGE + 5, trails.PAGE + 5)
    seen = [c async for c in verify_trails.recompute(db, vault)]
    assert [c.broken for c in seen] == [None]


async def test_the_trails_are_read_by_their_index(db: Database) -> None:
    async def everything(tx: object) -> None:
        async for _ in trails.walk(tx):  # type: ignore[arg-type]
            pass
        async for _ in trails.walk(tx, "doc_1"):  # type: ignore[arg-type]
            pass
        await trails.get_hash(tx, "doc_1", 1)  # type: ignore[arg-type]

    assert not [step for step in await walks(db, everything) if "SCAN a" not in step]
