"""Read a backup back from its disk, and return what it holds."""

import io
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from esign.backup.archive import PIECE, DamagedBackup, FileHash
from esign.backup.container import NewerBackup, open_archive
from esign.backup.encryption import Identity, WrongKey
from esign.backup.extract import read_backup
from esign.backup.steady_file import SteadyReader


def list_files(path: Path, identity: Identity | None) -> list[FileHash]:
    """Read a backup from end to end, and return what it holds. Raise DamagedBackup, also if it cannot be read."""
    try:
        with io.BufferedReader(SteadyReader(path), PIECE) as source, open_archive(source) as archive:
            return read_backup(archive, identity, skip_file)
    except OSError as error:
        raise DamagedBackup(f"it cannot be read: {error.strerror or error}") from None
    except (WrongKey, NewerBackup) as error:
        raise DamagedBackup(str(error)) from None


def skip_file(name: str, pieces: Iterator[bytes]) -> None:
    """Use up the pieces of a file."""
    deque(pieces, 0)
