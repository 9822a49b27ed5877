"""What an installation takes: memory idle and after load, and disk for the packages."""

import asyncio
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.bench.creating import FileSource
from tests.bench.finishing import install_mailing_program, prepare_acts, send_acts
from tests.bench.installation import children, install_program, read_memory, read_processor_time
from tests.bench.table import Figure

ROOT = Path(__file__).parents[2]
CREATED, SEALED = 200, 24
REST = 15.0  # seconds after a burst, longer than `Workers` keeps a worker beside an idle one


async def measure_idle_memory(most: float) -> Figure:
    """The server and the process with the seal key once they have nothing to do after the start, in MB (PSS)."""
    async with install_program() as at:
        while not children(at.pid):  # noqa: ASYNC110  what is waited for sets no event
            await asyncio.sleep(0.1)
        await until_idle(at.pid)
        sizes = read_memories(at.pid)
    return Figure(
        f"{sum(sizes):.0f} MB", sum(sizes) <= most, f"The server and the signer: {describe_sum(sizes)}."
    )


async def measure_loaded_memory(most: float) -> Figure:
    """The server and its workers, in MB (PSS), after many documents were created, opened, signed and sealed.

    They are read once the burst is over: when workers that nobody needs any more have ended. The note says what they
    took at the moment of the last seal.
    """
    async with install_mailing_program() as at:
        await FileSource(at, 2).send(CREATED)
        await send_acts(at, await prepare_acts(at, SEALED))
        busy = read_memories(at.pid)
        await asyncio.sleep(REST)
        left = read_memories(at.pid)
    note = f"The server and its workers: {describe_sum(left)}; at the moment of the last seal {describe_sum(busy)}."
    return Figure(f"{sum(left):.0f} MB", sum(left) <= most, note)


def read_memories(pid: int) -> list[float]:
    """Return the MB (PSS) of a server and of each of its workers."""
    return [read_memory(each) for each in (pid, *children(pid))]


def describe_sum(sizes: list[float]) -> str:
    return f"{' + '.join(f'{size:.0f}' for size in sizes)} = {sum(sizes):.0f} MB"


async def until_idle(pid: int) -> None:
    """Return when a process has taken no time of a processor for half a second."""
    before = -1.0
    while before != (now := read_processor_time(pid)):
        before = now
        await asyncio.sleep(0.5)


async def measure_packages(most: float) -> Figure:
    """The folder of packages after `pip install` of the locked versions and the project, without those of tests."""
    with tempfile.TemporaryDirectory(prefix="esign-bench-") as name:
        folder = Path(name)
        sizes = measure_disk(await asyncio.to_thread(install_packages, folder))
    taken = sum(sizes.values())
    largest = sorted(sizes.items(), key=lambda one: -one[1])[:8]
    note = f"The largest: {', '.join(f'{one} {size:.0f} MB' for one, size in largest)}."
    return Figure(f"{taken:.0f} MB", taken <= most, note)


def install_packages(folder: Path) -> Path:
    """Install what runs the program, without the packages of tests; return the folder of packages."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--ignore-installed",
    ]
    locked = ["--require-hashes", "--requirement", str(ROOT / "packaging" / "requirements.txt")]
    for arguments in (locked, ["--no-deps", str(ROOT)]):
        subprocess.run([*pip, "--prefix", str(folder), *arguments], check=True)
    return next(folder.glob("lib/python*/site-packages"))


def measure_disk(folder: Path) -> dict[str, float]:
    """Return the MB that each entry of a folder takes on the disk, with all that is in it."""
    sizes: defaultdict[str, float] = defaultdict(float)
    for file in folder.rglob("*"):
        sizes[file.relative_to(folder).parts[0]] += 512 * file.lstat().st_blocks / 1e6
    return sizes
