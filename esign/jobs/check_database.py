"""The pages of the database are checked after the start and once a day: large ones are not checked before it."""

import asyncio

from esign.runtime import Runtime
from esign.store.engine.database import FILE
from esign.store.engine.inspection import find_damage

TABLE, KEY = "database", "pages"


async def tick(runtime: Runtime) -> int:
    """Return how many findings there are."""
    found = await asyncio.to_thread(find_damage, runtime.config.storage.data_dir / FILE)
    if found:
        runtime.db.damage.note(TABLE, KEY, "; ".join(found))
    else:
        runtime.db.damage.forget(TABLE, KEY)
    return len(found)
