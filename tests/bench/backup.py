"""`esign backup` and `restore` of a large database beside a server that writes: `python -m tests.bench backup [COUNT]`.

The database is that of the bench of the doctor. Backup and restore include their checks of everything that is stored.
"""

import asyncio
import shutil
import statistics
import time
from collections.abc import Awaitable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from tests.bench import doctor
from tests.bench.creating import PATH
from tests.bench.dense import make_distinct_pdfs
from tests.bench.installation import BenchInstallation, command, document, install_program
from tests.bench.table import describe_machine

WARM, ALONE = 5.0, 20.0  # seconds of writing without a backup, of which the first are not counted
PAUSE = 0.02  # seconds between two writes
SPEED, RESTORE, ADDED = 100.0, 180.0, 50.0  # MB each second, seconds, ms
PASSPHRASE = "correct horse battery staple"
KINDS = {"plain": ["--plain"], "encrypted": []}


async def run(names: list[str]) -> None:
    """Print how fast both are, and what the backup costs those who write."""
    data = await doctor.database(int(names[0]) if names else doctor.COUNT)
    print(describe_machine())
    async with install_program(f'[backup]\npassphrase = "{PASSPHRASE}"\n', data=data) as at:
        size = (at.folder / "data" / "esign.db").stat().st_size / 1e6
        print(f"{size / 1000:.1f} GB")
        bodies = make_bodies()
        await time_creations(at, bodies, asyncio.sleep(WARM))
        alone = await time_creations(at, bodies, asyncio.sleep(ALONE))
        print(describe_waits("alone", alone), flush=True)
        for name, more in KINDS.items():
            began = time.perf_counter()
            backup = call(at.folder, "backup", f"{at.folder}/{name}.backup", *more)
            beside = await time_creations(at, bodies, backup)
            seconds = time.perf_counter() - began
            print(
                f"{name}: {seconds:.0f} s, {size / seconds:.0f} MB/s{judge(size / seconds >= SPEED)};"
                f" {describe_waits('beside', beside)}{judge(find_p99(beside) - find_p99(alone) <= ADDED)}",
                flush=True,
            )
        for name, more in KINDS.items():
            began, target = time.perf_counter(), at.folder / name
            await call(at.folder, "restore", f"{at.folder}/{name}.backup", "--data-dir", str(target), *more)
            seconds = time.perf_counter() - began
            print(f"restored from {name}: {seconds:.0f} s{judge(seconds <= RESTORE)}", flush=True)
            await asyncio.to_thread(shutil.rmtree, target)


async def call(folder: Path, *arguments: str) -> None:
    """Run a command of the installation."""
    await asyncio.to_thread(command, folder, *arguments)


def make_bodies() -> Iterator[dict[str, Any]]:
    """Yield bodies of creations, each with another file."""
    for number in count():
        [pdf] = make_distinct_pdfs(2, 1, number)
        yield document(pdf, recipients=2)


async def time_creations(
    at: BenchInstallation, bodies: Iterator[dict[str, Any]], work: Awaitable[None]
) -> list[float]:
    """Create one document after the other while the work goes on; return how many ms each took."""
    times: list[float] = []

    async def create() -> None:
        for body in bodies:
            began = time.perf_counter()
            await at.call("POST", PATH, body)
            times.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(PAUSE)

    creating = asyncio.create_task(create())
    await work
    creating.cancel()
    with suppress(asyncio.CancelledError):
        await creating
    return times


def find_p99(times: list[float]) -> float:
    """Return what 99 of 100 do not exceed."""
    return sorted(times)[int(len(times) * 0.99)]


def describe_waits(when: str, times: list[float]) -> str:
    """Return the middle and the slowest hundredth in words."""
    return (
        f"{len(times)} creations {when}: p50 {statistics.median(times):.0f} ms, p99 {find_p99(times):.0f} ms"
    )


def judge(held: bool) -> str:
    """Return what is added to a figure that misses its target."""
    return "" if held else " MISSED"
