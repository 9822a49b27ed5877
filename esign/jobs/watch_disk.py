"""The room on the disk is looked at: the reserve is made where there is plenty, and released where there is none."""

import asyncio

from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Return 1 while new files have to wait, else 0."""
    await asyncio.to_thread(runtime.room.look)
    return int(runtime.room.is_short())
