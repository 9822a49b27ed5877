"""Pieces of statements, and values, that several tables share."""

from collections.abc import Sequence
from typing import Any

import orjson

from esign.core.instant import Instant
from esign.store.engine.database import Transaction


def insert(table: str, columns: Sequence[str]) -> str:
    """Return an INSERT with a parameter for each column."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(':' + c for c in columns)})"


def list_parameters(name: str, values: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """Return `(:name_0, :name_1)` for an IN, and its parameters.

    `values` must not be empty on PostgreSQL.
    """
    parameters = {f"{name}_{n}": value for n, value in enumerate(values)}
    return f"({', '.join(f':{each}' for each in parameters)})", parameters


async def delete_some(
    tx: Transaction, table: str, keys: str, condition: str, before: Instant, limit: int
) -> int:
    """Delete up to `limit` rows for which `condition` holds at `:before`; return how many."""
    chosen = f"SELECT {keys} FROM {table} WHERE {condition} LIMIT :limit"
    return await tx.run(f"DELETE FROM {table} WHERE ({keys}) IN ({chosen})", before=before, limit=limit)


def dumps(value: Any) -> str:
    """Return JSON as a column holds it: minified UTF-8."""
    return orjson.dumps(value).decode()
