"""When the next scheduled backup is due, and what became of those before."""

from dataclasses import asdict, dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction


@dataclass(frozen=True, slots=True)
class BackupState:
    """The schedule. `made_at`, `name` and `size` are of the last good backup, `failures` the failed tries since.

    `label` tells this installation from others with the same target. `place` is the target, since `begun_at`, and
    `elsewhere` says that the last backup was not on the disk of the data.
    """

    label: str
    place: str
    begun_at: Instant
    due_at: Instant
    tried_at: Instant | None = None
    made_at: Instant | None = None
    name: str | None = None
    size: int | None = None
    failures: int = 0
    problem: str | None = None
    mailed_at: Instant | None = None
    elsewhere: bool = False


async def find(reader: Reader) -> BackupState | None:
    """Return the state, or None before the first backup was due."""
    row = await reader.one(
        """
        SELECT label, place, begun_at, due_at, tried_at, made_at, name, size, failures, problem, mailed_at, elsewhere
        FROM backup_schedule WHERE id = 1
        """
    )
    if row is None:
        return None
    values = dict(row)
    return BackupState(**values | {"elsewhere": bool(values["elsewhere"])})


async def save(tx: Transaction, state: BackupState) -> None:
    """Save the state."""
    await tx.run(
        """
        INSERT INTO backup_schedule (id, label, place, begun_at, due_at, tried_at, made_at, name, size, failures,
            problem, mailed_at, elsewhere)
        VALUES (1, :label, :place, :begun_at, :due_at, :tried_at, :made_at, :name, :size, :failures, :problem,
            :mailed_at, :elsewhere)
        ON CONFLICT (id) DO UPDATE SET place = excluded.place, begun_at = excluded.begun_at,
            due_at = excluded.due_at, tried_at = excluded.tried_at, made_at = excluded.made_at,
            name = excluded.name, size = excluded.size, failures = excluded.failures, problem = excluded.problem,
            mailed_at = excluded.mailed_at, elsewhere = excluded.elsewhere
        """,
        **asdict(state) | {"elsewhere": int(state.elsewhere)},
    )


async def note_mail(tx: Transaction, at: Instant) -> None:
    """Note when owners were told that backups fail."""
    await tx.run("UPDATE backup_schedule SET mailed_at = :at WHERE id = 1", at=at)
