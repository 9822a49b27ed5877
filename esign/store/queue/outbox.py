"""The only queue: jobs that were committed together with their cause and are claimed under a lease."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from zlib import crc32

from esign.core.actor import Owner
from esign.core.instant import DAY, Instant, Millis
from esign.core.mail_urgency import Urgency
from esign.store.engine.database import Reader, Transaction
from esign.store.engine.dialect import read_text_as_bytes
from esign.store.engine.sql import OldRows, delete_some, list_parameters

# The one cause of all seals that got no time stamp: `probe` and `hasten_alike` find jobs by equal causes.
NO_TIME_STAMPS = "no authority gave a time stamp"
NOBODY = "none"  # stands for the organisation of mails that belong to none
SHARE = 8  # one of so many claims takes the oldest job, however urgent others are
KEPT: Millis = 30 * DAY  # how long finished jobs are kept


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


async def find_due(reader: Reader, kind: str, now: Instant, limit: int) -> list[int]:
    """Return the ids of up to `limit` due jobs, oldest first."""
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


MAIL_LANES = """
    WITH RECURSIVE lane (id) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT organisation_id FROM outbox
            WHERE kind = 'mail' AND state = 'pending' AND organisation_id > lane.id
            ORDER BY organisation_id, urgency, due_at, id LIMIT 1)
        FROM lane WHERE lane.id IS NOT NULL
    ), level (id) AS (VALUES (0), (1), (2), (3))
