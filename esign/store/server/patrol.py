"""How far the patrol over all contents has come, and the damage that was found."""

from collections.abc import Sequence
from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Row, Transaction


@dataclass(frozen=True, slots=True)
class PatrolState:
    """The pass that runs: the hash read last, when it began, how many contents it has read; and the passes before."""

    place: str
    begun_at: Instant
    contents: int = 0
    finished_at: Instant | None = None
    mailed_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that was found damaged. `kind` is a table, or `seal`; `told_at` is when owners were told."""

    kind: str
    subject: str
    reason: str
    found_at: Instant
    told_at: Instant | None = None


async def find(reader: Reader) -> PatrolState | None:
    """Return the state, or None before the first pass."""
    row = await reader.one(
        "SELECT place, begun_at, contents, finished_at, mailed_at FROM patrol WHERE id = 1"
    )
    return PatrolState(**dict(row)) if row else None


async def save(tx: Transaction, state: PatrolState) -> None:
    """Save how far the pass has come."""
    await tx.run(
        """
        INSERT INTO patrol (id, place, begun_at, contents, finished_at, mailed_at)
        VALUES (1, :place, :begun_at, :contents, :finished_at, :mailed_at)
        ON CONFLICT (id) DO UPDATE SET place = excluded.place, begun_at = excluded.begun_at,
            contents = excluded.contents, finished_at = excluded.finished_at
        """,
        place=state.place,
        begun_at=state.begun_at,
        contents=state.contents,
        finished_at=state.finished_at,
        mailed_at=state.mailed_at,
    )


async def find_contents(reader: Reader, place: str, until: str, limit: int) -> list[str]:
    """Return up to `limit` hashes after `place` and up to `until`, in order: of contents, and of what documents and
    templates refer to.
    """
    part = "SELECT sha256 FROM {} WHERE sha256 > :place AND sha256 <= :until"
    parts = " UNION ".join(part.format(table) for table in ("blob", "document_blob", "template_blob"))
    rows = await reader.all(f"{parts} ORDER BY sha256 LIMIT :limit", place=place, until=until, limit=limit)
    return [row["sha256"] for row in rows]


# ---------- damage ----------


async def note_damage(tx: Transaction, found: Sequence[Damage]) -> None:
    """Store damage; what is known already stays as it was found first."""
    for each in found:
        await tx.run(
            """
            INSERT INTO damage (kind, subject, reason, found_at) VALUES (:kind, :subject, :reason, :found_at)
            ON CONFLICT DO NOTHING
            """,
            kind=each.kind,
            subject=each.subject,
            reason=each.reason,
            found_at=each.found_at,
        )


async def forget_damage(tx: Transaction, damage: Damage) -> None:
    """Forget what was found whole again: damaged once more, it is news once more."""
    await tx.run(
        "DELETE FROM damage WHERE kind = :kind AND subject = :subject",
        kind=damage.kind,
        subject=damage.subject,
    )


async def list_damage(reader: Reader, limit: int) -> list[Damage]:
    """Return up to `limit` things that were found damaged."""
    rows = await reader.all("SELECT * FROM damage ORDER BY kind, subject LIMIT :limit", limit=limit)
    return [_load(row) for row in rows]


async def list_untold(reader: Reader, limit: int) -> list[Damage]:
    """Return up to `limit` things that owners were not told of, those found first."""
    rows = await reader.all(
        "SELECT * FROM damage WHERE told_at IS NULL ORDER BY found_at LIMIT :limit", limit=limit
    )
    return [_load(row) for row in rows]


async def mark_told(tx: Transaction, told: Sequence[Damage], now: Instant) -> None:
    """Note that owners were told of this damage now."""
    for each in told:
        await tx.run(
            "UPDATE damage SET told_at = :now WHERE kind = :kind AND subject = :subject",
            now=now,
            kind=each.kind,
            subject=each.subject,
        )
    await tx.run("UPDATE patrol SET mailed_at = :now WHERE id = 1", now=now)


def _load(row: Row) -> Damage:
    return Damage(row["kind"], row["subject"], row["reason"], row["found_at"], row["told_at"])
