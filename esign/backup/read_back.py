"""Read a backup back: one that is large in a process of its own, `python -I -m esign.backup.read_back`.

Decryption calls Python for every 8 KiB. In a thread it would wait for the check of the copy, which runs meanwhile, each
time. The process reads what to do on its input, answers on its output, and dies with the thread that started it.
"""

import io
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import pyrage

from esign.backup.archive import PIECE, DamagedBackup, FileHash
from esign.backup.container import NewerBackup, open_archive
from esign.backup.encryption import Identity, WrongKey
from esign.backup.extract import read_backup
from esign.backup.steady_file import SteadyReader
from esign.system import confinement, frozen
from esign.system.idle_priority import become_idle

COMMAND = frozen.name_child_command(frozen.Child.READ_BACK)
ENVIRONMENT = frozen.make_child_environment(os.environ)
LARGE = 256 * 2**20  # bytes; a process of its own takes a third of a second to start


@contextmanager
def read_beside(
    path: Path, identity: Identity | None, large: int = LARGE, command: Sequence[str] = COMMAND
) -> Iterator[Callable[[], list[FileHash]]]:
    """Read the backup at `path` while the block runs; give what waits until that ends, and returns what it holds.

    It raises DamagedBackup. A backup of up to `large` bytes is read when it is called, as is one whose
    process ends before it has answered.
    """
    process = start_reading(path, identity, command) if is_larger(path, large) else None
    if process is None:
        yield lambda: read_here(path, identity)
        return

    def wait() -> list[FileHash]:
        answer = process.stdout.read() if process.stdout else b""
        found = parse_answer(answer) if process.wait() == 0 else None
        return read_here(path, identity) if found is None else found

    try:
        yield wait
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def is_larger(path: Path, size: int) -> bool:
    """Return whether a file has more bytes than `size`; False also if it is gone."""
    try:
        return path.stat().st_size > size
    except OSError:
        return False


def start_reading(
    path: Path, identity: Identity | None, command: Sequence[str]
) -> subprocess.Popen[bytes] | None:
    """Start the process; return None where that cannot be."""
    name = os.fsencode(path.absolute()).hex()  # the process has another encoding of names than some
    order = {
        "parent": os.getpid(),
        "path": name,
        "identity": None if identity is None else str(identity),
    }
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            process_group=0,  # Ctrl-C ends the command, and that ends this process
        )
    except OSError:
        return None
    with suppress(OSError), process.stdin:  # type: ignore[union-attr]
        process.stdin.write(json.dumps(order).encode())  # type: ignore[union-attr]
    return process


def parse_answer(answer: bytes) -> list[FileHash] | None:
    """Return what the process found, or None if that is no answer. Raise DamagedBackup if that is what it found."""
    try:
        found = json.loads(answer)
        damaged, files = found["damaged"], [FileHash(**each) for each in found["files"]]
    except (ValueError, TypeError, KeyError):
        return None
    if damaged is not None:
        raise DamagedBackup(str(damaged))
    return files


def read_here(path: Path, identity: Identity | None) -> list[FileHash]:
    """Return what `list_files` returns. Raise DamagedBackup, also if it cannot be read."""
    try:
        return list_files(path, identity)
    except OSError as error:
        raise DamagedBackup(f"it cannot be read: {error.strerror or error}") from None


def list_files(path: Path, identity: Identity | None) -> list[FileHash]:
    """Read a backup from end to end, and return what it holds. Raise DamagedBackup and OSError."""
    try:
        with io.BufferedReader(SteadyReader(path), PIECE) as source, open_archive(source) as archive:
            return read_backup(archive, identity, skip_file)
    except (WrongKey, NewerBackup) as error:
        raise DamagedBackup(str(error)) from None


def skip_file(name: str, pieces: Iterator[bytes]) -> None:
    """Use up the pieces of a file."""
    deque(pieces, 0)


def run_read_back() -> None:
    """Read the backup that the input names, and write what it holds to the output.

    What keeps this process alone from reading it is no answer: the one that waits for it reads it then.
    """
    confinement.hide_memory()
    order = json.load(sys.stdin.buffer)
    confinement.end_with_parent(order["parent"])
    become_idle()  # the server comes first
    identity = order["identity"] and pyrage.x25519.Identity.from_str(order["identity"])
    files: list[FileHash] = []
    damaged: str | None = None
    try:
        files = list_files(Path(os.fsdecode(bytes.fromhex(order["path"]))), identity)
    except DamagedBackup as error:
        damaged = str(error)
    json.dump({"files": [asdict(each) for each in files], "damaged": damaged}, sys.stdout)


if __name__ == "__main__":
    run_read_back()