"""


@dataclass(slots=True)
class MailLane:
    """The mails of one organisation: how many are under way, how many more may be, and its next mail.

    `chance` decides between organisations of equal rank.
    """

    under_way: int
    awaited: int
    room: int
    chance: int
    due: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))
    first: tuple[int, int] | None = None

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """Return the rank of the organisation; the least goes first.

        First comes a single mail that a person waits for, then the organisation with the fewest mails under
        way.
        """
        urgency = self.first[1] if self.first else Urgency.NEWS
        is_express = urgency == Urgency.AWAITED and not self.awaited
        return (not is_express, self.under_way, urgency, self.chance)

    def take(self) -> int:
        """Return the next mail and count it as under way."""
        assert self.first is not None
        job_id, urgency = self.first
        self.under_way, self.room = self.under_way + 1, self.room - 1
        self.awaited += urgency == Urgency.AWAITED
        self.first = next(self.due, None) if self.room > 0 else None
        return job_id


async def find_due_mails(reader: Reader, now: Instant, limit: int, turn: int, most: int) -> list[int]:
    """Return the ids of due mails, in turns between organisations, the most urgent of each first.

    Organisations with the fewest mails under way come first, and none has more than `most`. So neither many
    mails of one organisation, nor addresses at which the mail server hangs, hold up another. If the mail server
    defers all mails of an organisation, one is tried when its probe is due. `turn` is any number that differs
    from call to call.
    """
    lanes = await _find_lanes(reader, now, limit, turn, most)
    if lanes:
        ends = {order: await _find_ends(reader, list(lanes), now, limit, order) for order in ("ASC", "DESC")}
        for name, lane in lanes.items():
            lane.due = _take_turns(ends["ASC"].get(name, []), ends["DESC"].get(name, []), turn)
            lane.first = next(lane.due, None)
    found: list[int] = []
    while len(found) < limit and (ready := [lane for lane in lanes.values() if lane.first is not None]):
        found.append(min(ready, key=lambda lane: lane.rank).take())
    return found


async def _find_lanes(reader: Reader, now: Instant, limit: int, turn: int, most: int) -> dict[str, MailLane]:
    """Return the organisations with due mails whose turn it is, by id, at most `limit`."""
    rows = await reader.all(
        # `boot > ''` selects the index of the few that are under way instead of all that wait.
        "SELECT organisation_id, kind, urgency FROM outbox WHERE state = 'pending' AND boot IS NOT NULL AND boot > ''"
    )
    busy = [(row["organisation_id"], row["urgency"]) for row in rows if row["kind"] == "mail"]
    under_way, levels = Counter(name for name, _ in busy), Counter(busy)
    rows = await reader.all(
        f"""
        {MAIL_LANES}
        SELECT lane.id, deferral.stopped_at, MIN(level.id) AS urgency
        FROM lane CROSS JOIN level LEFT JOIN deferral ON deferral.organisation_id = lane.id
        WHERE (deferral.stopped_at IS NULL OR deferral.probe_at <= :now) AND EXISTS (
            SELECT 1 FROM outbox next WHERE next.organisation_id = lane.id AND next.urgency = level.id
            AND next.kind = 'mail' AND next.state = 'pending' AND next.due_at <= :now)
        GROUP BY lane.id, deferral.stopped_at
        """,
        now=now,
    )
    lanes = {
        row["id"]: MailLane(
            under_way=under_way[row["id"]],
            awaited=levels[row["id"], Urgency.AWAITED],
            room=(most if row["stopped_at"] is None else 1) - under_way[row["id"]],
            chance=crc32(f"{row['id']}{turn}".encode()),
            first=(0, row["urgency"]),
        )
        for row in rows
    }
    open_ones = sorted(
        (name for name, lane in lanes.items() if lane.room > 0), key=lambda name: lanes[name].rank
    )
    return {name: lanes[name] for name in open_ones[:limit]}


async def _find_ends(
    reader: Reader, lanes: Sequence[str], now: Instant, limit: int, order: str
) -> dict[str, list[tuple[Instant, int, int]]]:
    """Return (due, id, urgency) of the `limit` oldest or newest due mails of each organisation and urgency."""
    names, given = list_parameters("lane", lanes)
    rows = await reader.all(
        f"""
        WITH lane (id) AS (VALUES {names[1:-1].replace(":", "(:").replace(",", "),") + ")"}),
            level (id) AS (VALUES (0), (1), (2), (3))
        SELECT waiting.organisation_id, waiting.due_at, waiting.id, waiting.urgency
        FROM lane CROSS JOIN level CROSS JOIN outbox waiting
        WHERE waiting.id IN (
            SELECT id FROM outbox next
            WHERE next.organisation_id = lane.id AND next.urgency = level.id
            AND next.kind = 'mail' AND next.state = 'pending' AND next.due_at <= :now
            ORDER BY next.due_at {order}, next.id {order} LIMIT :limit)
        """,
        now=now,
        limit=limit,
        **given,
    )
    found: dict[str, list[tuple[Instant, int, int]]] = {}
    for row in rows:
        found.setdefault(row["organisation_id"], []).append((row["due_at"], row["id"], row["urgency"]))
    return found


def _take_turns(
    oldest: Sequence[tuple[Instant, int, int]], newest: Sequence[tuple[Instant, int, int]], turn: int
) -> Iterator[tuple[int, int]]:
    """Yield (id, urgency), the most urgent first; one of each eight is the oldest of all, so that none starves.

    Among equals, the oldest and the newest take turns. A mail that is queued now does not wait behind thousands
    that waited for the mail server to come back, and those go on too.
    """
    urgency = {job_id: level for _, job_id, level in (*oldest, *newest)}
    by_age = [job_id for _, job_id, _ in sorted(oldest)]
    ends = [
        (
            [job_id for _, job_id, level in sorted(oldest) if level == wanted],
            [job_id for _, job_id, level in sorted(newest, reverse=True) if level == wanted],
        )
        for wanted in Urgency
    ]
    for place in count(turn):
        urgent = next((pair for pair in ends if any(one in urgency for one in pair[0])), None)
        if urgent is None:
            return
        chosen = by_age if place % SHARE == 0 else urgent[place % 2]
        job_id = next(one for one in (*chosen, *urgent[0]) if one in urgency)
        yield job_id, urgency.pop(job_id)


SEAL_LANES = """
    WITH RECURSIVE lane (id) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT organisation_id FROM outbox
            WHERE kind = 'seal' AND state = 'pending' AND organisation_id > lane.id
            ORDER BY organisation_id, due_at, id LIMIT 1)
        FROM lane WHERE lane.id IS NOT NULL
    )
