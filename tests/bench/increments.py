"""Increments of a large database beside a server that writes: `python -m tests.bench increments [COUNT]`.

The database is that of the bench of the doctor, and is used up: a copy of it would need as much room again.
"""

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench import doctor
from tests.bench.backup import PASSPHRASE, call, describe_waits, make_bodies, time_creations
from tests.bench.installation import BenchInstallation, make_installation, make_key, serve_program
from tests.bench.table import describe_machine

COUNT = 280_000  # documents: 20 GB
SETTINGS = """
[storage]
data_dir = "{folder}/data"
[backup]
to = "{folder}/backups"
full_every_hours = 168
passphrase = "{passphrase}"
"""
BETWEEN = 60.0  # seconds of writing between two increments


async def run(names: list[str]) -> None:
    """Print how long a whole backup takes, the increments after it, and a restore of the last of them."""
    data = await doctor.database(int(names[0]) if names else COUNT)
    print(describe_machine())
    async with make_installation() as (folder, _):
        await asyncio.to_thread(move_database, data, folder / "data")
        plan = plan_backups(folder)
        key = await asyncio.to_thread(make_key, folder)
        async with serve_program(folder, key) as at:
            print(f"{(folder / 'data' / 'esign.db').stat().st_size / 1e9:.1f} GB", flush=True)
            bodies = make_bodies()
            print(
                describe_waits("alone", await time_creations(at, bodies, asyncio.sleep(BETWEEN))), flush=True
            )
            for _ in range(3):
                await back_up(at, plan, bodies)
                await time_creations(at, bodies, asyncio.sleep(BETWEEN))
        began = time.perf_counter()
        newest = max((folder / "backups").glob("*.increment"))
        await call(plan, "restore", str(newest), "--data-dir", str(folder / "restored"))
        print(f"restored from {newest.name}: {time.perf_counter() - began:.0f} s")


def move_database(data: Path, place: Path) -> None:
    """Put the database into the place of an empty one."""
    (data / "ready").unlink()
    shutil.rmtree(place)
    shutil.move(data, place)


def plan_backups(folder: Path) -> Path:
    """Return a folder with a configuration that has backups: the server, which has another, then makes none itself."""
    plan = folder / "plan"
    plan.mkdir()
    (folder / "backups").mkdir(0o700)
    (plan / "esign.toml").write_text(SETTINGS.format(folder=folder, passphrase=PASSPHRASE))
    return plan


async def back_up(at: BenchInstallation, plan: Path, bodies: Iterator[dict[str, Any]]) -> None:
    """Make the next backup beside creations, and print what it took."""
    began = time.perf_counter()
    beside = await time_creations(at, bodies, call(plan, "backup"))
    seconds = time.perf_counter() - began
    newest = max((at.folder / "backups").iterdir(), key=lambda path: path.stat().st_mtime)
    print(
        f"{newest.name}: {newest.stat().st_size / 1e6:,.0f} MB in {seconds:.0f} s; {describe_waits('beside', beside)}",
        flush=True,
    )
