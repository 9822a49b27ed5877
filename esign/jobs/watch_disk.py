"""Watches the free space of the disk.

It creates the reserve when there is plenty, and releases it when there is none.
"""

import asyncio

from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Measure the free space. Return 1 while new files are refused, else 0."""
    await asyncio.to_thread(runtime.room.check_room)
    return int(runtime.room.is_short())
