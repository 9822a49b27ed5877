"""The version of SQLite that this program runs on, and whether it is one with a known defect."""

import sqlite3

# With the WAL-reset bug, two connections that write at once can lose commits. The branches with the fix, newest first.
WAL_RESET_FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))


def is_wal_reset_fixed(version: tuple[int, int, int]) -> bool:
    """Return whether this version of SQLite is free of the WAL-reset bug."""
    newest, *older = WAL_RESET_FIXED
    return version >= newest or any(version[:2] == fixed[:2] and version >= fixed for fixed in older)


def read_engine_version() -> tuple[int, int, int]:
    """Return the version of SQLite that this program runs on."""
    first, second, third = sqlite3.sqlite_version_info[:3]
    return first, second, third


def describe_engine() -> str:
    """Return the version of SQLite, with a remark if it has the WAL-reset bug."""
    if is_wal_reset_fixed(read_engine_version()):
        return sqlite3.sqlite_version
    return f"{sqlite3.sqlite_version} (with the WAL-reset bug; see docs/storage.md)"
