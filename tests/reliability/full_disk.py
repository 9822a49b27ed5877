"""T14: the disk of a server fills up under load and is freed again. Needs root, for a small file system in memory."""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.reliability import arguments
from tests.reliability.crowd import Crowd
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, find_losses
from tests.reliability.served import Served, add_webhook, install

TARGET = "503, never 500; 0 lost; normal ≤ 30 s after freeing, without a restart; all sealed"
SIZE_MIB = 512
FULL_SECONDS = 4.0
RECOVERY_SECONDS = 30.0


async def run(given: Sequence[str]) -> Figure:
    """Fill the disk 20 times."""
    asked = arguments.read(given, rounds=20, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as name:
        folder = Path(name)
        (folder / "data").mkdir(mode=0o700)
        with mount_small(folder / "data"):
            async with install(folder) as served:
                crowd, waits, bad = await fill_again_and_again(served, asked["rounds"], asked["seed"])
    for line in bad[:20]:
        print(line)
    measured = (
        f"{asked['rounds']} times full, {crowd.ledger.refused} answers of 503, {len(crowd.ledger.entries)} operations"
        f" acknowledged, {len(bad)} findings; the next write was acknowledged at most {max(waits):.1f} s after freeing"
    )
    held = not bad and crowd.ledger.refused > 0 and max(waits) <= RECOVERY_SECONDS
    return Figure("T14", TARGET, measured, held, len(bad), arguments.write("full_disk", asked))


async def fill_again_and_again(
    served: Served, rounds: int, seed: int
) -> tuple[Crowd, list[float], list[str]]:
    """Return the crowd, the seconds until a write was acknowledged after each freeing, and what is wrong."""
    waits: list[float] = []
    await served.start()
    await add_webhook(served)
    crowd = Crowd(served, seed, 4)
    working = asyncio.create_task(crowd.work())
    ballast = served.database.parent / "ballast"
    try:
        for _ in range(rounds):
            await asyncio.wait([working], timeout=2)
            fill = asyncio.create_task(asyncio.to_thread(fill_up, ballast))
            await asyncio.wait([working], timeout=FULL_SECONDS)
            await fill
            before, began = count_writes(crowd), time.perf_counter()
            ballast.unlink()
            while count_writes(crowd) == before and not working.done():
                await asyncio.sleep(0.05)
                assert time.perf_counter() - began < 4 * RECOVERY_SECONDS, served.log[-2000:]
            waits.append(time.perf_counter() - began)
        crowd.ended.set()
        await working
    finally:
        working.cancel()
    bad = [*crowd.ledger.strange]
    if (code := await served.stop()) != 0:
        bad.append(f"the server ended with {code}")
    bad += [*find_losses(served.database, crowd.ledger.entries), *find_faults(served.database)]
    if "Traceback" in served.log:
        bad.append("the log holds a traceback")
    await served.run_command("check")
    return crowd, waits, bad


def count_writes(crowd: Crowd) -> int:
    """Return how many requests that write were acknowledged: that a file is sealed is read by a GET."""
    return sum(1 for entry in crowd.ledger.entries if entry.act != "sealed")


def fill_up(path: Path) -> None:
    """Write a file until nothing more fits, not even a byte."""
    with path.open("wb", buffering=0) as file:
        for size in (2**20, 4096):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                pass


@contextmanager
def mount_small(folder: Path) -> Iterator[None]:
    """A file system of its own in a folder, until the block ends. Raises PermissionError unless root asks."""
    if os.geteuid() != 0:
        raise PermissionError("this figure mounts a small file system: run it as root")
    options = f"size={SIZE_MIB}m,mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
