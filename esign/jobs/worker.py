"""Takes due jobs from the outbox, several at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass

from esign.actions.mail import deliver_mail, mail_breaker
from esign.actions.sealing import seal_document
from esign.actions.server import clock_watch
from esign.core.errors import Problem
from esign.core.instant import HOUR, MINUTE, Instant, Millis
from esign.jobs import deliver_webhooks
from esign.jobs.log_trouble import log_trouble
from esign.runtime import Runtime
from esign.store.document import due_documents
from esign.store.engine.database import Transaction
from esign.store.queue import deliveries, outbox
from esign.store.queue.outbox import Job

log = logging.getLogger("esign.jobs")

SWEEP_SECONDS = 5.0
LAST_SECONDS = 3.0
SEALS_OF_ONE = 2  # seals of one organisation at once; one more may be of another
UNEXPECTED: tuple[Millis, ...] = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR)


@dataclass(frozen=True, slots=True)
class Kind:
    """How jobs of one kind are worked: how many at once; `lease` outlives any attempt.

    `choose` finds up to so many due jobs; `may` says in the transaction that claims them whether they may be tried.
    """

    name: str
    work: Callable[[Runtime, Job], Awaitable[None]]
    at_once: int
    lease: Millis
    choose: Callable[[Runtime, Instant, int], Awaitable[list[int]]]
    may: Callable[[Runtime, Transaction, Instant], Awaitable[bool]]


async def choose_seals(runtime: Runtime, now: Instant, room: int) -> list[int]:
    """Return the ids of due seals, in turns between organisations."""
    return await outbox.find_due_seals(runtime.db, now, room, SEALS_OF_ONE)


async def always(runtime: Runtime, tx: Transaction, now: Instant) -> bool:
    return True


KINDS = (
    Kind(
        "seal",
        seal_document.seal,
        at_once=SEALS_OF_ONE + 1,
        lease=5 * MINUTE,
        choose=choose_seals,
        may=always,
    ),
    Kind(
        "mail",
        deliver_mail.deliver,
        at_once=deliver_mail.AT_ONCE,
        lease=deliver_mail.LEASE,
        choose=deliver_mail.choose_due,
        may=mail_breaker.claim,
    ),
)


async def recover(runtime: Runtime) -> None:
    """At the start: what another run had claimed is due again, and so is the seal of every waiting document."""
    now = runtime.clock.now()
    waiting = await due_documents.find_sealing(runtime.db)

    async def write(tx: Transaction) -> None:
        await outbox.release(tx, runtime.boot, now)
        await deliveries.release(tx, runtime.boot, now)
        for document_id in waiting:
            await outbox.requeue_seal(tx, document_id, now)
        await outbox.hasten(tx, "seal", now)

    await runtime.db.write(write)
    await clock_watch.pull_in(runtime)
    await mail_breaker.resume(runtime)


async def run(runtime: Runtime, kind: Kind) -> None:
    """Work until cancelled; a failure of the loop itself is logged and the loop goes on."""
    running: set[asyncio.Task[None]] = set()
    try:
        while True:
            rung = runtime.bell.rung
            try:
                started = await start_due(runtime, kind, running)
            except Exception as error:
                log_trouble(f"the {kind.name} worker, which goes on,", error)
                started = 0
            if not started:
                await something_happens(runtime, running, rung)
    finally:
        await end(running)


async def end(running: Set[asyncio.Task[None]]) -> None:
    """Let what runs come to its end, so that it need not be done twice; what takes longer is cut off."""
    if running:
        _, late = await asyncio.wait(running, timeout=LAST_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def something_happens(runtime: Runtime, running: Set[asyncio.Task[None]], rung: int) -> None:
    """A commit rings, a running job ends, or it is time for the sweep."""
    bell = asyncio.create_task(runtime.bell.wait(SWEEP_SECONDS, rung))
    try:
        await asyncio.wait({bell, *running}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        bell.cancel()


async def start_due(runtime: Runtime, kind: Kind, running: set[asyncio.Task[None]]) -> int:
    """Claim what is due and fits beside what runs; the number of jobs started."""
    running -= {task for task in running if task.done()}
    room = kind.at_once - len(running)
    if room <= 0:
        return 0
    jobs = await claim_due(runtime, kind, room)
    for job in jobs:
        running.add(asyncio.create_task(attempt(runtime, kind, job), name=f"{kind.name} {job.id}"))
    return len(jobs)


async def claim_due(runtime: Runtime, kind: Kind, room: int) -> list[Job]:
    """Return up to `room` due jobs under a lease; rows that cannot be read are set aside on the way."""
    now = runtime.clock.now()
    while chosen := await kind.choose(runtime, now, room):
        jobs = await _claim(runtime, kind, chosen, now)
        if jobs is None:
            return []
        if jobs:
            return jobs
        # Each that was chosen is set aside now, or somebody else has it: none of them is chosen again.
    return []


async def _claim(runtime: Runtime, kind: Kind, chosen: list[int], now: Instant) -> list[Job] | None:
    """Return those that could be claimed; None where none of this kind may be tried now."""

    async def write(tx: Transaction) -> list[Job] | None:
        if not await kind.may(runtime, tx, now):
            return None
        claims = [await outbox.claim(tx, job_id, now, kind.lease, runtime.boot) for job_id in chosen]
        return [job for job in claims if job is not None]

    return await runtime.db.write(write)


async def attempt(runtime: Runtime, kind: Kind, job: Job) -> None:
    """One attempt; what the work did not foresee is logged and tried again later."""
    try:
        await kind.work(runtime, job)
    except Exception as error:
        if not await outbox.is_there(runtime.db, job):  # its document was deleted meanwhile
            return
        log_trouble(f"{kind.name} job {job.id}", error)
        await put_off(runtime, job, f"{type(error).__name__}: {error}")


async def put_off(runtime: Runtime, job: Job, reason: str) -> None:
    """Try again later; where not even that can be written, the end of the lease does it."""
    due_at = runtime.clock.now() + UNEXPECTED[min(job.attempts, len(UNEXPECTED)) - 1]

    async def write(tx: Transaction) -> None:
        await outbox.postpone(tx, job, due_at, reason)

    try:
        await runtime.db.write(write)
    except Problem as problem:
        log.warning("job %s waits for the end of its lease: %s", job.id, problem)


async def drain(runtime: Runtime, *names: str) -> int:
    """Work off what is due now, kind by kind (`seal`, `mail`, `webhook`), until nothing is; how much that was."""
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
