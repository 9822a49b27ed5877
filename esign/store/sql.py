"""Pieces of statements and values that several tables share."""

from collections.abc import Sequence
from typing import Any

import orjson


def insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(':' + c for c in columns)})"


def listed(name: str, values: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """`(:name_0, :name_1)` for an IN, and its parameters; `values` must not be empty on PostgreSQL."""
    parameters = {f"{name}_{n}": value for n, value in enumerate(values)}
    return f"({', '.join(f':{each}' for each in parameters)})", parameters


def dumps(value: Any) -> str:
    """JSON as a column holds it: minified, UTF-8."""
    return orjson.dumps(value).decode()
