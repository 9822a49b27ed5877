"""Rows and contents that cannot be read: set aside, so that they stop nothing behind them, and told.

A row is damaged where its text is no UTF-8, its JSON or a word of it is none that can stand there, or its ciphertext
does not open. Lists leave it out, ticks go on behind it, and whoever asks for it alone gets an error.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from sqlite3 import Row
from typing import Protocol, TypeVar

from esign.system.vault import Damaged

log = logging.getLogger("esign.store")

T = TypeVar("T")
Given = TypeVar("Given")

UNREADABLE = (ValueError, TypeError, KeyError, RecursionError, Damaged)
# By table: the columns that hold bytes and no text.
CIPHERTEXTS: Mapping[str, Collection[str]] = {
    "api_key": ("hash",),
    "app_user": ("totp",),
    "erasing": ("email",),
    "kept_mail": ("content", "words"),
    "outbox": ("body", "words"),
    "session": ("token",),
    "webhook": ("secret", "previous_secret"),
}
MOST = 1_000  # remembered; the log has them all


class Unreadable(Exception):
    """One row that was asked for cannot be read."""


class DamageLog:
    """What was found damaged since the start, by the table and the key of the row; each is logged once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}

    def note(self, table: str, key: object, error: BaseException | str) -> None:
        """Remember a row that cannot be read, or worked with."""
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
        """Take an entry off the list: it could be read, or worked with, again."""
        self._found.pop((table, str(key)), None)

    def entries(self) -> list[tuple[str, str, str]]:
        """Return (table, key, reason) of each, in the order in which they were found."""
        return [(table, key, reason) for (table, key), reason in self._found.items()]


class Told(Protocol):
    """Where damage is noted: the database, or a transaction of it."""

    @property
    def damage(self) -> DamageLog: ...


class Readable(list[T]):
    """What of the rows of a list could be read; `asked` is how many rows there were."""

    asked: int


def load_readable(
    reader: Told, table: str, rows: Sequence[Row], load: Callable[[Row], T], key: str = "id"
) -> Readable[T]:
    """Load each row; those that cannot be read are left out and noted."""

    def load_text(row: Row) -> T:
        refuse_bytes(row, CIPHERTEXTS.get(table, ()))
        return load(row)

    return load_groups(reader, table, ((row[key], row) for row in rows), load_text)


def load_groups(
    reader: Told, table: str, groups: Iterable[tuple[object, Given]], load: Callable[[Given], T]
) -> Readable[T]:
    """The same of (key, what is loaded)."""
    found = Readable[T]()
    found.asked = 0
    for key, group in groups:
        found.asked += 1
        try:
            found.append(load(group))
        except UNREADABLE as error:
            reader.damage.note(table, key, error)
    return found


def has_more(found: Sequence[object], limit: int) -> bool:
    """Return whether a list that was asked for one more than `limit` goes on, damaged rows counted."""
    return (found.asked if isinstance(found, Readable) else len(found)) > limit


def refuse_bytes(row: Row, but: Collection[str] = ()) -> None:
    """Raise ValueError where text of a row is no UTF-8: it comes as bytes, as only the columns `but` may."""
    for name in row.keys():  # noqa: SIM118  (a Row is no mapping)
        if isinstance(row[name], bytes) and name not in but:
            raise ValueError(f"{name} is no UTF-8")
