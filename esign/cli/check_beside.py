"""Checks a copy of the database while a backup is made of it.

The check runs Python code for half a minute per 100,000 documents. In a thread, it would wait for the encryption, which
calls Python for every 8 KiB, and that for it. So a large copy is checked in a process of its own,
`python -I -m esign.cli.check_beside`. It reads what to do on its input, answers on its output, and dies with the thread
that started it.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from esign.actions.server.data_checks import LARGE
from esign.cli.check_copy import confirm_copy, describe_key, find_key_of_copy, list_damage
from esign.store.engine.connections import FILE
from esign.store.engine.snapshot_reader import SnapshotQueries, SnapshotReader
from esign.store.server import installation
from esign.system import confinement, frozen
from esign.system.app_key import KeySource, read_or_make_key
from esign.system.idle_priority import become_idle
from esign.system.vault import UnusableKey, Vault

COMMAND = frozen.name_child_command(frozen.Child.COPY_CHECK)
ENVIRONMENT = frozen.make_child_environment(os.environ)


@contextmanager
def check_beside(
    folder: Path, source: KeySource | None, large: int = LARGE, command: Sequence[str] = COMMAND
) -> Iterator[Callable[[], list[str]]]:
    """Check the installation in a folder while the block runs; give what waits for that, and returns what it found.

    The files stay as they are until it is called, and it returns and raises what `check_copy` does. Without `source`,
    what needs the application key is not checked. A database of up to `large` bytes is checked when it is
    called, as is one whose process ends before it has answered.
    """
    key, refused = None, list[str]()
    try:
        key = None if source is None else read_or_make_key(find_key_of_copy(folder, source))
    except UnusableKey as error:
        refused = [describe_key(error, folder)]
    vault = None if key is None else Vault(key)
    is_large = not refused and (folder / FILE).stat().st_size > large
    process = start_check(folder, key, command) if is_large else None

    def wait() -> list[str]:
        found = None if process is None else read_answer(process)
        said = confirm_copy(folder, vault) if vault is not None else refused
        return said or (list_damage(folder, vault) if found is None else found)

    try:
        yield wait
    finally:
        if process is not None:
            process.kill()
            process.wait()
            process.stdout.close()  # type: ignore[union-attr]


@contextmanager
def check_first(
    folder: Path, source: KeySource | None, large: int = LARGE, command: Sequence[str] = COMMAND
) -> Iterator[Callable[[], list[str]]]:
    """Do what `check_beside` does, and give way to the check: no other part of a backup takes as long.

    For a process that takes no lock of the server afterwards: a priority that was given away does not come back.
    """
    with check_beside(folder, source, large, command) as wait:
        become_idle()
        yield wait


def start_check(folder: Path, key: bytes | None, command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start the process; return None where that cannot be."""
    order = {
        "parent": os.getpid(),
        "folder": os.fsencode(folder.absolute()).hex(),  # the process has another encoding of names than some
        "key": None if key is None else key.hex(),
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


def read_answer(process: subprocess.Popen[bytes]) -> list[str] | None:
    """Wait for the process, and return what it found; None if it ended without an answer."""
    answer = process.stdout.read()  # type: ignore[union-attr]
    try:
        found = json.loads(answer) if process.wait() == 0 else None
    except ValueError:
        return None
    is_answer = isinstance(found, list) and all(isinstance(line, str) for line in found)
    return found if is_answer else None


def run_copy_check() -> None:
    """Check the copy that the input names, and write what was found to the output.

    What keeps this process from checking it is no answer: the one that waits for it checks it then.
    """
    confinement.hide_memory()
    order = json.load(sys.stdin.buffer)
    confinement.end_with_parent(order["parent"])
    folder = Path(os.fsdecode(bytes.fromhex(order["folder"])))
    vault = None if order["key"] is None else join_exchange(folder, Vault(bytes.fromhex(order["key"])))
    json.dump(list_damage(folder, vault), sys.stdout)


def join_exchange(folder: Path, vault: Vault) -> Vault:
    """Return the vault, with the other key too if the database was copied while its key was exchanged.

    Nothing is written. Raise UnusableKey if the database has another key.
    """
    with closing(SnapshotReader(folder / FILE)) as reader:
        return asyncio.run(installation.join_exchange(SnapshotQueries(reader), vault))


if __name__ == "__main__":
    run_copy_check()
