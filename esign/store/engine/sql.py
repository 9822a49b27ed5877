"""Pieces of statements, and values, that several tables share."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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


def collect_rows(table: str, columns: Sequence[str], condition: str, order: str) -> str:
    """Return an expression for the rows of a table, in order, as one JSON text: an array of an array for each row.

    A list with the rows of another table as one column is a third faster than a join, which repeats its own columns.
    """
    found = f"SELECT * FROM {table} WHERE {condition} ORDER BY {order}"
    return f"(SELECT json_group_array(json_array({', '.join(columns)})) FROM ({found}))"


class OldRows(NamedTuple):
    """The rows of a table, known by their `keys`, for which a condition on `:before` holds."""

    table: str
    keys: str
    condition: str


async def delete_some(tx: Transaction, rows: OldRows, before: Instant, limit: int) -> int:
    """Delete up to `limit` of the rows that are old at `before`; return how many."""
    chosen = f"SELECT {rows.keys} FROM {rows.table} WHERE {rows.condition} LIMIT :limit"
    return await tx.run(
        f"DELETE FROM {rows.table} WHERE ({rows.keys}) IN ({chosen})", before=before, limit=limit
    )


def dumps(value: Any) -> str:
    """Return JSON as a column holds it: minified UTF-8."""
    return orjson.dumps(value).decode()


def load_object(stored: str | bytes) -> dict[str, Any]:
    """Return the object of a JSON column. Raise ValueError if it is none."""
    found = orjson.loads(stored)
    if not isinstance(found, dict):
        raise ValueError("a column holds no JSON object")
    return found
