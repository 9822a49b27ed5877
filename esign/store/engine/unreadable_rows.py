"""Rows and contents that cannot be read are set aside, noted and logged, so that they block no others.

A row is damaged if its text is not UTF-8, if its JSON or one of its values is invalid, or if its ciphertext
cannot be decrypted. Lists leave it out and ticks go on behind it; a request for the row itself gets an error.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from sqlite3 import Row
from typing import Protocol, TypeVar

from esign.system.vault import DamagedCiphertext

log = logging.getLogger("esign.store")

T = TypeVar("T")
Given = TypeVar("Given")

UNREADABLE = (ValueError, TypeError, KeyError, RecursionError, DamagedCiphertext)
# By table: the columns that hold bytes instead of text.
CIPHERTEXTS: Mapping[str, Collection[str]] = {
    "api_key": ("hash",),
    "app_user": ("totp",),
    "erasing": ("email",),
    "kept_mail": ("content", "words"),
    "outbox": ("body", "words"),
    "session": ("token",),
    "webhook": ("secret", "previous_secret"),
}
MOST = 1_000  # remembered; the log file has all of them


class UnreadableRow(Exception):
    """The row that was asked for cannot be read."""


class DamageLog:
    """The damage found since the start, by table and key of the row; each is logged once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}

    def note(self, table: str, key: object, error: BaseException | str) -> None:
        """Remember and log a row that cannot be read or processed."""
        place = (table, str(key))
        if place in self._found:
            return
        reason = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        if len(self._found) < MOST:
            self._found[place] = reason
        log.error(
            "%s %s of the database cannot be read or worked with, and is set aside: %s", table, key, reason
        )

    def forget(self, table: str, key: object) -> None:
        """Remove an entry: the row could be read or processed again."""
        self._found.pop((table, str(key)), None)

    def entries(self) -> list[tuple[str, str, str]]:
        """Return (table, key, reason) of each entry, in the order in which they were found."""
        return [(table, key, reason) for (table, key), reason in self._found.items()]


class DamageReporter(Protocol):
    """An object with a damage log: the database, or a transaction of it."""

    @property
    def damage(self) -> DamageLog: ...


class ReadableRows(list[T]):
    """The rows of a list that could be read; `asked` is how many rows there were."""

    asked: int


def load_readable(
    reader: DamageReporter, table: str, rows: Sequence[Row], load: Callable[[Row], T], key: str = "id"
) -> ReadableRows[T]:
    """Load each row; note those that cannot be read, and leave them out."""

    def load_text(row: Row) -> T:
        """Load a row in which only the known columns hold bytes."""
        refuse_bytes(row, CIPHERTEXTS.get(table, ()))
        return load(row)

    return load_groups(reader, table, ((row[key], row) for row in rows), load_text)


def load_groups(
    reader: DamageReporter, table: str, groups: Iterable[tuple[object, Given]], load: Callable[[Given], T]
) -> ReadableRows[T]:
    """Load each group of (key, group); note those that cannot be read, and leave them out."""
    found = ReadableRows[T]()
    found.asked = 0
    for key, group in groups:
        found.asked += 1
        try:
            found.append(load(group))
        except UNREADABLE as error:
            reader.damage.note(table, key, error)
    return found


def has_more(found: Sequence[object], limit: int) -> bool:
    """Return whether a list, fetched with one row more than `limit`, goes on; damaged rows count."""
    return (found.asked if isinstance(found, ReadableRows) else len(found)) > limit


def refuse_bytes(row: Row, but: Collection[str] = ()) -> None:
    """Raise ValueError if a column holds bytes, which means that its text is not UTF-8.

    The columns `but` may hold bytes.
    """
    if bytes not in map(type, row):  # 2 µs for the rows of a join, where a walk by name takes 100
        return
    for name in row.keys():  # noqa: SIM118  (a Row is not a mapping)
        if isinstance(row[name], bytes) and name not in but:
            raise ValueError(f"{name} is no UTF-8")
