"""Rewrites the full-text index without erased words, for versions of SQLite that cannot erase them at once."""

from esign.runtime import Runtime
from esign.store.engine import search_index
from esign.store.engine.database import Transaction
from esign.system.supervision import beat

PAGES = 32  # rewritten in one transaction, which takes some ten milliseconds


async def tick(runtime: Runtime) -> int:
    """Rewrite the index in short transactions, so that other writers wait for one step at most.

    Return the number of steps.
    """

    async def write(tx: Transaction) -> bool:
        return await search_index.compact(tx, PAGES)

    steps = 0
    while await runtime.db.write(write):
        steps += 1
        beat()
    return steps
