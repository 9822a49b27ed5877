"""Checks the pages of the database after the start and once a day. A large database is not checked before the start."""

import asyncio

from esign.runtime import Runtime
from esign.store.engine.connections import FILE
from esign.store.engine.inspection import find_damage

TABLE, KEY = "database", "pages"


async def tick(runtime: Runtime) -> int:
    """Check the pages of the database, note any damage, and return the number of findings."""
    found = await asyncio.to_thread(find_damage, runtime.config.storage.data_dir / FILE)
    if found:
        runtime.db.damage.note(TABLE, KEY, "; ".join(found))
    else:
        runtime.db.damage.forget(TABLE, KEY)
    return len(found)
