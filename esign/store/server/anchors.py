"""Anchors as they are stored, which trails grew since the newest one, and what each target has of them."""

import hashlib
from collections.abc import Sequence

from esign.core.document.anchor import (
    Anchor,
    Leaf,
    UnreadableAnchor,
    read_leaves,
    read_statement,
    write_leaves,
)
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction
from esign.store.server import installation

IDENTITY = "identity"  # a random name of this installation, by which its anchors are told apart


async def find_grown(reader: Reader, most: int) -> list[Leaf]:
    """Return the ends of up to `most` trails that have grown since they were anchored, in the order of their ids."""
    rows = await reader.all(
        """
        SELECT a.document_id, a.seq, a.hash FROM audit_head h
        CROSS JOIN audit a
        WHERE h.seq <> h.anchored AND a.document_id = h.document_id AND a.seq = h.seq ORDER BY h.document_id LIMIT :most
        """,
        most=most,
    )
    return [Leaf(row["document_id"], row["seq"], bytes(row["hash"])) for row in rows]


async def add(tx: Transaction, anchor: Anchor, now: Instant) -> None:
    """Add the next anchor, and note of each of its trails that it is anchored."""
    await tx.run(
        """
        INSERT INTO anchor (number, made_at, statement, leaves, cms, token)
        VALUES (:number, :now, :statement, :leaves, :cms, :token)
        """,
        number=anchor.statement.number,
        now=now,
        statement=anchor.statement.canonical,
        leaves=write_leaves(anchor.leaves),
        cms=anchor.cms,
        token=anchor.token,
    )
    for leaf in anchor.leaves:
        await tx.run(
            "UPDATE audit_head SET anchored = :seq WHERE document_id = :document_id",
            seq=leaf.seq,
            document_id=leaf.document_id,
        )


async def find_last_time(reader: Reader) -> tuple[int, Instant] | None:
    """Return number and time of the newest anchor, or None without any."""
    row = await reader.one("SELECT number, made_at FROM anchor ORDER BY number DESC LIMIT 1")
    return (row["number"], row["made_at"]) if row else None


async def find_end(reader: Reader) -> tuple[int, bytes] | None:
    """Return the number and the hash that the next anchor names as the one before it, or None without any.

    Of a statement that is damaged this is the hash of the bytes as they lie there, so that a new anchor can be made.
    The damage is noted.
    """
    row = await reader.one("SELECT number, statement FROM anchor ORDER BY number DESC LIMIT 1")
    if row is None:
        return None
    number, statement = row["number"], bytes(row["statement"])
    try:
        read_statement(statement)
    except UnreadableAnchor as error:
        reader.damage.note("anchor", number, str(error))
    return number, hashlib.sha256(statement).digest()


async def find_whole(reader: Reader, number: int) -> Anchor | None:
    """Return one anchor, or None if it is missing or cannot be read, which is noted."""
    try:
        anchor = await get(reader, number)
    except UnreadableAnchor as error:
        reader.damage.note("anchor", number, str(error))
        return None
    reader.damage.forget("anchor", number)
    return anchor


async def find(reader: Reader, number: int) -> Anchor | None:
    """Return one anchor, or None if there is none. Raises `UnreadableAnchor`."""
    row = await reader.one("SELECT * FROM anchor WHERE number = :number", number=number)
    return load(row) if row else None


async def get(reader: Reader, number: int) -> Anchor:
    """Return one anchor. Raises `UnreadableAnchor`, also if there is none."""
    found = await find(reader, number)
    if found is None:
        raise UnreadableAnchor("it is missing")
    return found


async def find_time(reader: Reader, number: int) -> Instant | None:
    """Return when an anchor was made, or None if there is none of this number."""
    row = await reader.one("SELECT made_at FROM anchor WHERE number = :number", number=number)
    return row["made_at"] if row else None


async def count_leaves(reader: Reader, number: int) -> int:
    """Return how many trails an anchor has, as its statement says; 0 for one that cannot be read."""
    row = await reader.one("SELECT statement FROM anchor WHERE number = :number", number=number)
    try:
        return read_statement(bytes(row["statement"])).leaves if row else 0
    except UnreadableAnchor:
        return 0


def load(row: Row) -> Anchor:
    """Return the anchor of one row."""
    token = None if row["token"] is None else bytes(row["token"])
    statement, leaves = read_statement(bytes(row["statement"])), read_leaves(bytes(row["leaves"]))
    return Anchor(statement, leaves, bytes(row["cms"]), token)


async def find_place(reader: Reader, target: str) -> int:
    """Return up to which number the target has all anchors."""
    row = await reader.one("SELECT number FROM anchor_target WHERE target = :target", target=target)
    return row["number"] if row else 0


async def save_place(tx: Transaction, target: str, number: int, error: str | None) -> None:
    """Save up to which number the target has all anchors, and why it does not take the next one."""
    await tx.run(
        """
        INSERT INTO anchor_target (target, number, error) VALUES (:target, :number, :error)
        ON CONFLICT (target) DO UPDATE SET number = excluded.number, error = excluded.error
        """,
        target=target,
        number=number,
        error=error,
    )


async def find_failing(reader: Reader, targets: Sequence[str]) -> dict[str, str]:
    """Return why the last delivery failed, for those of these targets whose did."""
    found = {}
    for target in targets:
        row = await reader.one("SELECT error FROM anchor_target WHERE target = :target", target=target)
        if row is not None and row["error"] is not None:
            found[target] = row["error"]
    return found


async def find_identity(reader: Reader) -> str | None:
    """Return the name of this installation in its anchors, or None before the first one."""
    value = await installation.find(reader, IDENTITY)
    return value.decode(errors="replace") if value is not None else None
