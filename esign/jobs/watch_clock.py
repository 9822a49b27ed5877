"""Compares the clocks of the machine, and brings back what a wrong one had planned for months ahead."""

from esign.actions.server import clock_watch
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Return how much of the queue was made due again."""
    await clock_watch.watch(runtime)
    return await clock_watch.pull_in(runtime)
