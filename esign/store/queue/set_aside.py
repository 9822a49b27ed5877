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
SHOWN = 100
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


async def find_suspects(reader: Reader, now: Instant) -> list[Suspect]:
    """Return the suspects among seals and mails, of which there are hardly ever any.

    One whose lease is over is not under way any more.
    """
    rows = await reader.all(
        """
        SELECT id, kind, due_at, not_before, boot IS NOT NULL AND due_at > :now AS is_under_way FROM outbox
        WHERE state = 'pending' AND cut_offs > 0 AND cut_offs >= :suspect ORDER BY cut_offs, id
        """,
        suspect=SUSPECT,
        now=now,
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


@dataclass(frozen=True, slots=True)
class AsideJob:
    """A job that is set aside. `kind` is `seal`, `mail` or `webhook`; `number` is that of its row.

    `mode` and `title` are those of its document, `webhook_id` that of a delivery.
    """

    kind: str
    number: int
    organisation_id: str | None
    document_id: str | None
    title: str | None
    mode: str | None
    webhook_id: str | None
    at: Instant
    reason: str | None


JOBS = """
    SELECT outbox.kind, outbox.id AS number, outbox.organisation_id, outbox.document_id, document.title,
        document.mode, NULL AS webhook_id, outbox.due_at AS at, outbox.last_error AS reason
    FROM outbox LEFT JOIN document ON document.id = outbox.document_id
"""
DELIVERIES = """
    SELECT 'webhook' AS kind, delivery.number, webhook.organisation_id, NULL AS document_id, NULL AS title,
        webhook.mode, delivery.webhook_id, delivery.aside_at AS at, delivery.last_error AS reason
    FROM delivery JOIN webhook ON webhook.id = delivery.webhook_id
"""


async def find_some(reader: Reader, organisation_id: str | None) -> list[AsideJob]:
    """Return what is set aside in an organisation, or everywhere with None.

    These are up to `SHOWN` seals and mails, and as many deliveries.
    """
    jobs = await reader.all(
        f"""
        {JOBS} WHERE outbox.state = 'aside'
        AND (CAST(:organisation_id AS TEXT) IS NULL OR outbox.organisation_id = :organisation_id)
        ORDER BY outbox.kind DESC, outbox.id LIMIT :most
        """,
        organisation_id=organisation_id,
        most=SHOWN,
    )
    deliveries = await reader.all(
        f"""
        {DELIVERIES} WHERE delivery.aside_at IS NOT NULL
        AND (CAST(:organisation_id AS TEXT) IS NULL OR webhook.organisation_id = :organisation_id)
        ORDER BY delivery.aside_at, delivery.number LIMIT :most
        """,
        organisation_id=organisation_id,
        most=SHOWN,
    )
    return [AsideJob(**dict(row)) for row in (*jobs, *deliveries)]


async def find(reader: Reader, kind: str, number: int) -> AsideJob | None:
    """Return a job that is set aside, or None if it is not."""
    if kind == "webhook":
        row = await reader.one(
            f"{DELIVERIES} WHERE delivery.number = :number AND delivery.aside_at IS NOT NULL", number=number
        )
    else:
        row = await reader.one(
            f"{JOBS} WHERE outbox.id = :number AND outbox.kind = :kind AND outbox.state = 'aside'",
            number=number,
            kind=kind,
        )
    return AsideJob(**dict(row)) if row else None


async def retry(tx: Transaction, kind: str, number: int, organisation_id: str | None, now: Instant) -> bool:
    """Make a job of an organisation, or of any with None, due with all counts at 0.

    Return False if it is not set aside, or its webhook is switched off.
    """
    if kind == "webhook":
        return bool(
            await tx.run_and_wake(
                """
                UPDATE delivery SET status = 'pending', due_at = :now, tries = 0, finished_at = NULL, boot = NULL,
                    cut_offs = 0, aside_at = NULL
                WHERE number = :number AND aside_at IS NOT NULL AND status = 'failed' AND EXISTS (
                    SELECT 1 FROM webhook WHERE webhook.id = delivery.webhook_id AND webhook.enabled = 1
                    AND (CAST(:organisation_id AS TEXT) IS NULL OR webhook.organisation_id = :organisation_id))
                """,
                number=number,
                organisation_id=organisation_id,
                now=now,
            )
        )
    return bool(
        await tx.run_and_wake(
            """
            UPDATE outbox SET state = 'pending', due_at = :now, worker_deaths = 0, cut_offs = 0, not_before = 0
            WHERE id = :number AND kind = :kind AND state = 'aside'
            AND (CAST(:organisation_id AS TEXT) IS NULL OR organisation_id = :organisation_id)
            """,
            number=number,
            kind=kind,
            organisation_id=organisation_id,
            now=now,
        )
    )
