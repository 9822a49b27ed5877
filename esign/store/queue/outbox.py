"""The only queue: jobs that were committed together with their cause and are claimed under a lease.

`due_jobs` chooses which are claimed next.
"""

from dataclasses import dataclass

from esign.core.actor import Owner
from esign.core.instant import DAY, Instant, Millis
from esign.core.mail_urgency import Urgency
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.dialect import read_text_as_bytes
from esign.store.engine.sql import OldRows, delete_some

# The one cause of all seals that got no time stamp: `hasten_one_per_cause` and `hasten_alike` look for equal causes.
NO_TIME_STAMPS = "no authority gave a time stamp"
NOBODY = "none"  # stands for the organisation of mails that belong to none
KEPT: Millis = 30 * DAY  # how long finished jobs are kept
SUSPECT_PAUSE: Millis = 100


@dataclass(frozen=True, slots=True)
class Job:
    """A queued job; `key` is its natural key, which keeps it from being queued twice."""

    id: int
    kind: str
    key: str
    document_id: str | None
    body: bytes
    attempts: int
    organisation_id: str | None = None


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to queue. `owner` is the organisation and the mode that a mail belongs to."""

    kind: str
    key: str
    document_id: str | None = None
    body: bytes = b""
    owner: Owner | None = None
    urgency: Urgency = Urgency.NEWS


@dataclass(frozen=True, slots=True)
class MailRecord:
    """What is kept of a mail: an encrypted copy (`words`), and the answer of the mail server (`reply`)."""

    words: bytes | None = None
    reply: str | None = None


NO_RECORD = MailRecord()


@dataclass(frozen=True, slots=True)
class JobResult:
    """What became of a job so far: why the last attempt failed, and what the mail server answered that took it."""

    error: str | None
    reply: str | None


async def find_result(reader: Reader, key: str) -> JobResult | None:
    """Return what became of the mail with this key, or None if there is none, or no longer."""
    row = await reader.one("SELECT last_error, reply FROM outbox WHERE kind = 'mail' AND key = :key", key=key)
    return JobResult(row["last_error"], row["reply"]) if row else None


async def add(tx: Transaction, job: NewJob, now: Instant) -> int:
    """Queue a job, due at once; do nothing and return 0 if a job of this key was queued before."""
    nobody = NOBODY if job.kind == "mail" else None
    return await tx.run_and_wake(
        """
        INSERT INTO outbox
            (kind, key, document_id, body, state, due_at, attempts, created_at, organisation_id, mode, urgency)
        VALUES (:kind, :key, :document_id, :body, 'pending', :now, 0, :now, :organisation_id, :mode, :urgency)
        ON CONFLICT DO NOTHING
        """,
        kind=job.kind,
        key=job.key,
        document_id=job.document_id,
        body=job.body,
        now=now,
        organisation_id=job.owner.organisation_id if job.owner else nobody,
        mode=job.owner.mode.value if job.owner else None,
        urgency=int(job.urgency),
    )


async def claim(tx: Transaction, job_id: int, now: Instant, lease: Millis, boot: str) -> Job | None:
    """Hide a due job for `lease`; after a crash it becomes due again. Return None if it is no longer due.

    A suspect (`set_aside`) is only taken after its rest, and while no other suspect is under way.
    """
    row = await tx.points.one(
        f"""
        UPDATE outbox SET due_at = :until, attempts = attempts + 1, boot = :boot
        WHERE id = :id AND state = 'pending' AND due_at <= :now AND not_before <= :now AND (
            cut_offs < 2 OR NOT EXISTS (
                SELECT 1 FROM outbox other WHERE other.state = 'pending' AND other.cut_offs > 0
                AND other.cut_offs >= 2 AND other.boot IS NOT NULL AND other.due_at > :now))
        RETURNING id, kind, body, attempts, {read_text_as_bytes("key")} AS key,
            {read_text_as_bytes("document_id")} AS document_id,
            {read_text_as_bytes("organisation_id")} AS organisation_id
        """,
        id=job_id,
        now=now,
        until=now + lease,
        boot=boot,
    )
    if row is None:
        await put_off_suspect(tx, job_id, now)
        return None
    words = {name: row[name] for name in Job.__slots__}
    try:  # text is read as bytes: an error of decoding would roll back the claims of all other jobs
        texts = {
            name: bytes(words[name]).decode() if words[name] is not None else None
            for name in ("key", "document_id", "organisation_id")
        }
        return Job(**words | texts)
    except UnicodeDecodeError as error:
        tx.damage.note("outbox", job_id, error)
        await set_aside(tx, job_id, now)
        return None


async def put_off_suspect(tx: Transaction, job_id: int, now: Instant) -> None:
    """Make a suspect that must not be tried yet due a little later, so that it is not chosen again at once."""
    await tx.run_by_key(
        """
        UPDATE outbox SET due_at = CASE WHEN not_before > :soon THEN not_before ELSE :soon END
        WHERE id = :id AND state = 'pending' AND boot IS NULL AND due_at <= :now
        """,
        id=job_id,
        now=now,
        soon=now + SUSPECT_PAUSE,
    )


async def set_aside(tx: Transaction, job_id: int, now: Instant) -> None:
    """Mark a job whose row cannot be read as failed; its content is kept."""
    await tx.run(
        "UPDATE outbox SET state = 'failed', finished_at = :now, last_error = :error, boot = NULL WHERE id = :id",
        id=job_id,
        now=now,
        error="this row of the database is damaged",
    )


async def finish(
    tx: Transaction,
    job: Job,
    now: Instant,
    error: str | None = None,
    record: MailRecord = NO_RECORD,
) -> None:
    """Finish a job as done or, with an `error`, as given up, and wipe its body. Of a mail, keep the record."""
    await tx.run_by_key(
        """
        UPDATE outbox SET state = :state, finished_at = :now, last_error = :error, boot = NULL, body = NULL,
            words = COALESCE(:words, words), reply = :reply
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        state="failed" if error else "done",
        now=now,
        error=error,
        words=record.words,
        reply=record.reply,
    )


