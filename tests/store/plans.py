"""How SQLite would run the queries of a store function, without running them."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, cast

from esign.store.engine.database import Database, Row, Transaction

# The tables that grow; walking through one of them is what an index is for.
WALK = re.compile(
    r"SCAN (document|recipient|outbox|link|event|audit|idempotency|kept_mail|api_key|template|blob|challenge|proof"
    r"|draft|delivery|attempt|webhook|next|d|r|k|done)\b"
)


class Explaining:
    """Stands where a reader or a transaction stands, and collects the steps of each plan."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.steps: list[str] = []

    async def all(self, sql: str, **values: Any) -> list[Row]:
        rows = await self._db.all("EXPLAIN QUERY PLAN " + sql, **values)
        self.steps += [row["detail"] for row in rows]
        return []

    async def one(self, sql: str, **values: Any) -> Row | None:
        await self.all(sql, **values)
        return None

    async def run(self, sql: str, **values: Any) -> int:
        await self.all(sql, **values)
        return 0

    run_and_wake = run
    run_by_key = run

    @property
    def points(self) -> "Explaining":
        return self


async def steps(db: Database, query: Callable[[Transaction], Awaitable[object]]) -> list[str]:
    """The steps of every statement of `query`, down to where it misses a row."""
    explaining = Explaining(db)
    await query(cast(Transaction, explaining))
    assert explaining.steps
    return explaining.steps


async def walks(db: Database, query: Callable[[Transaction], Awaitable[object]]) -> list[str]:
    """The steps that walk through a whole table."""
    return [step for step in await steps(db, query) if WALK.match(step)]
