"""The only queue: rows of work that were committed with their cause, claimed under a lease."""

from dataclasses import dataclass

from esign.core.document import Mode
from esign.core.instant import DAY, Instant, Millis
from esign.store.database import Reader, Transaction

NO_TIME_STAMPS = "no authority gave a time stamp"  # the cause of failed seals, however each authority failed
KEPT: Millis = 30 * DAY  # how long what is done can still be looked at


@dataclass(frozen=True, slots=True)
class Job:
    """`key` is the natural key that keeps it from being queued twice."""

    id: int
    kind: str
    key: str
    document_id: str | None
    body: bytes
    attempts: int


async def add(
    tx: Transaction,
    kind: str,
    key: str,
    now: Instant,
    *,
    document_id: str | None = None,
    body: bytes = b"",
    owner: tuple[str, Mode] | None = None,
) -> int:
    """Queue it, due at once; nothing happens, and 0 comes back, when a job of this key was queued before.

    `owner` is whose mail it is: the organisation and the mode.
    """
    return await tx.run(
        """
        INSERT INTO outbox
            (kind, key, document_id, body, state, due_at, attempts, created_at, organisation_id, mode)
        VALUES (:kind, :key, :document_id, :body, 'pending', :now, 0, :now, :organisation_id, :mode)
        ON CONFLICT DO NOTHING
        """,
        kind=kind,
        key=key,
        document_id=document_id,
        body=body,
        now=now,
        organisation_id=owner[0] if owner else None,
        mode=owner[1].value if owner else None,
    )


async def find_due(reader: Reader, kind: str, now: Instant, limit: int) -> list[int]:
    """The ids of due jobs, oldest first."""
    rows = await reader.all(
        """
        SELECT id FROM outbox WHERE state = 'pending' AND kind = :kind AND due_at <= :now
        ORDER BY due_at, id LIMIT :limit
        """,
        kind=kind,
        now=now,
        limit=limit,
    )
    return [row["id"] for row in rows]


async def claim(tx: Transaction, job_id: int, now: Instant, lease: Millis, boot: str) -> Job | None:
    """Hide a due job for `lease`; after a crash it is simply due again. None when it is not due any more."""
    row = await tx.one(
        """
        UPDATE outbox SET due_at = :until, attempts = attempts + 1, boot = :boot
        WHERE id = :id AND state = 'pending' AND due_at <= :now
        RETURNING id, kind, key, document_id, body, attempts
        """,
        id=job_id,
        now=now,
        until=now + lease,
        boot=boot,
    )
    return Job(**{name: row[name] for name in Job.__slots__}) if row else None


async def finish(
    tx: Transaction,
    job: Job,
    now: Instant,
    error: str | None = None,
    *,
    words: bytes | None = None,
    reply: str | None = None,
) -> None:
    """Done, or given up with a reason; what it carried is wiped, of a mail a copy stays and what the server said."""
    await tx.run(
        """
        UPDATE outbox SET state = :state, finished_at = :now, last_error = :error, boot = NULL, body = NULL,
            words = COALESCE(:words, words), reply = :reply
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        state="failed" if error else "done",
        now=now,
        error=error,
        words=words,
        reply=reply,
    )


async def postpone(
    tx: Transaction, job: Job, due_at: Instant, error: str, words: bytes | None = None
) -> None:
    """Due again later; of a mail a copy of what could not be sent stays."""
    await tx.run(
        """
        UPDATE outbox SET due_at = :due_at, boot = NULL, last_error = :error, words = COALESCE(:words, words)
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        due_at=due_at,
        error=error,
        words=words,
    )


async def release(tx: Transaction, boot: str, now: Instant) -> int:
    """Make due at once what a process that is gone had claimed; the failed attempt does not count."""
    return await tx.run(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1
        WHERE state = 'pending' AND boot IS NOT NULL AND boot <> :boot
        """,
        boot=boot,
        now=now,
    )


async def hasten(tx: Transaction, kind: str, now: Instant) -> int:
    """Make every waiting job of a kind due now."""
    return await tx.run(
        """
        UPDATE outbox SET due_at = :now
        WHERE state = 'pending' AND kind = :kind AND boot IS NULL AND due_at > :now
        """,
        kind=kind,
        now=now,
    )


async def hasten_alike(tx: Transaction, job: Job, now: Instant) -> int:
    """Make due now what failed for the same reason as this job did before: what held them up is gone."""
    return await tx.run(
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
    """Everything queued or done for a document that is deleted; what is being worked ends without a trace."""
    await tx.run("DELETE FROM outbox WHERE document_id = :id", id=document_id)


async def is_there(reader: Reader, job: Job) -> bool:
    """Whether the job has not been dropped while it was worked."""
    return await reader.one("SELECT 1 FROM outbox WHERE id = :id", id=job.id) is not None


async def has_new_mail(reader: Reader, organisation_id: str, document_id: str) -> bool:
    """Whether a mail about this own document of test mode has not been tried yet."""
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


async def probe(tx: Transaction, kind: str, now: Instant) -> int:
    """Make due now one of the jobs that failed for the same reason, for each reason that several share or could."""
    return await tx.run(
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
    """A document that waits for its seal has a job for it, due now unless it is being worked."""
    await add(tx, "seal", f"seal:{document_id}", now, document_id=document_id)
    await tx.run(
        """
        UPDATE outbox SET state = 'pending', due_at = :now, finished_at = NULL
        WHERE key = :key AND (state <> 'pending' OR (boot IS NULL AND due_at > :now))
        """,
        key=f"seal:{document_id}",
        now=now,
    )


async def seal_due(reader: Reader, document_id: str) -> Instant | None:
    """When the seal of a document is tried next; None where none is awaited."""
    row = await reader.one(
        "SELECT due_at FROM outbox WHERE key = :key AND state = 'pending'", key=f"seal:{document_id}"
    )
    return row["due_at"] if row else None


async def waits_for(reader: Reader, kind: str, cause: str) -> bool:
    """Whether a job of that kind failed for that cause and has not been done since."""
    rows = await reader.all(
        "SELECT 1 FROM outbox WHERE state = 'pending' AND kind = :kind AND last_error = :cause LIMIT 1",
        kind=kind,
        cause=cause,
    )
    return bool(rows)


async def next_due(reader: Reader, kind: str) -> Instant | None:
    rows = await reader.all(
        "SELECT due_at FROM outbox WHERE state = 'pending' AND kind = :kind ORDER BY due_at LIMIT 1",
        kind=kind,
    )
    return rows[0]["due_at"] if rows else None


async def is_stuck(reader: Reader, kind: str, attempts: int) -> bool:
    """Whether a job failed that often, and none that is newer has been done since."""
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
    return await tx.run(
        "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE finished_at < :before LIMIT :limit)",
        before=before,
        limit=limit,
    )


async def pending(reader: Reader, kind: str) -> list[tuple[str, str | None]]:
    """(key, last error) of every job of a kind that is not finished."""
    rows = await reader.all(
        "SELECT key, last_error FROM outbox WHERE state = 'pending' AND kind = :kind", kind=kind
    )
    return [(row["key"], row["last_error"]) for row in rows]
