"""The schedule: which tick runs how often, and the workers that run all the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from esign.jobs import (
    certificates,
    delivering,
    erase,
    expire,
    failing,
    inspect,
    keys,
    probe,
    prune,
    purge,
    remind,
    room,
    shed,
    tally,
    timekeeping,
    worker,
)
from esign.jobs.trouble import log_trouble
from esign.runtime import Runtime

Tick = Callable[[Runtime], Awaitable[int]]

TICKS: tuple[tuple[Tick, int], ...] = (  # seconds between two runs
    (timekeeping.tick, 5),
    (erase.tick, 5),
    (room.tick, 10),
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
    (inspect.tick, 86_400),
)


@asynccontextmanager
async def running(runtime: Runtime) -> AsyncIterator[None]:
    """Recover what a crash left, then work and tick until the block ends."""
    await worker.recover(runtime)
    tasks = [
        asyncio.create_task(repeat(runtime, tick, seconds), name=tick.__module__) for tick, seconds in TICKS
    ]
    tasks += [asyncio.create_task(worker.run(runtime, kind), name=kind.name) for kind in worker.KINDS]
    tasks.append(asyncio.create_task(delivering.run(runtime), name="webhook"))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def repeat(runtime: Runtime, tick: Tick, seconds: float) -> None:
    """Run a tick at once, for what became due while the program was stopped, and then in its rhythm until cancelled.

    The rhythm is that of the loop's monotonic clock, so that setting the wall clock neither stops nor hurries it. One
    run of a tick ends before the next begins; runs that were missed are not made up for.
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
