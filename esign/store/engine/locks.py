"""The two locks of a data folder: one server at a time, and one writer or checkpoint at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep

POLL_SECONDS = 0.01


class AlreadyServed(Exception):
    """Another server works on the same data."""


class Locked(Exception):
    """Another process holds the lock for longer than the program waits."""


@contextmanager
def server_lock(folder: Path) -> Iterator[None]:
    """Hold the server's lock on `folder`. Raises AlreadyServed if another server holds it.

    The lock is on the folder itself, because a file in it can be deleted and created again, which would let a
    second server in. The file `lock` is locked as well, because earlier versions check only that.
    """
    with ExitStack() as stack:
        for path, flags in (
            (folder, os.O_RDONLY | os.O_DIRECTORY),
            (folder / "lock", os.O_RDWR | os.O_CREAT),
        ):
            handle = os.open(path, flags, 0o600)
            stack.callback(os.close, handle)
            if not try_lock(handle):
                raise AlreadyServed(f"another esign server works on {folder}")
        yield


def try_lock(handle: int) -> bool:
    """Lock the file; return whether this process holds the lock now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_served(folder: Path) -> bool:
    """Return whether a server works on the folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


class KeyLock:
    """Keeps the exchange of the application key from beginning while a command works with the present key.

    Commands share the lock; the exchange begins with it alone. A server is told of the next key instead.
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder / "key.lock", os.O_RDWR | os.O_CREAT, 0o600)

    def share(self) -> None:
        """Wait for the lock, together with others."""
        fcntl.flock(self._handle, fcntl.LOCK_SH)

    def try_hold(self) -> bool:
        """Take the lock alone; return whether this process holds it now."""
        return try_lock(self._handle)

    def close(self) -> None:
        """Give up the lock."""
        os.close(self._handle)


class WriteLock:
    """Keeps a write of the command line from overlapping a write or checkpoint of the server.

    With the WAL-reset bug (fixed in 3.44.6, 3.50.7 and 3.51.3), SQLite can lose commits when two connections write or
    checkpoint at once.
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name("write.lock")
        self._handle = self._open()

    def _open(self) -> int:
        """Open the lock file, created if missing."""
        return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)

    def try_hold(self) -> bool:
        """Take the lock; return whether this process holds it now. `release` gives it up."""
        while try_lock(self._handle):
            if self._is_in_place():
                return True
            there = self._open()  # deleted meanwhile: other processes lock the file that is there now
            os.close(self._handle)
            self._handle = there
        return False

    def _is_in_place(self) -> bool:
        """Return whether the open file is still the one at the path."""
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False
        ours = os.fstat(self._handle)
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def release(self) -> None:
        """Give up the lock; it can be taken again."""
        fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give up the lock and close its file."""
        os.close(self._handle)


def hold_at_start(lock: WriteLock, seconds: float) -> None:
    """Wait for the lock before there is an event loop. Raises Locked after `seconds`."""
    for _ in range(int(seconds / POLL_SECONDS)):
        if lock.try_hold():
            return
        sleep(POLL_SECONDS)
    raise Locked(
        "another program keeps the database from being written: it holds write.lock in the data folder"
    )
