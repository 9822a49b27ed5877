"""The parts of SQL that are written differently for SQLite and for PostgreSQL, as functions.

Statements outside `store/engine` use these, and are otherwise SQL that both engines understand.
"""

from collections.abc import AsyncIterator

from esign.store.engine.database import Reader, Row

WALKED_AT_ONCE = 200  # rows


def contains(text: str, part: str) -> str:
    """Return the condition that a text contains a part, letter by letter."""
    return f"instr({text}, {part}) > 0"


def read_text_as_bytes(text: str) -> str:
    """Return the expression for the bytes of a text: reading damaged text fails, reading its bytes does not."""
    return f"CAST({text} AS BLOB)"


def read_bytes_as_text(content: str) -> str:
    """Return the expression for the text of these bytes, damaged or not."""
    return f"CAST({content} AS TEXT)"


async def walk_table(reader: Reader, table: str, columns: str = "*") -> AsyncIterator[list[Row]]:
    """Yield all rows of a table, some at a time, in the order in which they were written.

    A row needs no readable key for that.
    """
    place = -(2**62)
    sql = f"SELECT rowid AS place, {columns} FROM {table} WHERE rowid > :place ORDER BY rowid LIMIT {WALKED_AT_ONCE}"
    while rows := await reader.all(sql, place=place):
        yield rows
        place = rows[-1]["place"]
