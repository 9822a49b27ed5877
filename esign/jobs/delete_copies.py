"""Deletes the copies that were made of the database before a migration, after 30 days."""

import asyncio

from esign.runtime import Runtime
from esign.store.engine import migration_copy


async def tick(runtime: Runtime) -> int:
    """Delete what is old, and return the number of files deleted."""
    if runtime.clock.doubt:
        return 0
    now = runtime.clock.read_settled_time()
    return await asyncio.to_thread(migration_copy.delete_old_copies, runtime.config.storage.data_dir, now)
