"""The write-ahead log: every commit appends to it, and checkpoints bring it into the file of the database."""

import asyncio
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import aiosqlite

from esign.store.engine.failures import is_passing
from esign.store.engine.locks import WriteLock

CHECKPOINT_PAGES, CHECKPOINT_COMMITS = 1_000, 50
LARGE_LOG = 64 * 2**20  # bytes
TRUNCATE_SECONDS = 5.0  # between two attempts to truncate a large log


@dataclass(frozen=True, slots=True)
class LargeLog:
    """A write-ahead log that a reader keeps from being truncated: its size in bytes, and for how many seconds."""

    size: int
    seconds: float


class WriteAheadLog:
    """The log of the database at `path`, which the connection `writer` writes under `lock`."""

    def __init__(self, path: Path, writer: aiosqlite.Connection, lock: WriteLock) -> None:
        self._path = path.with_name(path.name + "-wal")
        self._writer = writer
        self._lock = lock
        self._commits = 0
        self._size_before = 0
        self._large_since: float | None = None
        self._truncate_at = 0.0

    def is_due(self) -> bool:
        """Return whether so much was written that a checkpoint does not wait for a pause between writes.

        Its file does not shrink: after a checkpoint it is written again from its beginning, and shows no more how
        much of it waits for the next one. So a log that has not grown is due after some commits.
        """
        self._commits += 1
        grown = self._size() - self._size_before
        return grown > CHECKPOINT_PAGES * 4096 or (
            self._commits >= CHECKPOINT_COMMITS and self._size_before + grown > CHECKPOINT_PAGES * 4096
        )

    def find_large(self) -> LargeLog | None:
        """Return the log if a long read has made it grow beyond its limit, else None."""
        if self._large_since is None:
            return None
        return LargeLog(self._size(), asyncio.get_running_loop().time() - self._large_since)

    def _size(self) -> int:
        """Return the size of the write-ahead log in bytes."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    async def tend(self) -> None:
        """Run a checkpoint of the log as far as no reader needs it, and truncate it when it is large.

        It waits for no reader. A reader that began before a commit, such as a backup, keeps the log from being
        truncated: it grows until that reader ends.
        """
        await self.checkpoint()
        self._commits, self._size_before = 0, self._size()
        now = asyncio.get_running_loop().time()
        if self._size() <= LARGE_LOG:
            self._large_since = None
        elif now >= self._truncate_at:
            self._truncate_at = now + TRUNCATE_SECONDS
            await self.checkpoint("TRUNCATE")
            if self._size() <= LARGE_LOG:
                self._large_since = None
            elif self._large_since is None:
                self._large_since = now

    async def checkpoint(self, mode: str = "PASSIVE") -> None:
        """Run a checkpoint of the log; if the disk is full, committed data stays safe in the log.

        Does nothing while another process writes, and waits for no reader: the writer has no busy timeout.
        """
        if not self._lock.try_hold():
            return
        try:
            await self._writer.execute_fetchall(f"PRAGMA wal_checkpoint({mode})")
        except sqlite3.Error as error:
            if not is_passing(error):
                raise
        finally:
            self._lock.release()
