"""Check the installation in a folder that nobody works on, as `esign doctor --data` does.

Backups are checked so before they count as made, and before they are restored.
"""

import asyncio
import errno
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from esign.actions.server.data_checks import HARMLESS, describe_faults, inspect_data
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.failures import DatabaseError
from esign.store.engine.snapshot import raise_storage_failure
from esign.store.server import installation
from esign.system.app_key import KeySource, open_vault
from esign.system.clock import SystemClock
from esign.system.vault import UnusableKey, Vault

MOST = 20  # findings that are named


def find_key_of_copy(folder: Path, source: KeySource) -> KeySource:
    """Return where the key of a copied installation is: in the copy, else where the settings say."""
    inside = KeySource(folder / FILE, None, source.read_passphrase(), {}, source.may_ask)
    return inside if inside.path.exists() else replace(source, database=folder / FILE)


def check_copy(folder: Path, source: KeySource) -> list[str]:
    """Return what is damaged in the installation in a folder, whose database gets the schema of this version.

    What the program itself puts right is no damage: a job that was being worked on, a counter, a search index.

    Raise UnfitSchema and ForeignDatabase if it cannot be opened, and OSError where the disk refuses what is written:
    that says nothing of the copy. Takes a second for some hundred MiB.
    """
    try:
        vault = open_vault(find_key_of_copy(folder, source))
    except UnusableKey as error:
        return [describe_key(error, folder)]
    return confirm_copy(folder, vault) or list_damage(folder, vault)


def describe_key(error: UnusableKey, folder: Path) -> str:
    """Return why a key cannot be used, without the folder of the copy."""
    return str(error).replace(f"{folder}/", "")


def confirm_copy(folder: Path, vault: Vault) -> list[str]:
    """Bring the database to the schema of this version, and return why it cannot be opened with this key.

    Raise as `check_copy` does.
    """
    try:
        asyncio.run(confirm_key(folder / FILE, vault))
    except UnusableKey as error:
        return [describe_key(error, folder)]
    except DatabaseError as error:
        raise_storage_failure(error, folder / FILE)
        return [f"pages: {error}"]
    return []


def list_damage(folder: Path, vault: Vault | None) -> list[str]:
    """Return what is damaged in a copy, of what the program does not put right by itself."""
    found = inspect_data(folder, vault, SystemClock().now())
    if found.unread is not None:
        raise OSError(errno.EIO, found.unread, str(folder / FILE))
    lost = [fault for fault in found.faults if fault.repair is None and fault.check not in HARMLESS]
    return list(shorten(describe_faults(replace(found, faults=lost))))


async def confirm_key(path: Path, vault: Vault) -> None:
    """Raise UnusableKey if the database belongs to another key."""
    async with open_for_command(path) as db:
        await installation.confirm_key(db, vault)


def shorten(lines: list[str]) -> Iterator[str]:
    """Yield the first lines, and how many more there are."""
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"… and {len(lines) - MOST} more"
