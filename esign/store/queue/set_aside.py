"""Jobs that are set aside: they ended their PDF worker, or the whole program, as often as a job may.

A job is cut off when the program ends while it is under way, however that came about: a power cut looks like a job that
ends the program. So an attempt that ends in any way clears the count; and after two in a row the job waits at the next
start and is then tried alone, so that neither a server that is killed again and again nor a companion in its last
moment brings it here. An orderly end of the program counts for nothing.
"""

from esign.core.instant import SECOND, Instant, Millis
from esign.store.engine.database import Reader, Transaction
from esign.store.queue.outbox import Job

MOST = 3  # deaths of its worker, or times in a row that it was cut off
SUSPECT = MOST - 1  # one that was cut off so often is tried alone
REST: Millis = 15 * SECOND  # which a suspect waits after the start of the program
CUT_OFF = "The server stopped three times while it worked on this"


async def note_cut_offs(tx: Transaction, boot: str, now: Instant) -> list[Job]:
    """Count what an earlier run of the program left under way, and make it due again; the attempt does not count.

    Return the seals that were set aside. Mails are not counted: nobody could have one tried again, and a rest would
    hold up an invitation or a code. Suspects rest, whenever they were cut off.
    """
    await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1,
            cut_offs = cut_offs + CASE WHEN kind = 'seal' THEN 1 ELSE 0 END
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