async def postpone(
    tx: Transaction, job: Job, due_at: Instant, error: str, words: bytes | None = None
) -> None:
    """Make a job due again at `due_at` after a failed attempt; of a mail, keep a copy of what was not sent."""
    await tx.run(
        """
        UPDATE outbox SET due_at = :due_at, boot = NULL, last_error = :error, words = COALESCE(:words, words),
            cut_offs = 0
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        due_at=due_at,
        error=error,
        words=words,
    )


async def give_back(tx: Transaction, job: Job, now: Instant, error: str, words: bytes | None = None) -> None:
    """Make a job due again now, behind those that wait; the attempt does not count.

    It is meant for failures that the job did not cause.
    """
    await tx.run(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1, last_error = :error,
            words = COALESCE(:words, words), cut_offs = 0
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        now=now,
        error=error,
        words=words,
    )


async def hasten(tx: Transaction, kind: str, now: Instant) -> int:
    """Make every waiting job of a kind due now; return how many."""
    return await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now
        WHERE state = 'pending' AND kind = :kind AND boot IS NULL AND due_at > :now
        """,
        kind=kind,
        now=now,
    )


async def hasten_mails(tx: Transaction, organisation_id: str, now: Instant) -> int:
    """Make every waiting mail of an organisation due now; return how many."""
    return await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now
        WHERE state = 'pending' AND kind = 'mail' AND organisation_id = :organisation_id
        AND boot IS NULL AND due_at > :now
        """,
        organisation_id=organisation_id,
        now=now,
    )


async def has_later_jobs(reader: Reader, latest: Instant) -> bool:
    """Return whether a job is due later than `latest`."""
    rows = await reader.all(
        """
        SELECT 1 FROM outbox WHERE state = 'pending' AND kind = 'mail' AND due_at > :latest
        UNION ALL SELECT 1 FROM outbox WHERE state = 'pending' AND kind = 'seal' AND due_at > :latest LIMIT 1
        """,
        latest=latest,
    )
    return bool(rows)


async def pull_in(tx: Transaction, latest: Instant, now: Instant) -> int:
    """Make jobs due now that are due later than `latest`; return how many."""
    return await tx.run_and_wake(
        "UPDATE outbox SET due_at = :now WHERE state = 'pending' AND kind IN ('mail', 'seal') AND due_at > :latest",
        now=now,
        latest=latest,
    )


async def hasten_alike(tx: Transaction, job: Job, now: Instant) -> int:
    """Make jobs due now that failed for the same reason as this one did before; return how many.

    The caller has just seen this job succeed, so their cause is gone too.
    """
    return await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now
        WHERE state = 'pending' AND kind = :kind AND boot IS NULL AND due_at > :now
        AND last_error = (SELECT last_error FROM outbox WHERE id = :id)
        """,
        kind=job.kind,
        id=job.id,
        now=now,
    )


