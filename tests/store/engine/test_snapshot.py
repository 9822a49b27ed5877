"""The state of a database while others write to it: whatever they do, a copy opens with exactly what was committed."""

import errno
import os
import resource
import sqlite3
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest

from esign.store.engine.locks import WriteLock
from esign.store.engine.snapshot import hold_snapshot, settle_copy

PAIRS = "CREATE TABLE pair (id INTEGER PRIMARY KEY, one INTEGER, two INTEGER, filling BLOB)"


def draw(seed: str) -> Iterator[int]:
    """Numbers below 2**23 that are the same in each run."""
    number = crc32(seed.encode())
    while True:
        number = (number * 1103515245 + 12345) % 2**31
        yield number >> 8


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=10)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database whose pairs are equal in each row and in each transaction."""
    with closing(connect(tmp_path / "esign.db")) as connection:
        connection.execute(PAIRS)
        connection.executemany(
            "INSERT INTO pair (one, two, filling) VALUES (0, 0, ?)", [(os.urandom(3000),) for _ in range(300)]
        )
    return tmp_path / "esign.db"


def copy_state(
    path: Path, target: Path, step: int = 4096, between: Callable[[], None] = lambda: None
) -> None:
    """Copy file and log in small steps, doing something between each two."""
    with hold_snapshot(path) as snapshot, target.open("wb") as file:
        with target.with_name(f"{target.name}-wal").open("wb") as log:
            snapshot.write_log(log)
        for offset in range(0, snapshot.size, step):
            file.write(snapshot.read(offset, step))
            between()


def read_state(path: Path) -> tuple[int, int]:
    """The number of rows and the value of all pairs; fails where they are not of one transaction."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        [row] = connection.execute("SELECT count(*), min(one), max(one), min(two), max(two) FROM pair")
        assert len({*row[1:]}) == 1, row
        return row[0], row[1]


def change(connection: sqlite3.Connection, value: int, *, grow: int = 0, shrink: int = 0) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE pair SET one = ?, two = ?", (value, value))
    for _ in range(grow):
        connection.execute(
            "INSERT INTO pair (one, two, filling) VALUES (?, ?, ?)", (value, value, os.urandom(9000))
        )
    connection.execute(
        "DELETE FROM pair WHERE id IN (SELECT id FROM pair ORDER BY id DESC LIMIT ?)", (shrink,)
    )
    connection.execute("COMMIT")


@pytest.mark.parametrize("mode", ["PASSIVE", "RESTART", "TRUNCATE"])
@pytest.mark.parametrize("before", ["nothing in the log", "all in the log", "half in the log"])
def test_a_copy_is_the_state_of_its_beginning_whatever_is_written_meanwhile(
    path: Path, tmp_path: Path, mode: str, before: str
) -> None:
    target = tmp_path / "copy.db"
    with closing(connect(path)) as writer:
        change(writer, 1, grow=40)
        if before != "all in the log":
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if before == "half in the log":
            change(writer, 2, shrink=20)
        writer.execute("PRAGMA busy_timeout = 0")
        expected, value, drawn = read_state(path), 10, draw(before + mode)

        def write() -> None:
            nonlocal value
            if next(drawn) % 10 < 3:
                value += 1
                change(writer, value, grow=next(drawn) % 9, shrink=next(drawn) % 9)
                writer.execute(f"PRAGMA wal_checkpoint({mode})")

        copy_state(path, target, between=write)
        assert value > 40
        assert read_state(target) == expected
        assert read_state(path)[1] == value


def test_a_copy_under_load_is_always_one_transaction(path: Path, tmp_path: Path) -> None:
    done = threading.Event()

    def write() -> None:
        drawn = draw("load")
        with closing(connect(path)) as writer:
            value = 0
            while not done.is_set():
                value += 1
                change(writer, value, grow=next(drawn) % 5, shrink=next(drawn) % 5)
                if next(drawn) % 2:
                    writer.execute(f"PRAGMA wal_checkpoint({'PASSIVE' if next(drawn) % 2 else 'TRUNCATE'})")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        seen = []
        for number in range(30):
            target = tmp_path / f"{number}.db"
            copy_state(path, target, step=65536)
            seen.append(read_state(target)[1])
            target.unlink()
    finally:
        done.set()
        thread.join()
    assert seen == sorted(seen) and len(set(seen)) > 5


def test_a_database_that_nobody_has_open_is_copied_and_stays_as_it_is(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    copy_state(path, tmp_path / "copy.db")
    assert read_state(tmp_path / "copy.db") == (300, 0)
    assert path.read_bytes() == before
    assert not path.with_name("esign.db-wal").exists()


def test_a_copy_takes_little_memory_however_long_the_log_is(path: Path, tmp_path: Path) -> None:
    with closing(connect(path)) as writer:
        writer.executemany(
            "INSERT INTO pair (one, two, filling) VALUES (0, 0, ?)", [(bytes(10**6),) for _ in range(30)]
        )
        tracemalloc.start()
        try:
            copy_state(path, tmp_path / "copy.db", step=2**20)
            assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
        finally:
            tracemalloc.stop()
        assert (tmp_path / "copy.db-wal").stat().st_size > 3 * 10**7
    assert read_state(tmp_path / "copy.db") == (330, 0)


def test_a_copy_is_kept_though_another_program_holds_the_lock(path: Path, tmp_path: Path) -> None:
    other = WriteLock(path)
    with (
        closing(other),
        closing(connect(path)),
        (tmp_path / "copy.db").open("wb") as file,
        hold_snapshot(path, patience=0.1) as snapshot,
    ):
        snapshot.write_file(file)
        assert other.try_hold()
    assert read_state(tmp_path / "copy.db") == (300, 0)


def test_a_full_disk_is_not_told_as_a_damaged_copy(path: Path, tmp_path: Path) -> None:
    """The limit stands for the full disk: what the log holds has no room in the file."""
    target = tmp_path / "copy.db"
    with closing(connect(path)) as writer:
        change(writer, 1, grow=200)
        copy_state(path, target)
    os.truncate(target, 4096)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"full|I/O") as refused:
            settle_copy(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert refused.value.errno == errno.ENOSPC
