"""Compares the clocks of the machine, and brings back what a wrong one had planned for months ahead."""

from esign.actions.server import timekeeping
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Return how much of the queue was made due again."""
    await timekeeping.watch(runtime)
    return await timekeeping.pull_in(runtime)