async def forget(tx: Transaction, document_id: str) -> None:
    """Delete all jobs of a deleted document; a job that a worker holds leaves no trace when it ends."""
    await tx.run("DELETE FROM outbox WHERE document_id = :id", id=document_id)


async def is_there(reader: Reader, job: Job) -> bool:
    """Return whether the job still exists, and was not deleted while a worker held it."""
    return await reader.one("SELECT 1 FROM outbox WHERE id = :id", id=job.id) is not None


async def has_new_mail(reader: Reader, organisation_id: str, document_id: str) -> bool:
    """Return whether the organisation's document of test mode has a mail that was not tried yet."""
    rows = await reader.all(
        """
        SELECT 1 FROM outbox o JOIN document d ON d.id = o.document_id
        WHERE o.document_id = :document_id AND o.kind = 'mail' AND o.state = 'pending' AND o.last_error IS NULL
        AND d.organisation_id = :organisation_id AND d.mode = 'test' LIMIT 1
        """,
        organisation_id=organisation_id,
        document_id=document_id,
    )
    return bool(rows)


async def hasten_one_per_cause(tx: Transaction, kind: str, now: Instant) -> int:
    """Make one job due now for each reason of failure that several share or could share; return how many."""
    return await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now WHERE due_at > :now AND id IN (
            SELECT MIN(id) FROM outbox WHERE state = 'pending' AND kind = :kind AND boot IS NULL
            AND last_error IS NOT NULL GROUP BY last_error HAVING count(*) > 1 OR last_error = :shared)
        """,
        kind=kind,
        shared=NO_TIME_STAMPS,
        now=now,
    )


async def requeue_seal(tx: Transaction, document_id: str, now: Instant) -> None:
    """Make sure that the document has a job for its seal, due now unless a worker holds it, also if it is set aside.

    A job that a restore holds back stays so.
    """
    await tx.run_by_key(
        """
        UPDATE outbox SET state = 'pending', worker_deaths = 0, cut_offs = 0, not_before = 0
        WHERE key = :key AND state = 'aside'
        """,
        key=f"seal:{document_id}",
    )
    await ensure_seal(tx, document_id, now)


async def ensure_seal(tx: Transaction, document_id: str, now: Instant) -> None:
    """Do the same, but leave a job alone that is set aside."""
    await add(tx, NewJob("seal", f"seal:{document_id}", document_id), now)
    await tx.run_by_key(
        """
        UPDATE outbox SET organisation_id = (SELECT organisation_id FROM document WHERE id = :document_id)
        WHERE key = :key AND organisation_id IS NULL
        """,
        key=f"seal:{document_id}",
        document_id=document_id,
    )
    again = await tx.run_by_key(
        """
        UPDATE outbox SET state = 'pending', due_at = :now, finished_at = NULL
        WHERE key = :key AND state NOT IN ('aside', 'held')
        AND (state <> 'pending' OR (boot IS NULL AND due_at > :now))
        """,
        key=f"seal:{document_id}",
        now=now,
    )
    if again:
        tx.wake_workers()


async def find_seal_time(reader: Reader, document_id: str) -> Instant | None:
    """Return when the seal of a document is tried next, or None if none is queued."""
    row = await reader.one(
        "SELECT due_at FROM outbox WHERE key = :key AND state = 'pending'", key=f"seal:{document_id}"
    )
    return row["due_at"] if row else None


async def has_failed_for(reader: Reader, kind: str, cause: str) -> bool:
    """Return whether a job of this kind failed for this cause and is still waiting."""
    rows = await reader.all(
        "SELECT 1 FROM outbox WHERE state = 'pending' AND kind = :kind AND last_error = :cause LIMIT 1",
        kind=kind,
        cause=cause,
    )
    return bool(rows)


async def find_next_due(reader: Reader, kind: str) -> Instant | None:
    """Return the earliest due date of a job of this kind, or None."""
    rows = await reader.all(
        "SELECT due_at FROM outbox WHERE state = 'pending' AND kind = :kind ORDER BY due_at LIMIT 1",
        kind=kind,
    )
    return rows[0]["due_at"] if rows else None


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many jobs wait, and since when the oldest of them does."""

    count: int
    oldest: Instant | None


