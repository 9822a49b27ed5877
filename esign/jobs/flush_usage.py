"""Writes the request counts that were collected in memory, all in one transaction."""

from esign.actions.base import usage
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Write the request counts and return the number of counters raised."""
    return await usage.flush(runtime)
