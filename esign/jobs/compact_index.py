"""The index of words is written anew without what was erased, where this SQLite cannot erase at once."""

from esign.runtime import Runtime
from esign.store.document import search
from esign.store.engine.database import Transaction

PAGES = 32  # in a transaction, of some ten milliseconds


async def tick(runtime: Runtime) -> int:
    """The number of steps; nobody waits longer than one."""

    async def write(tx: Transaction) -> bool:
        return await search.shed(tx, PAGES)

    steps = 0
    while await runtime.db.write(write):
        steps += 1
    return steps