async def measure_backlog(reader: Reader, kind: str, most: int) -> Backlog:
    """Return how many jobs of this kind wait, and the time of the oldest, counting no more than `most`."""
    rows = await reader.all(
        """
        SELECT count(*) AS count, min(created_at) AS oldest FROM (
            SELECT created_at FROM outbox WHERE state = 'pending' AND kind = :kind LIMIT :most) waiting
        """,
        kind=kind,
        most=most,
    )
    return Backlog(**dict(rows[0])) if rows else Backlog(0, None)


async def is_standing_still(reader: Reader, kind: str, before: Instant, lease: Millis) -> bool:
    """Return whether a job was due or under way before `before`, and none was done since."""
    rows = await reader.all(
        """
        SELECT 1 WHERE (
            EXISTS (SELECT 1 FROM outbox WHERE state = 'pending' AND kind = :kind AND due_at < :before)
            OR EXISTS (SELECT 1 FROM outbox WHERE state = 'pending' AND boot IS NOT NULL AND kind = :kind
                AND due_at < :before + :lease))
        AND NOT EXISTS (
            SELECT 1 FROM outbox WHERE finished_at >= :before AND kind = :kind AND state = 'done')
        """,
        kind=kind,
        before=before,
        lease=lease,
    )
    return bool(rows)


async def is_stuck(reader: Reader, kind: str, attempts: int) -> bool:
    """Return whether a job failed `attempts` times, and no job was done since it was queued."""
    rows = await reader.all(
        """
        SELECT 1 FROM outbox WHERE state = 'pending' AND kind = :kind AND attempts >= :attempts
        AND last_error IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM outbox done WHERE done.kind = :kind AND done.state = 'done'
            AND done.finished_at > outbox.created_at) LIMIT 1
        """,
        kind=kind,
        attempts=attempts,
    )
    return bool(rows)


async def prune(tx: Transaction, before: Instant, limit: int) -> int:
    """Delete up to `limit` jobs that were finished before `before`; return how many."""
    return await delete_some(tx, OldRows("outbox", "id", "finished_at < :before"), before, limit)


async def find_pending(reader: Reader, kind: str) -> list[tuple[str, str | None]]:
    """Return (key, last error) of every unfinished job of a kind."""
    rows = await reader.all(
        "SELECT key, last_error FROM outbox WHERE state = 'pending' AND kind = :kind", kind=kind
    )
    return [(row["key"], row["last_error"]) for row in rows]
