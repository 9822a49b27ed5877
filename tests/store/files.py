"""What lies on the disk beside the database."""

import stat
from pathlib import Path

from esign.store.engine.connections import FILE


def stored_bytes(folder: Path) -> bytes:
    """Every byte of the database, its log included."""
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.name.startswith(FILE))


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
