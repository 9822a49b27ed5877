"""Compares the clocks of the machine, and brings forward what a wrong clock had planned months ahead."""

from esign.actions.server import clock_watch
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Compare the clocks, and return the number of queued jobs that were made due again."""
    await clock_watch.watch_clock(runtime)
    return await clock_watch.pull_in(runtime)
