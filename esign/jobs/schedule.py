"""The schedule: how often each tick runs, and which workers run all the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from esign.jobs import (
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
from esign.runtime import Runtime

Tick = Callable[[Runtime], Awaitable[int]]

TICKS: tuple[tuple[Tick, int], ...] = (  # seconds between two runs
    (draw_ahead.tick, 1),
    (follow_key_exchange.tick, 1),
    (watch_clock.tick, 5),
    (renew_https.tick, 5),
    (erase.tick, 5),
    (watch_disk.tick, 10),
    (expire.tick, 15),
    (remind.tick, 60),
    (retry_one_seal.tick, 60),
    (flush_usage.tick, 60),
    (disable_webhooks.tick, 60),
    (patrol.tick, 60),
    (back_up.tick, 60),
    (back_up.report, 600),
    (patrol.recheck, 3600),
    (key_expiry.tick, 3600),
    (renew_certificates.tick, 3600),
    (purge.tick, 3600),
    (prune.tick, 3600),
    (sweep_pictures.tick, 3600),
    (delete_copies.tick, 86_400),
    (compact_index.tick, 86_400),
    (check_database.tick, 86_400),
    (quick_check.tick, 86_400),
)


@asynccontextmanager
async def run_jobs(runtime: Runtime) -> AsyncIterator[None]:
    """Make the jobs of a crashed run due again, then run the workers and ticks until the block ends."""
    await worker.recover_jobs(runtime)
    tasks = [
        asyncio.create_task(repeat_tick(runtime, tick, seconds), name=tick.__module__)
        for tick, seconds in TICKS
    ]
    tasks += [asyncio.create_task(worker.run(runtime, kind), name=kind.name) for kind in worker.KINDS]
    tasks.append(asyncio.create_task(deliver_webhooks.run(runtime), name="webhook"))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def repeat_tick(runtime: Runtime, tick: Tick, seconds: float) -> None:
    """Run a tick at once, for what became due while the program was stopped, then every `seconds` until cancelled.

    The interval is measured on the loop's monotonic clock, so that setting the wall clock neither stops nor
    hurries it. Runs of one tick do not overlap, and missed runs are skipped.
    """
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        try:
            await tick(runtime)
        except Exception as error:
            log_trouble(f"the tick {tick.__module__}, which runs again,", error)
        due = max(due + seconds, loop.time())
        await asyncio.sleep(due - loop.time())
