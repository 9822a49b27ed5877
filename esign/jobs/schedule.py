"""The schedule: how often each tick runs, and which workers run all the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from esign.jobs import (
    anchor,
    back_up,
    check_database,
    compact_index,
    delete_copies,
    deliver_webhooks,
    disable_webhooks,
    draw_ahead,
    erase,
    expire,
    flush_usage,
    follow_key_exchange,
    keep_signer,
    key_expiry,
    patrol,
    prune,
    purge,
    quick_check,
    remind,
    renew_certificates,
    renew_https,
    retry_one_seal,
    sweep_pictures,
    watch_clock,
    watch_disk,
    worker,
)
from esign.jobs.log_trouble import log_trouble
from esign.jobs.worker import JobKind
from esign.runtime import Runtime
from esign.system.supervision import BOUND_SECONDS, Heartbeat, Supervisor

Tick = Callable[[Runtime], Awaitable[int]]
MINUTES = 60.0
HOURS = 3600.0


@dataclass(frozen=True, slots=True)
class ScheduledTick:
    """A tick, the seconds between two runs, and after how many seconds without a sign of life it hangs.

    A tick that works off many rows gives a sign of life after each of them.
    """

    tick: Tick
    seconds: float
    bound: float = BOUND_SECONDS
    before: float = 0  # seconds until the first run

    @property
    def name(self) -> str:
        """Return the name of the tick: that of its module, and of a second tick in one module its own too."""
        module = self.tick.__module__.rpartition(".")[2]
        own = getattr(self.tick, "__name__", "tick")
        return module if own == "tick" else f"{module} {own}"


TICKS: tuple[ScheduledTick, ...] = (
    ScheduledTick(draw_ahead.tick, 1, 3 * MINUTES),
    ScheduledTick(follow_key_exchange.tick, 1, 10 * MINUTES),
    # Its first run starts a process, which the first requests after a start do not wait for.
    ScheduledTick(keep_signer.tick, 1, 3 * MINUTES, before=2),
    ScheduledTick(watch_clock.tick, 5),
    ScheduledTick(renew_https.tick, 5, 3 * MINUTES),
    ScheduledTick(erase.tick, 5, 10 * MINUTES),
    ScheduledTick(watch_disk.tick, 10),
    ScheduledTick(expire.tick, 15),
    ScheduledTick(remind.tick, 60),
    ScheduledTick(retry_one_seal.tick, 60),
    ScheduledTick(flush_usage.tick, 60),
    ScheduledTick(disable_webhooks.tick, 60),
    ScheduledTick(patrol.tick, 60, 10 * MINUTES),
    ScheduledTick(back_up.tick, 60, 48 * HOURS),
    ScheduledTick(back_up.report, 600),
    ScheduledTick(patrol.recheck, 3600, 10 * MINUTES),
    ScheduledTick(anchor.tick, 300, 10 * MINUTES),
    ScheduledTick(key_expiry.tick, 3600),
    ScheduledTick(renew_certificates.tick, 3600, 3 * MINUTES),
    ScheduledTick(purge.tick, 3600, 10 * MINUTES),
    ScheduledTick(prune.tick, 3600, 10 * MINUTES),
    ScheduledTick(sweep_pictures.tick, 3600, 10 * MINUTES),
    ScheduledTick(delete_copies.tick, 86_400),
    ScheduledTick(compact_index.tick, 86_400),
    ScheduledTick(check_database.tick, 86_400, 12 * HOURS),
    ScheduledTick(quick_check.tick, 86_400, 12 * HOURS),
)


@asynccontextmanager
async def run_jobs(
    runtime: Runtime, ticks: Sequence[ScheduledTick] = TICKS, kinds: Sequence[JobKind] = worker.KINDS
) -> AsyncIterator[None]:
    """Make the jobs of a crashed run due again, then run the workers and ticks until the block ends.

    Each is a background loop of `runtime.loops`, which starts it again when it ends or hangs.
    """
    await worker.recover_jobs(runtime)
    start_loops(runtime, runtime.loops, ticks, kinds)
    try:
        yield
    finally:
        await runtime.loops.stop()
        await worker.return_claims(runtime)


def start_loops(
    runtime: Runtime, loops: Supervisor, ticks: Sequence[ScheduledTick], kinds: Sequence[JobKind]
) -> None:
    """Start a loop for each tick, each kind of job, and the deliveries to webhooks."""
    for each in ticks:
        loops.start(
            each.name, partial(repeat_tick, runtime, each.tick, each.seconds, before=each.before), each.bound
        )
    for kind in kinds:
        loops.start(f"{kind.name} worker", partial(worker.run, runtime, kind))
    loops.start("webhook worker", partial(deliver_webhooks.run, runtime))


async def repeat_tick(
    runtime: Runtime, tick: Tick, seconds: float, heartbeat: Heartbeat | None = None, before: float = 0
) -> None:
    """Run a tick at once, for what became due while the program was stopped, then every `seconds` until cancelled.

    `before` are the seconds until the first run where that can wait.

    The interval is measured on the loop's monotonic clock, so that setting the wall clock neither stops nor
    hurries it. Runs of one tick do not overlap, and missed runs are skipped.
    """
    loop = asyncio.get_running_loop()
    heartbeat = heartbeat or Heartbeat(tick.__module__)
    await asyncio.sleep(before)
    due = loop.time()
    while True:
        try:
            await tick(runtime)
        except Exception as error:
            log_trouble(f"the tick {tick.__module__}, which runs again,", error)
            heartbeat.note_run(error)
        else:
            heartbeat.note_run()
        due = max(due + seconds, loop.time())
        heartbeat.beat(due - loop.time())
        await asyncio.sleep(due - loop.time())
