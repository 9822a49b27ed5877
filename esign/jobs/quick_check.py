"""Checks settings, permissions, disk and what indexes know of the data: after the start and once a day."""

import asyncio

from esign.actions.server import quick_checks
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Log what is not as it should be, and return how much that is. It takes some milliseconds, in a thread."""
    return await asyncio.to_thread(quick_checks.log_findings, runtime.config, runtime.clock.now())
