"""The clock: which tick runs how often, and the workers that run all the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from esign.jobs import (
    certificates,
    delivering,
    expire,
    failing,
    keys,
    probe,
    prune,
    purge,
    remind,
    shed,
    tally,
    worker,
)
from esign.runtime import Runtime

Tick = Callable[[Runtime], Awaitable[int]]

TICKS: tuple[tuple[Tick, int], ...] = (  # seconds between two runs
    (expire.tick, 15),
    (remind.tick, 60),
    (probe.tick, 60),
    (tally.tick, 60),
    (failing.tick, 60),
    (keys.tick, 3600),
    (certificates.tick, 3600),
    (purge.tick, 3600),
    (prune.tick, 3600),
    (shed.tick, 86_400),
)


@asynccontextmanager
async def running(runtime: Runtime) -> AsyncIterator[None]:
    """Recover what a crash left, then work and tick until the block ends."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # 20 ms that no command line should pay

    await worker.recover(runtime)
    clock = AsyncIOScheduler(timezone="UTC")
    rules = {"max_instances": 1, "coalesce": True, "misfire_grace_time": None}
    for tick, seconds in TICKS:
        clock.add_job(tick, args=(runtime,), **rules)  # now: what became due while the program was stopped
        clock.add_job(tick, "interval", (runtime,), seconds=seconds, **rules)
    clock.start()
    tasks = [asyncio.create_task(worker.run(runtime, kind), name=kind.name) for kind in worker.KINDS]
    tasks.append(asyncio.create_task(delivering.run(runtime), name="webhook"))
    try:
        yield
    finally:
        clock.shutdown(wait=False)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