"""


async def find_due_seals(reader: Reader, now: Instant, limit: int, most: int | None = None) -> list[int]:
    """Return the ids of due seals, in turns between organisations.

    Organisations with the fewest seals under way come first, and none has more than `most`, so that many seals
    of one organisation hold up no other, however long each takes.
    """
    under_way = Counter(
        row["organisation_id"]
        for row in await reader.all(
            # `boot > ''` selects the index of the few that are under way instead of all that wait.
            "SELECT organisation_id, kind FROM outbox WHERE state = 'pending' AND boot IS NOT NULL AND boot > ''"
        )
        if row["kind"] == "seal"
    )
    rows = await reader.all(
        f"""
        {SEAL_LANES}
        SELECT waiting.id, waiting.organisation_id FROM lane CROSS JOIN outbox waiting
        WHERE waiting.id IN (
            SELECT id FROM outbox next
            WHERE next.organisation_id = lane.id AND next.kind = 'seal' AND next.state = 'pending'
            AND next.due_at <= :now ORDER BY next.due_at, next.id LIMIT :limit)
        ORDER BY waiting.due_at, waiting.id
        """,
        now=now,
        limit=limit,
    )
    turns: list[tuple[int, int]] = []
    for row in rows:
        turns.append((under_way[row["organisation_id"]], row["id"]))
        under_way[row["organisation_id"]] += 1
    fitting = [turn for turn in turns if most is None or turn[0] < most]
    return [job_id for _, job_id in sorted(fitting, key=lambda turn: turn[0])[:limit]]


async def claim(tx: Transaction, job_id: int, now: Instant, lease: Millis, boot: str) -> Job | None:
    """Hide a due job for `lease`; after a crash it becomes due again. Return None if it is no longer due."""
    row = await tx.one(
        f"""
        UPDATE outbox SET due_at = :until, attempts = attempts + 1, boot = :boot
        WHERE id = :id AND state = 'pending' AND due_at <= :now
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
        words=record.words,
        reply=record.reply,
    )


async def postpone(
    tx: Transaction, job: Job, due_at: Instant, error: str, words: bytes | None = None
) -> None:
    """Make a job due again at `due_at` after a failed attempt; of a mail, keep a copy of what was not sent."""
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


async def give_back(tx: Transaction, job: Job, now: Instant, error: str, words: bytes | None = None) -> None:
    """Make a job due again now, behind those that wait; the attempt does not count.

    It is meant for failures that the job did not cause.
    """
    await tx.run(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1, last_error = :error,
            words = COALESCE(:words, words)
        WHERE id = :id AND state = 'pending'
        """,
        id=job.id,
        now=now,
        error=error,
        words=words,
    )


async def release(tx: Transaction, boot: str, now: Instant) -> int:
    """Make jobs due at once that an earlier run of the program had claimed, without counting the attempt;
    return how many.
    """
    return await tx.run_and_wake(
        """
        UPDATE outbox SET due_at = :now, boot = NULL, attempts = attempts - 1
        WHERE state = 'pending' AND boot IS NOT NULL AND boot <> :boot
        """,
        boot=boot,
        now=now,
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


async def probe(tx: Transaction, kind: str, now: Instant) -> int:
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
    """Make sure that the document has a job for its seal, due now unless a worker holds it."""
    await add(tx, NewJob("seal", f"seal:{document_id}", document_id), now)
    await tx.run_and_wake(
        """
        UPDATE outbox SET organisation_id = (SELECT organisation_id FROM document WHERE id = :document_id)
        WHERE key = :key AND organisation_id IS NULL
        """,
        key=f"seal:{document_id}",
        document_id=document_id,
    )
    await tx.run_and_wake(
        """
        UPDATE outbox SET state = 'pending', due_at = :now, finished_at = NULL
        WHERE key = :key AND (state <> 'pending' OR (boot IS NULL AND due_at > :now))
        """,
        key=f"seal:{document_id}",
        now=now,
    )


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
