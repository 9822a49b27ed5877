"""Jobs that are set aside: they ended their PDF worker, or the whole program, as often as a job may.

A job is cut off when the program ends while it is under way, however that came about: a power cut looks like a job that
ends the program. What tells them apart is when the program ends. A job that was cut off twice is a suspect: it rests
at the next start and is then tried alone. If the program ends during the rest, something else ends it, and the count
begins anew; only if the program outlives the rest and ends with the job once more is the job set aside. So a server
that is killed again and again clears its jobs as fast as it suspects them. An attempt that ends in any way clears the
count too, and an orderly end of the program counts for nothing.
"""

from dataclasses import dataclass

from esign.core.instant import SECOND, Instant, Millis
from esign.store.engine.database import Reader, Transaction
from esign.store.queue.outbox import Job

MOST = 3  # deaths of its worker, or times in a row that it was cut off
SUSPECT = MOST - 1  # one that was cut off so often is tried alone
REST: Millis = 10 * SECOND  # which a suspect waits after the start of the program
CUT_OFF = "The server stopped three times while it worked on this"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A seal or mail that was cut off as often as makes it a suspect, and waits or is under way."""

    id: int
    kind: str
    due_at: Instant
    not_before: Instant
    is_under_way: bool

    def is_ready(self, now: Instant) -> bool:
        """Return whether it is due and has rested."""
        return not self.is_under_way and max(self.due_at, self.not_before) <= now


async def find_suspects(reader: Reader) -> list[Suspect]:
    """Return the suspects among seals and mails, of which there are hardly ever any."""
    rows = await reader.all(
        """
        SELECT id, kind, due_at, not_before, boot IS NOT NULL AS is_under_way FROM outbox
        WHERE state = 'pending' AND cut_offs > 0 AND cut_offs >= :suspect ORDER BY cut_offs, id
        """,
        suspect=SUSPECT,
    )
    return [Suspect(**dict(row) | {"is_under_way": bool(row["is_under_way"])}) for row in rows]


async def note_cut_offs(tx: Transaction, boot: str, now: Instant) -> list[Job]:
    """Count what an earlier run of the program left under way, and make it due again; the attempt does not count.

    What that run did not have under way is cleared. Return the jobs that were set aside.
    """
    await tx.run_and_wake(
        """
        UPDATE outbox SET cut_offs = 0, not_before = 0, due_at = :now
        WHERE state = 'pending' AND cut_offs > 0 AND boot IS NULL
        """,
        now=now,
    )
    await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1, cut_offs = cut_offs + 1
        WHERE state = 'pending' AND boot IS NOT NULL AND boot <> :boot
        """,
        boot=boot,
        now=now,
    )
    await tx.run(
        """
        UPDATE outbox SET not_before = :until
        WHERE state = 'pending' AND cut_offs > 0 AND cut_offs >= :suspect
        """,
        until=now + REST,
        suspect=SUSPECT,
    )
    rows = await tx.all(
        """
        SELECT id, kind, key, document_id, body, attempts, organisation_id FROM outbox
        WHERE state = 'pending' AND cut_offs > 0 AND cut_offs >= :most
        """,
        most=MOST,
    )
    jobs = [Job(**{name: row[name] for name in Job.__slots__}) for row in rows]
    for job in jobs:
        await put_aside(tx, job, now, CUT_OFF)
    return jobs


async def note_cut_deliveries(tx: Transaction, boot: str, now: Instant) -> int:
    """Do the same for deliveries, and return how many were set aside."""
    await tx.run_and_wake(
        """
        UPDATE delivery SET cut_offs = 0, due_at = :now
        WHERE status = 'pending' AND cut_offs > 0 AND boot IS NULL
        """,
        now=now,
    )
    await tx.run_and_wake(
        """
        UPDATE delivery SET boot = NULL, cut_offs = cut_offs + 1,
            due_at = CASE WHEN cut_offs + 1 < :suspect THEN :now ELSE :later END,
            status = CASE WHEN cut_offs + 1 < :most THEN status ELSE 'failed' END,
            aside_at = CASE WHEN cut_offs + 1 < :most THEN NULL ELSE :now END,
            finished_at = CASE WHEN cut_offs + 1 < :most THEN finished_at ELSE :now END,
            last_error = CASE WHEN cut_offs + 1 < :most THEN last_error ELSE :reason END
        WHERE status = 'pending' AND boot IS NOT NULL AND boot <> :boot
        """,
        boot=boot,
        now=now,
        later=now + REST,
        suspect=SUSPECT,
        most=MOST,
        reason=CUT_OFF,
    )
    row = await tx.one(
        "SELECT count(*) AS count FROM delivery WHERE aside_at IS NOT NULL AND aside_at = :now", now=now
    )
    return int(row["count"]) if row else 0


async def return_claims(tx: Transaction, boot: str, now: Instant) -> None:
    """Make due again what this run of the program has under way, at its orderly end. It counts for nothing."""
    await tx.run(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1
        WHERE state = 'pending' AND boot IS NOT NULL AND boot = :boot
        """,
        boot=boot,
        now=now,
    )
    await tx.run(
        """
        UPDATE delivery SET due_at = :now, boot = NULL
        WHERE status = 'pending' AND boot IS NOT NULL AND boot = :boot
        """,
        boot=boot,
        now=now,
    )


async def put_aside(tx: Transaction, job: Job, now: Instant, reason: str) -> None:
    """Set a job aside: nothing tries it again by itself, and its content is kept."""
    await tx.run(
        """
        UPDATE outbox SET state = 'aside', due_at = :now, boot = NULL, last_error = :reason
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        now=now,
        reason=reason,
    )


async def count_death(tx: Transaction, job: Job) -> int:
    """Count that a job has ended its PDF worker, and return how often it has by now."""
    row = await tx.points.one(
        "UPDATE outbox SET worker_deaths = worker_deaths + 1 WHERE id = :id RETURNING worker_deaths AS deaths",
        id=job.id,
    )
    return int(row["deaths"]) if row else 0


async def count(reader: Reader) -> dict[str, int]:
    """Return how many jobs of each kind are set aside; kinds without one are left out."""
    jobs = await reader.all("SELECT kind, count(*) AS count FROM outbox WHERE state = 'aside' GROUP BY kind")
    webhooks = await reader.all("SELECT count(*) AS count FROM delivery WHERE aside_at IS NOT NULL")
    found = {row["kind"]: int(row["count"]) for row in jobs}
    return found | ({"webhook": int(webhooks[0]["count"])} if webhooks and webhooks[0]["count"] else {})
