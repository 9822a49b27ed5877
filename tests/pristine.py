"""A database of the newest schema as the program makes it, with a key: made once in a run, laid where a test begins."""

import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from esign.store.engine.connections import FILE, prepare
from esign.system.vault import write_once

# MiB kept for signing on a disk: the reserve of a data folder is a quarter of it, and a run makes 2,000 folders.
SPARE = 4


def lay_database(path: Path) -> None:
    """Where none lies yet. Saves a test the two dozen migrations, each of which waits for the disk."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    if not path.exists():
        write_once(path.with_name("app.key"), bytes(range(32)))
        path.touch(0o600)
        path.write_bytes(_pristine())


@cache
def _pristine() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        prepare(path)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.read_bytes()
