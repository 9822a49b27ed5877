"""The two locks of a data folder: one server at a time, and one writer or checkpoint at a time."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

# The first version of each series of SQLite without the WAL-reset bug.
MENDED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))


class AlreadyServed(Exception):
    """Another server works on the same data."""


@contextmanager
def server_lock(folder: Path) -> Iterator[None]:
    """Held while a server works on `folder`; raises AlreadyServed when another one does."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise AlreadyServed(f"another esign server works on {folder}") from None
    try:
        yield
    finally:
        os.close(handle)


def open_advisory(database: Path) -> int:
    """The handle for `held`, beside the database; closing it lets go."""
    return os.open(database.with_name("write.lock"), os.O_RDWR | os.O_CREAT, 0o600)


@asynccontextmanager
async def held(handle: int) -> AsyncIterator[None]:
    """Keeps a command-line write from overlapping a write or checkpoint of the server.

    With the WAL-reset bug SQLite can lose commits when two connections write or checkpoint at once.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        await asyncio.to_thread(fcntl.flock, handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite needs `held` for more than good manners."""
    mended_in_series = any(version[:2] == mended[:2] and version >= mended for mended in MENDED)
    return version < MENDED[-1] and not mended_in_series
