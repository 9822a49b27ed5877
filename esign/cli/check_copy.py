"""Check the installation in a folder that nobody works on: pages, rows, files, audit trails and the application key.

It is what `esign check` and `esign verify-audit --chains` know, for backups before they count as made.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from esign.actions.verification import verify_trails
from esign.store.document import trails
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.inspection import find_damage
from esign.store.server import installation
from esign.store.server.read_everything import read_all
from esign.system.vault import UnusableKey, Vault, load_or_make_vault

MOST = 20  # findings of one kind that are named


def check_copy(folder: Path) -> list[str]:
    """Return what is wrong with the installation in a folder, whose database gets the schema of this version.

    Raise UnfitSchema, ForeignDatabase and sqlite3.Error if it cannot be opened. Takes a second for some hundred MiB.
    """
    pages = find_damage(folder / FILE)
    if pages:
        return [f"pages: {line}" for line in pages]
    try:
        vault = load_or_make_vault(folder / "app.key", folder / FILE)
        return asyncio.run(check_content(folder / FILE, vault))
    except UnusableKey as error:
        return [str(error).replace(f"{folder}/", "")]


async def check_content(path: Path, vault: Vault) -> list[str]:
    """Return what is wrong with the rows, files and audit trails of a database. Raise UnusableKey."""
    async with open_for_command(path) as db:
        await installation.confirm_key(db, vault)
        await read_all(db)
        found = [f"{table} {key}: {reason}" for table, key, reason in db.damage.entries()]
        broken = [
            f"audit trail of {chain.document_id}: {chain.broken}"
            async for chain in verify_trails.recompute(db, vault)
            if chain.broken
        ]
        lost = [f"audit trail of {id}: it is missing" for id in await trails.list_documents_without_trail(db)]
    return [line for kind in (found, broken, lost) for line in shorten(kind)]


def shorten(lines: list[str]) -> Iterator[str]:
    """Yield the first lines, and how many more there are."""
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"… and {len(lines) - MOST} more"
