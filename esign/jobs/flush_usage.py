"""The requests counted in memory are written, all at once."""

from esign.actions.base import usage
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """The number of counters raised."""
    return await usage.flush(runtime)
