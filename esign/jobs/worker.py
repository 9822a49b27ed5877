"""Takes due jobs from the outbox and works several of them at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass
from itertools import chain, repeat

from esign.actions.mail import deliver_mail, mail_breaker
from esign.actions.sealing import seal_document
from esign.actions.server import clock_watch
from esign.core.errors import Problem
from esign.core.instant import HOUR, MINUTE, SECOND, Instant, Millis
from esign.jobs import deliver_webhooks
from esign.jobs.log_trouble import log_trouble
from esign.runtime import Runtime
from esign.store.document import due_documents
from esign.store.engine.database import Transaction
from esign.store.engine.failures import is_passing, is_storage
from esign.store.queue import due_jobs, outbox, set_aside
from esign.store.queue.outbox import Job
from esign.store.queue.set_aside import Suspect
from esign.system.supervision import Heartbeat

log = logging.getLogger("esign.jobs")

SWEEP_SECONDS = 5.0
LAST_SECONDS = 3.0
LEASE_LEFT: Millis = 10 * SECOND  # for writing down that a job did not end
# Most seals of one organisation at once: while two workers are busy, a third seal is read or saved. One more may run
# for another organisation.
SEALS_OF_ONE = 3
UNEXPECTED: tuple[Millis, ...] = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR)
# After a write that the disk or the database refused, which says nothing about the job.
UNSTORED: tuple[Millis, ...] = (2 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE)
# Between tries to write that a job is postponed; the last is repeated.
POSTPONE_SECONDS = (0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class JobKind:
    """How jobs of one kind are worked. `lease` is longer than any attempt.

    `choose` finds up to the given number of due jobs. `may` says, in the transaction that claims them, whether
    they may be tried now.
    """

    name: str
    work: Callable[[Runtime, Job], Awaitable[None]]
    at_once: int
    lease: Millis
    choose: Callable[[Runtime, Instant, int], Awaitable[list[int]]]
    may: Callable[[Runtime, Transaction, Instant], Awaitable[bool]]


async def choose_seals(runtime: Runtime, now: Instant, room: int) -> list[int]:
    """Return the ids of due seals, taking turns between organisations."""
    return await due_jobs.find_due_seals(runtime.db, now, room, SEALS_OF_ONE)


async def allow_always(runtime: Runtime, tx: Transaction, now: Instant) -> bool:
    """Allow every attempt."""
    return True


KINDS = (
    JobKind(
        "seal",
        seal_document.seal,
        at_once=SEALS_OF_ONE + 1,
        lease=5 * MINUTE,
        choose=choose_seals,
        may=allow_always,
    ),
    JobKind(
        "mail",
        deliver_mail.deliver,
        at_once=deliver_mail.AT_ONCE,
        lease=deliver_mail.LEASE,
        choose=deliver_mail.choose_due,
        may=mail_breaker.claim,
    ),
)


async def recover_jobs(runtime: Runtime) -> None:
    """Make due again what another run had claimed, and the seal of every document that waits for one.

    Called at the start.
    """
    now = runtime.clock.now()
    waiting = await due_documents.find_sealing(runtime.db)

    async def write(tx: Transaction) -> list[Job]:
        aside = await set_aside.note_cut_offs(tx, runtime.boot, now)
        for job in aside:
            if job.kind == "seal":
                await note_aside_seal(runtime, tx, job)
        if count := await set_aside.note_cut_deliveries(tx, runtime.boot, now):
            log.error("%d deliveries to webhooks are set aside: %s", count, set_aside.CUT_OFF)
        for document_id in waiting:
            await outbox.ensure_seal(tx, document_id, now)
        await outbox.hasten(tx, "seal", now)
        return aside

    for job in await runtime.db.write(write):
        log.error(
            "%s job %s is set aside: the program ended three times while it was worked on", job.kind, job.id
        )
    await clock_watch.pull_in(runtime)
    await mail_breaker.resume(runtime)


async def note_aside_seal(runtime: Runtime, tx: Transaction, job: Job) -> None:
    """Record on its document that a seal is set aside. A document that cannot be read must not stop the start."""
    try:
        await seal_document.note_set_aside(runtime, tx, job, set_aside.CUT_OFF)
    except Exception as error:
        if is_storage(error) or is_passing(error):
            raise
        tx.damage.note("document", job.document_id, error)


async def return_claims(runtime: Runtime) -> None:
    """Make due again what was still under way at the orderly end of the program, so that it does not count."""
    try:
        await runtime.db.write(lambda tx: set_aside.return_claims(tx, runtime.boot, runtime.clock.now()))
    except Problem as problem:
        log.warning("what was under way counts as cut off at the next start: %s", problem)


async def run(runtime: Runtime, kind: JobKind, heartbeat: Heartbeat | None = None) -> None:
    """Work until cancelled. A failure of the loop itself is logged, and the loop goes on."""
    running: set[asyncio.Task[None]] = set()
    heartbeat = heartbeat or Heartbeat(f"{kind.name} worker")
    try:
        while True:
            heartbeat.beat()
            rung = runtime.bell.rung
            try:
                started = await start_due(runtime, kind, running)
            except Exception as error:
                log_trouble(f"the {kind.name} worker, which goes on,", error)
                heartbeat.note_run(error)
                started = 0
            else:
                heartbeat.note_run()
            if not started:
                heartbeat.beat(SWEEP_SECONDS)
                await wait_for_work(runtime, running, rung)
    finally:
        await end_jobs(running)


async def end_jobs(running: Set[asyncio.Task[None]]) -> None:
    """Wait a few seconds for the running jobs, so that they need not run twice. Cancel those that take longer."""
    if running:
        _, late = await asyncio.wait(running, timeout=LAST_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def wait_for_work(runtime: Runtime, running: Set[asyncio.Task[None]], rung: int) -> None:
    """Wait until a commit rings the bell, a running job ends, or the sweep is due."""
    bell = asyncio.create_task(runtime.bell.wait(SWEEP_SECONDS, rung))
    try:
        await asyncio.wait({bell, *running}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        bell.cancel()


async def start_due(runtime: Runtime, kind: JobKind, running: set[asyncio.Task[None]]) -> int:
    """Claim and start due jobs while there is room beside the running ones. Return the number of jobs started."""
    running -= {task for task in running if task.done()}
    room = kind.at_once - len(running)
    if room <= 0:
        return 0
    jobs = await claim_due(runtime, kind, room, is_idle=not running)
    for job in jobs:
        running.add(asyncio.create_task(attempt(runtime, kind, job), name=f"{kind.name} {job.id}"))
    return len(jobs)


async def claim_due(runtime: Runtime, kind: JobKind, room: int, *, is_idle: bool = True) -> list[Job]:
    """Return up to `room` due jobs, claimed under a lease. Rows that cannot be read are set aside on the way.

    `is_idle` tells that no job of this kind is under way.
    """
    now = runtime.clock.now()
    if not await due_jobs.has_due(runtime.db.points, kind.name, now):
        return []  # the usual case after a commit that made work of another kind
    while chosen := await kind.choose(runtime, now, room):
        suspects = await set_aside.find_suspects(runtime.db.points, now)
        chosen = isolate_suspect(chosen, kind, suspects, now, is_idle)
        if not chosen:
            return []
        jobs = await _claim(runtime, kind, chosen, now)
        if jobs is None:
            return []
        if jobs:
            return jobs
        # Each chosen job was set aside or claimed by another worker meanwhile, so none of them is chosen again.
    return []


def isolate_suspect(
    chosen: list[int], kind: JobKind, suspects: Sequence[Suspect], now: Instant, is_idle: bool
) -> list[int]:
    """Return the chosen jobs, or what keeps a suspect alone: itself when it is ready, or nothing.

    While one is under way, and while one waits until the jobs of its kind have ended, no other of its kind begins.
    """
    own = [each for each in suspects if each.kind == kind.name]
    if any(each.is_under_way for each in own):
        return []
    ready = [each.id for each in own if each.is_ready(now)]
    if ready and not any(each.is_under_way for each in suspects):
        return ready[:1] if is_idle else []
    return chosen


async def _claim(runtime: Runtime, kind: JobKind, chosen: list[int], now: Instant) -> list[Job] | None:
    """Return the jobs that could be claimed, or None if no job of this kind may be tried now."""

    async def write(tx: Transaction) -> list[Job] | None:
        if not await kind.may(runtime, tx, now):
            return None
        claims = [await outbox.claim(tx, job_id, now, kind.lease, runtime.boot) for job_id in chosen]
        return [job for job in claims if job is not None]

    return await runtime.db.write(write, only_for_caller=True)


async def attempt(runtime: Runtime, kind: JobKind, job: Job) -> None:
    """Work one job. An unforeseen failure is logged, and the job is postponed.

    A job that does not end before its lease does is cancelled, and the log says where it stood.
    """
    loop = asyncio.get_running_loop()
    lease_end = loop.time() + kind.lease / SECOND
    try:
        async with asyncio.timeout((kind.lease - LEASE_LEFT) / SECOND):
            await kind.work(runtime, job)
    except Exception as error:
        if isinstance(error, TimeoutError):
            runtime.loops.note_hung_job(f"{kind.name} worker")
        if await is_deleted(runtime, job):
            return
        log_trouble(f"{kind.name} job {job.id}", error)
        await postpone_job(runtime, job, error, lease_end)


async def is_deleted(runtime: Runtime, job: Job) -> bool:
    """Return whether the job was deleted with its document; False where the database cannot say now."""
    try:
        return not await outbox.is_there(runtime.db, job)
    except Exception as error:
        log.warning("whether job %s still exists cannot be read: %s", job.id, error)
        return False


async def postpone_job(runtime: Runtime, job: Job, error: Exception, lease_end: float) -> None:
    """Postpone the job after a failure. If that cannot be written either, try again until it can.

    At `lease_end`, in seconds of the event loop's clock, the job is due again without it.
    """
    waits = UNSTORED if isinstance(error, Problem) or is_storage(error) else UNEXPECTED
    wait = waits[min(job.attempts, len(waits)) - 1]

    async def write(tx: Transaction) -> None:
        reason = f"{type(error).__name__}: {error}"
        await outbox.postpone(tx, job, runtime.clock.now() + wait, reason)

    for pause in chain(POSTPONE_SECONDS, repeat(POSTPONE_SECONDS[-1])):
        try:
            await runtime.db.write(write)
        except Problem as problem:
            if pause == POSTPONE_SECONDS[0]:
                log.warning("job %s cannot be postponed yet: %s", job.id, problem)
            if asyncio.get_running_loop().time() + pause >= lease_end:
                log.warning("job %s waits for the end of its lease: %s", job.id, problem)
                return
            await asyncio.sleep(pause)
        else:
            return


async def drain_jobs(runtime: Runtime, *names: str) -> int:
    """Work off what is due now until nothing is. Return the number of attempts.

    `names` limits the work to some kinds: `seal`, `mail`, `webhook`.
    """
    attempts, idle = 0, False
    while not idle:
        idle = True
        for kind in KINDS:
            if names and kind.name not in names:
                continue
            for job in await claim_due(runtime, kind, 1):
                await attempt(runtime, kind, job)
                attempts, idle = attempts + 1, False
        if (not names or "webhook" in names) and (delivered := await deliver_webhooks.drain(runtime)):
            attempts, idle = attempts + delivered, False
    return attempts
